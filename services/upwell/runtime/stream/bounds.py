"""What a sound event is, beyond its shape: held where events come in, and again where they leave the log."""

from collections.abc import Iterator

from upwell.records import MAX_VERSION, SCHEMA_VERSION, BlobRef, ChangeEvent, Membership

NAME_BYTES = 255
DOC_ID_BYTES = 2048
"""Tenant, source and doc_id together fit an entry of PostgreSQL's indexes, which may have 2704 bytes."""


def flaw(event: ChangeEvent) -> str | None:
    """What is wrong with the event, naming the field and quoting nothing of it; None if it is sound.

    Numbers must fit the registry's columns, texts must be storable in any database (valid Unicode, no NUL), and a blob
    must be the document's own: a reference to another document's would read what its sender may not.
    """
    for name, number in _numbers(event):
        if not -1 <= number <= MAX_VERSION:
            return f"{name} is out of range"
    for name, text in _texts(event):
        if "\0" in text or not _is_unicode(text):
            return f"{name} holds characters that no database takes"
    for name in ("event_id", "tenant", "source"):
        if not 0 < len(getattr(event, name).encode()) <= NAME_BYTES:
            return f"{name} is empty or longer than {NAME_BYTES} bytes"
    for name in ("doc_id", "previous_doc_id"):
        text = getattr(event, name)
        if text is not None and not 0 < len(text.encode()) <= DOC_ID_BYTES:
            return f"{name} is empty or longer than {DOC_ID_BYTES} bytes"
    if isinstance(event.content, BlobRef) and not event.content.belongs_to(event.key):
        return "content is a blob that is not the document's"
    return None


def membership_flaw(member: Membership) -> str | None:
    """The same of a membership; what may be in what is the directory's to say."""
    if not -1 <= member.version <= MAX_VERSION or not -1 <= member.received_at <= MAX_VERSION:
        return "a number is out of range"
    if any("\0" in text or not _is_unicode(text) for text in (member.tenant, member.principal, *member.member_of)):
        return "a name holds characters that no database takes"
    for name in ("tenant", "principal"):
        if not 0 < len(getattr(member, name).encode()) <= NAME_BYTES:
            return f"{name} is empty or longer than {NAME_BYTES} bytes"
    if any(not 0 < len(group.encode()) <= NAME_BYTES for group in member.member_of):
        return f"member_of holds a name that is empty or longer than {NAME_BYTES} bytes"
    return None


def known(event: ChangeEvent | Membership) -> bool:
    """True if this code can read what the event's own `schema` says it is."""
    return event.schema == SCHEMA_VERSION


def _numbers(event: ChangeEvent) -> Iterator[tuple[str, int]]:
    yield "version", event.version
    yield "acl_version", event.acl_version
    yield "received_at", event.received_at
    if event.modified_at is not None:
        yield "modified_at", event.modified_at


def _texts(event: ChangeEvent) -> Iterator[tuple[str, str]]:
    for name in ("event_id", "tenant", "source", "doc_id", "previous_doc_id", "media_type", "title", "url"):
        text = getattr(event, name)
        if text is not None:
            yield name, text
    if event.traceparent is not None:
        yield "traceparent", event.traceparent
    if event.acl_missing is not None:
        yield "acl_missing", event.acl_missing
    for name, value in event.metadata.items():
        yield "metadata", name
        yield "metadata", value
    if event.acl is not None:
        for level in (*event.acl.levels, event.acl.deny):
            for principal in level:
                yield "acl", principal


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
