"""Documents as resources: `upwell://{source}/{doc_id}`, both percent-encoded, read a part at a time."""

from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec
from mcp.types import Resource, ResourceTemplate, TextResourceContents

from upwell.errors import NotFound
from upwell.reading import ChangedDocument, FetchAnswer, Head
from upwell.search.questions import FetchQuestion

SCHEME = "upwell://"
LONGEST_URI = 16_384
RESOURCE_TOKENS = 8000
FIRST = "1970-01-01T00:00:00Z"
"""Since when everything has changed."""

TEMPLATE = ResourceTemplate(
    name="document",
    title="A document",
    uri_template=f"{SCHEME}{{source}}/{{+doc_id}}",
    description="A document's words in reading order, by its source and id, both percent-encoded. A long one comes in "
    "parts: `next` in the metadata is the address of the next part.",
    mime_type="text/plain",
)


def uri_of(source: str, doc_id: str, start: str | None = None) -> str:
    """The address of a document, or of its part that begins at `start`."""
    tail = "" if start is None else f"?start={quote(start, safe='')}"
    return f"{SCHEME}{quote(source, safe='')}/{quote(doc_id, safe='/!')}{tail}"


def question_of(uri: str) -> FetchQuestion:
    """What an address asks for. Raises NotFound for one that is no document's."""
    if not uri.startswith(SCHEME) or len(uri) > LONGEST_URI:
        raise NotFound("no such resource")
    try:
        parts = urlsplit(uri)
        start = parse_qs(parts.query).get("start", [None])[0]
        found = {
            "source": unquote(parts.netloc, errors="strict"),
            "doc_id": unquote(parts.path.removeprefix("/"), errors="strict"),
            "start": start,
            "tokens": RESOURCE_TOKENS,
        }
        return msgspec.convert(found, FetchQuestion)
    except ValueError:  # msgspec's and urllib's alike
        raise NotFound("no such resource") from None


def contents(uri: str, answer: FetchAnswer) -> TextResourceContents:
    """A part of a document: its words alone in `text`, all that is said of them beside it."""
    head = answer.document
    following = None if answer.next is None else uri_of(head.source, head.doc_id, answer.next)
    about = {"as_of": answer.as_of, "version": head.version, "stale_since": head.stale_since, "next": following}
    return TextResourceContents(
        uri=uri,
        mime_type="text/plain",
        text="\n\n".join(section.text for section in answer.sections),
        _meta={f"upwell/{name}": value for name, value in about.items() if value is not None},
    )


def resource_of(changed: ChangedDocument) -> Resource | None:
    """A document that is there, for a list; None for one that went."""
    if changed.change != "changed":
        return None
    head: Head = changed.document
    return Resource(
        name=head.doc_id,
        title=head.title,
        uri=uri_of(head.source, head.doc_id),
        mime_type="text/plain",
    )
