"""From a media type to its parser, and from whatever goes wrong there to a status."""

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from upwell.parse import media
from upwell.parse.adapters import docling
from upwell.parse.arbitrate.choose import arbitrated
from upwell.parse.archive.members import parse_archive
from upwell.parse.asciidoc.document import parse_asciidoc
from upwell.parse.code.source import parse_code
from upwell.parse.data.delimited import parse_delimited
from upwell.parse.data.json import parse_json, parse_json_lines
from upwell.parse.data.notebook import parse_notebook
from upwell.parse.data.xml import parse_xml
from upwell.parse.detect import OLE_MAGIC, detect
from upwell.parse.failures import Unparsable, encrypted, too_large, unsupported
from upwell.parse.html.page import parse_html
from upwell.parse.letters.encoding import decode
from upwell.parse.letters.language import guess_language
from upwell.parse.limits import Limits
from upwell.parse.mail.message import parse_mail
from upwell.parse.mail.msg import parse_msg
from upwell.parse.ocr.images import parse_image
from upwell.parse.ocr.reader import Allowance
from upwell.parse.odf.document import BODIES as ODF_TYPES
from upwell.parse.odf.document import parse_odf
from upwell.parse.pdf.document import parse_pdf
from upwell.parse.policy import DEFAULT_POLICY, ParsePolicy
from upwell.parse.publication.epub import parse_epub
from upwell.parse.publication.jats import parse_jats
from upwell.parse.rtf.document import parse_rtf
from upwell.parse.sheets.xls import parse_xls
from upwell.parse.sheets.xlsx import parse_excel
from upwell.parse.slides.document import parse_slides
from upwell.parse.text.captions import parse_captions
from upwell.parse.text.markdown import parse_markdown
from upwell.parse.text.plain import parse_plain
from upwell.parse.text.restructured import parse_restructured
from upwell.parse.word.document import parse_word
from upwell.records import LONGEST_IN_PATH, Kind, ParsedDocument, ParseStatus

TextParser = Callable[[str, Limits], ParsedDocument]
TEXT_PARSERS: MappingProxyType[str, TextParser] = MappingProxyType(
    {
        media.MARKDOWN: parse_markdown,
        media.PLAIN: parse_plain,
        media.HTML: parse_html,
        media.CSV: parse_delimited,
        media.TSV: parse_delimited,
        media.VTT: parse_captions,
        media.SUBRIP: parse_captions,
        media.JSON_LINES: parse_json_lines,
        media.RESTRUCTURED: parse_restructured,
        media.ASCIIDOC: parse_asciidoc,
        media.JSON: parse_json,
        media.NOTEBOOK: parse_notebook,
    }
)
ENCRYPTION_MARK = "EncryptedPackage".encode("utf-16-le")
OLD_OFFICE = {media.DOC: "Word", media.PPT: "PowerPoint"}
LANGUAGE_SAMPLE_CHARACTERS = 20_000


def parse(
    data: bytes,
    name: str,
    claimed: str | None,
    limits: Limits,
    policy: ParsePolicy = DEFAULT_POLICY,
    *,
    depth: int = 0,
    allowance: Allowance | None = None,
) -> ParsedDocument:
    """The document as blocks, or a status that says why not. Never raises for what a document holds.

    `allowance` is what its pictures may cost to read, with those of the document that it is a part of.
    """
    if not data:
        return ParsedDocument(
            status=ParseStatus.EMPTY, reason="the file has no bytes", media_type=claimed or media.BINARY
        )
    media_type = detect(data, name, claimed)
    try:
        raw = _Raw(data, name, media_type, limits, policy, depth, allowance or Allowance(limits))
        parsed = arbitrated(data, media_type, limits, lambda: _parse(raw)) if policy.arbitrate else _parse(raw)
        return finished(parsed, media_type)
    except Unparsable as e:
        return ParsedDocument(status=e.status, reason=e.reason, media_type=media_type)
    except RecursionError:
        return ParsedDocument(status=ParseStatus.TOO_LARGE, reason="nested too deeply", media_type=media_type)
    except MemoryError:
        return ParsedDocument(
            status=ParseStatus.TOO_LARGE, reason="needs more memory than allowed", media_type=media_type
        )


