"""On which terms a source's events are taken: who may read by default, and what its events may have fetched."""

from urllib.parse import unquote

from upwell.access import EVERYONE, KINDS
from upwell.config import AclSettings, SourceSettings
from upwell.errors import Misconfigured
from upwell.records import Acl, Record

LOCAL = frozenset({"file", "local", "folder", "asynclocal", "dir"})
"""Connectors that would read this machine's own files: a folder is followed, never fetched at a stranger's word."""


class Terms(Record, frozen=True, kw_only=True):
    """What binds every event of one source, whatever the event says."""

    tenant: str
    source: str
    acl: Acl = Acl()
    connector: str | None = None
    roots: tuple[str, ...] = ()


def terms_of(source: str, settings: SourceSettings | None, tenant: str | None = None) -> Terms:
    """The terms of a source as configured. Without settings, or with another tenant's, nobody reads and nothing is
    fetched."""
    if settings is None or tenant not in (None, settings.tenant):
        return Terms(tenant=tenant or "default", source=source)
    return Terms(
        tenant=settings.tenant,
        source=source,
        acl=acl_of(settings.acl),
        connector=settings.connector,
        roots=settings.roots,
    )


def acl_of(settings: AclSettings) -> Acl:
    """The settings' ACL as a record."""
    return Acl(levels=settings.levels, deny=settings.deny)


def within(uri: str, roots: tuple[str, ...]) -> bool:
    """True if `uri` lies below one of the roots, whole path segments compared. No roots: nothing does.

    What could lead out of a root after decoding (`.` and `..` segments, a version suffix) lies below none.
    """
    path = uri.partition("://")[2]
    if not path or "\0" in uri or "?versionId=" in uri:
        return False
    for text in (path, unquote(path), unquote(unquote(path))):
        if {".", ".."} & set(text.replace("\\", "/").split("/")):
            return False
    return any(uri == root or uri.startswith(root.rstrip("/") + "/") for root in roots)


def check(name: str, source: SourceSettings) -> None:
    """Raises Misconfigured, naming the setting, for a source that could never work or would open this machine."""
    where = f"sources.{name}"
    for principal in frozenset().union(*source.acl.levels, source.acl.deny):
        kind, _, called = principal.partition(":")
        if principal != EVERYONE and not (kind in KINDS and called):
            wanted = ", ".join(f"{one}:…" for one in KINDS)
            raise Misconfigured(f"{where}.acl: {principal!r} would match nobody; a principal is {wanted} or {EVERYONE}")
    if source.hook is not None and not (source.secret and source.secret.get_secret_value()):
        raise Misconfigured(f"{where}.secret: a hook needs the secret that its sender signs with")
    if source.connector is not None and source.connector in LOCAL:
        raise Misconfigured(f"{where}.connector: local files are not fetched; follow them with `upwell run DIR`")
    if source.roots and source.connector is None:
        raise Misconfigured(f"{where}.connector: roots are given, but no connector that fetches from them")
    for root in source.roots:
        if "://" not in root or not within(root.rstrip("/") + "/x", (root,)):
            raise Misconfigured(f"{where}.roots: {root!r} is not the beginning of a URL, such as s3://bucket/folder/")
    if source.hook == "s3":
        if not source.roots:
            raise Misconfigured(f"{where}.roots: an s3 hook needs the bucket it may fetch from, such as s3://bucket/")
        if len({root.partition("://")[2].partition("/")[0] for root in source.roots}) > 1:
            raise Misconfigured(f"{where}.roots: one bucket a source, for a document's id is its key")
