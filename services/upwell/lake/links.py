"""What the links in a document's text point to: names by which documents are found, whether or not they are there.

A document answers to its own key and to its url; a link is read as a path beside its document and, when the document
has a url, as browsers read it. Names are hashes that hold the tenant, so that nothing is ever found across tenants.
"""

import posixpath
import unicodedata
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from upwell.ports import DocumentRow
from upwell.records import DocKey, stable_hash

WEB = frozenset({"http", "https"})
PORTS = {"http": 80, "https": 443}


def names_of(row: DocumentRow) -> tuple[str, ...]:
    """The names that this document answers to: its key's digest, and its url's name if it has one."""
    url = url_name(row.key.tenant, row.url)
    return (row.key.digest,) if url is None else (row.key.digest, url)


def targets_of(row: DocumentRow) -> tuple[str, ...]:
    """The names that its links call, in the order of its text, each once; its own are left out."""
    own = names_of(row)
    links = (link.encode("utf-8", "replace").decode() for link in row.links)
    named = dict.fromkeys(name for link in links for name in _called(row, link))
    return tuple(name for name in named if name not in own)


def url_name(tenant: str, url: str | None) -> str | None:
    """The name of a web address in a tenant, without its fragment; None for what is no web address."""
    if url is None:
        return None
    try:
        parts = urlsplit(url.encode("utf-8", "replace").decode().strip())
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    if parts.scheme not in WEB or not host:
        return None
    place = host if port in (None, PORTS[parts.scheme]) else f"{host}:{port}"
    return stable_hash("url", tenant, urlunsplit(("", place, parts.path or "/", parts.query, "")))


def beside(doc_id: str, link: str) -> str | None:
    """The doc_id that a relative link names, read beside this one; from the source's top if it begins with a slash.

    None for a link that leaves the source, names nothing but a place in the document itself, or is not relative.
    """
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path:
        return None
    path = unicodedata.normalize("NFC", unquote(parts.path))
    joined = posixpath.normpath(posixpath.join("/", posixpath.dirname(doc_id), path))
    climbs = posixpath.normpath(posixpath.join(posixpath.dirname(doc_id), path)).startswith("..")
    name = joined.lstrip("/")
    return None if climbs or not name or "\0" in name else name


def _called(row: DocumentRow, link: str) -> list[str]:
    key = row.key
    name = beside(key.doc_id, link)
    called = [] if name is None else [DocKey(tenant=key.tenant, source=key.source, doc_id=name).digest]
    try:
        address = urljoin(row.url or "", link)
    except ValueError:
        return called
    url = url_name(key.tenant, address)
    return called if url is None else [*called, url]
