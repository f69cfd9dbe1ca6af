"""Books in EPUB (EPUB 3.3): the chapters in the order of the spine, each read as the HTML page that it is."""

import posixpath
import re
from typing import Any
from urllib.parse import unquote

from msgspec.structs import replace

from upwell.parse.failures import Unparsable, corrupt, encrypted, too_large
from upwell.parse.html.page import blocks_under, parse_html
from upwell.parse.letters.encoding import decode
from upwell.parse.letters.language import declared_language
from upwell.parse.limits import Limits
from upwell.parse.office.package import Package, attribute
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "epub/1"
CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)([a-zA-Z][a-zA-Z0-9:-]{0,50})"
    r"((?:\s[^<>]{0,2000})?)/>"
)
CHAPTERS = frozenset({"application/xhtml+xml", "text/html"})
FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # veiled fonts are no locked book


def parse_epub(data: bytes, limits: Limits) -> ParsedDocument:
    """A book as blocks. A chapter that cannot be read is passed over unless all are. Raises Unparsable."""
    package = Package(data, limits)
    _refuse_locked(package)
    container = package.xml("META-INF/container.xml")
    root = next(container.iter("{*}rootfile"), None)
    book = (attribute(root, "full-path") or "") if root is not None else ""
    if book not in package:
        raise corrupt("its container names no book")
    opf = package.xml(book)
    outline = Outline(limits.characters)
    title = " ".join((opf.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "").split())
    outline.title(title)
    failures: list[str] = []
    chapters = _chapters(opf, posixpath.dirname(book))
    for chapter in chapters:
        try:
            parsed = parse_html(_as_html(decode(package.read(chapter))[0]), limits, whole=True)
        except Unparsable as e:
            if e.status is ParseStatus.TOO_LARGE:
                raise
            failures.append(e.reason)
            continue
        outline.close_headings()
        shown = tuple(block for block in parsed.blocks if block.kind is not Kind.TITLE)
        blocks_under(replace(parsed, blocks=shown), outline)
    if failures and len(failures) == len(chapters):
        raise corrupt(f"none of its chapters can be read: {failures[0]}")
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title or None,
        language=declared_language(opf.findtext(".//{http://purl.org/dc/elements/1.1/}language")),
        parser=PARSER,
    )


def _as_html(text: str) -> str:
    """XHTML closes empty elements at once; to a reader of HTML `<title/>` would never end."""
    return CLOSED.sub(r"<\1\2></\1>", text)


def _refuse_locked(package: Package) -> None:
    root = package.xml_or_none("META-INF/encryption.xml")
    for method in () if root is None else root.iter("{*}EncryptionMethod"):
        if (attribute(method, "Algorithm") or "") not in FONTS:
            raise encrypted("the book is encrypted; its licence is not known")


def _chapters(opf: Any, folder: str) -> list[str]:
    """The parts of the spine in order, each once; its table of contents is navigation and left out."""
    items = {attribute(item, "id") or "": item for item in opf.iter("{*}item")}
    found: list[str] = []
    for reference in opf.iter("{*}itemref"):
        item = items.get(attribute(reference, "idref") or "")
        if item is None or attribute(item, "media-type") not in CHAPTERS:
            continue
        if "nav" in (attribute(item, "properties") or "").split():
            continue
        found.append(posixpath.normpath(posixpath.join(folder, unquote(attribute(item, "href") or ""))))
        if len(found) > 5000:
            raise too_large("over 5000 chapters")
    return list(dict.fromkeys(found))