def finished(parsed: ParsedDocument, media_type: str) -> ParsedDocument:
    """What every parser leaves to one place: the media type, the language, and `empty` for a document without words."""
    words = [b.text for b in parsed.blocks if b.kind is not Kind.PAGE_FURNITURE]
    status, reason = parsed.status, parsed.reason
    if status is ParseStatus.OK and not any(text.strip() for text in words) and not parsed.children:
        status, reason = ParseStatus.EMPTY, "no text in it"
    return replace(
        parsed,
        status=status,
        reason=reason,
        media_type=media_type,
        title=parsed.title and parsed.title[:LONGEST_IN_PATH],
        language=parsed.language or guess_language("\n".join(words)[:LANGUAGE_SAMPLE_CHARACTERS]),
    )


class _Raw(NamedTuple):
    """A document's bytes and all that a reader may ask about them."""

    data: bytes
    name: str
    media_type: str
    limits: Limits
    policy: ParsePolicy
    depth: int
    allowance: Allowance

    def child(self, data: bytes, name: str, claimed: str | None) -> ParsedDocument:
        """What a part of this document is; whatever its parser does, the document goes on without it."""
        unread = ParsedDocument(status=ParseStatus.OK, media_type=claimed or media.BINARY)
        if self.depth >= self.limits.child_depth:
            return replace(unread, status=ParseStatus.TOO_LARGE, reason="nested too deeply")
        try:
            return parse(data, name, claimed, self.limits, self.policy, depth=self.depth + 1, allowance=self.allowance)
        except Exception as e:  # noqa: BLE001 the edge of a part
            reason = f"its parser failed ({type(e).__name__})"
            return replace(unread, status=ParseStatus.CORRUPT, reason=reason)


READERS: MappingProxyType[str, Callable[[_Raw], ParsedDocument]] = MappingProxyType(
    {
        media.EML: lambda raw: parse_mail(raw.data, raw.limits, raw.child),
        media.XML: lambda raw: parse_xml(raw.data, raw.limits),
        media.RTF: lambda raw: parse_rtf(raw.data, raw.limits, raw.policy),
        media.MSG: lambda raw: parse_msg(raw.data, raw.limits, raw.policy, raw.child),
        **dict.fromkeys(ODF_TYPES, lambda raw: parse_odf(raw.data, raw.media_type, raw.limits, raw.policy, raw.child)),
        media.PDF: lambda raw: parse_pdf(raw.data, raw.limits, raw.child, raw.policy, raw.allowance),
        **dict.fromkeys(
            media.ARCHIVES, lambda raw: parse_archive(raw.data, raw.name, raw.media_type, raw.limits, raw.child)
        ),
        **dict.fromkeys(docling.EXTENSIONS, lambda raw: docling.parse_docling(raw.data, raw.media_type, raw.limits)),
        media.XLSX: lambda raw: parse_excel(raw.data, raw.limits, raw.policy, raw.child),
        media.EPUB: lambda raw: parse_epub(raw.data, raw.limits),
        media.XLS: lambda raw: parse_xls(raw.data, raw.limits),
        media.JATS: lambda raw: parse_jats(raw.data, raw.limits),
        media.PPTX: lambda raw: parse_slides(raw.data, raw.limits, raw.policy, raw.child),
        media.DOCX: lambda raw: parse_word(raw.data, raw.limits, raw.policy, raw.child),
    }
)
"""What reads bytes of its own; texts are decoded first and then read by `TEXT_PARSERS`."""


def _parse(raw: _Raw) -> ParsedDocument:
    data, media_type, limits = raw.data, raw.media_type, raw.limits
    if len(data) > limits.file_bytes:
        raise too_large(f"{len(data)} bytes; at most {limits.file_bytes} are read")
    if media.is_text(media_type) and len(data) > limits.text_bytes:
        raise too_large(f"{len(data)} bytes of text; at most {limits.text_bytes} are read")
    if media_type in READERS:
        return READERS[media_type](raw)
    if media.is_text(media_type):
        return _parse_text(data, media_type, limits)
    if ENCRYPTION_MARK in data and data.startswith(OLE_MAGIC):
        raise encrypted("the office file is encrypted; its password is not known")
    if media_type.startswith("image/"):
        return parse_image(data, limits, raw.policy, raw.allowance)
    if media_type in OLD_OFFICE:
        name = OLD_OFFICE[media_type]
        raise unsupported(f"the binary format of {name} 97 to 2003 is not read; save it in the newer one")
    raise unsupported(f"no parser for {media_type}")


def _parse_text(data: bytes, media_type: str, limits: Limits) -> ParsedDocument:
    text, encoding = decode(data)
    language = media.code_language(media_type)
    if language is not None:
        parsed = parse_code(text, language, limits)
    else:
        parsed = TEXT_PARSERS.get(media_type, parse_plain)(text, limits)
    return replace(parsed, encoding=encoding)
