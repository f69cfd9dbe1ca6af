"""A PDF as blocks with page and box, its attached files as children."""

from collections.abc import Sequence

from msgspec.structs import replace

from upwell.parse.failures import corrupt
from upwell.parse.limits import Limits
from upwell.parse.ocr import reader as ocr
from upwell.parse.ocr.reader import Allowance
from upwell.parse.outline import Outline
from upwell.parse.parts import ParseChild
from upwell.parse.pdf import layout
from upwell.parse.pdf.blocks import add_pages
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.layout import Look
from upwell.parse.pdf.page import read_pages
from upwell.parse.pdf.scans import read_scans
from upwell.parse.policy import DEFAULT_POLICY, ParsePolicy
from upwell.records import ParsedDocument, ParseStatus

PARSER = "pdf/4"
NEEDS_OCR = "the text needs OCR (extra upwell[ocr])"


def parse_pdf(
    data: bytes,
    limits: Limits,
    parse_child: ParseChild,
    policy: ParsePolicy = DEFAULT_POLICY,
    allowance: Allowance | None = None,
) -> ParsedDocument:
    """Blocks in reading order, words of scanned pages by OCR where it is there. Raises Unparsable."""
    allowance = allowance or Allowance(limits)
    with PdfFile(data, limits) as file:
        pages = list(read_pages(file, limits))
        attached = file.attached()
        bookmarks, named = file.bookmarks(), file.metadata_title()
        if file.count and not pages:
            raise corrupt("no page of the PDF can be read")
        if not file.whole and not any(page.pieces for page in pages):
            raise corrupt("the PDF ends before its end, and no text is left in it")
        unread = tuple(file.unread)
        scans = read_scans(file, pages, allowance, read=policy.ocr and ocr.available())
    children = tuple(replace(parse_child(content, name, None), name=name) for name, content in attached)
    parsed = ParsedDocument(status=ParseStatus.OK, pages=file.count, parser=PARSER, children=children)
    if not any(page.pieces for page in scans.pages) and not children:
        status = ParseStatus.NEEDS_OCR if scans.unread else ParseStatus.EMPTY
        return replace(parsed, status=status, reason=_wordless(scans.unread, policy))
    outline = Outline(limits.characters)
    look = Look(data, limits) if policy.layout and layout.available() else None
    title = add_pages(scans.pages, bookmarks, named, outline, look)
    return replace(parsed, blocks=tuple(outline.blocks), title=title, reason=_missing(scans.unread, unread))


def _wordless(pictured: Sequence[int], policy: ParsePolicy) -> str:
    if not pictured:
        return "no text in it"
    tried = policy.ocr and ocr.available()
    return "no words were found in its pictures" if tried else f"its pages are pictures: {NEEDS_OCR}"


def _missing(pictured: Sequence[int], unread: Sequence[int]) -> str | None:
    """What of a document that was read is not in its blocks, in a line."""
    notes = []
    if pictured:
        notes.append(f"pages that are pictures: {_listed(pictured)}; {NEEDS_OCR}")
    if unread:
        notes.append(f"pages that cannot be read: {_listed(unread)}")
    return "; ".join(notes) or None


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(n) for n in numbers[:20])
    return shown + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")
