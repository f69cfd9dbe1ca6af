"""OpenDocument files (ODF 1.3): texts, workbooks and slides, read from the package's own XML."""

from typing import Any

from upwell.parse import media
from upwell.parse.failures import corrupt, encrypted, too_large
from upwell.parse.limits import Limits
from upwell.parse.odf.objects import odf_children
from upwell.parse.odf.styles import Styles
from upwell.parse.odf.table import number
from upwell.parse.odf.text import TextFlow
from upwell.parse.office.package import Package, attribute, local
from upwell.parse.office.styles import joined_code
from upwell.parse.outline import Outline
from upwell.parse.parts import ParseChild
from upwell.parse.policy import ParsePolicy
from upwell.parse.sheets.blocks import Sheet, say_sheet
from upwell.parse.sheets.sheet import SheetCell
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "odf/2"
BODIES = {media.ODT: "text", media.ODS: "spreadsheet", media.ODP: "presentation"}
MOST_CELLS = 1_000_000
MOST_REPEATS = 1000
VALUES = frozenset({"float", "percentage", "currency", "date", "time", "boolean"})


def parse_odf(
    data: bytes, media_type: str, limits: Limits, policy: ParsePolicy, parse_child: ParseChild
) -> ParsedDocument:
    """A text, a workbook or slides as blocks. Raises Unparsable."""
    package = Package(data, limits)
    manifest = package.xml_or_none("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
        raise encrypted("the office file is encrypted; its password is not known")
    content, styles = package.xml("content.xml"), package.xml_or_none("styles.xml")
    body = content.find("{*}body")
    root = None if body is None else body.find(f"{{*}}{BODIES[media_type]}")
    if root is None:
        raise corrupt("its content has no body")
    outline = Outline(limits.characters)
    flow = TextFlow(outline, Styles(styles, content), package, limits, policy)
    pages = None
    if media_type == media.ODS:
        _workbook(root, flow)
    elif media_type == media.ODP:
        pages = _slides(root, flow)
    else:
        flow.blocks(root)
        _headers(styles, flow)
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=joined_code(outline.blocks),
        title=_title(outline, package),
        pages=pages,
        parser=PARSER,
        children=odf_children(package, limits, parse_child),
    )


def _title(outline: Outline, package: Package) -> str | None:
    shown = next((b.text for b in outline.blocks if b.kind is Kind.TITLE), None)
    meta = package.xml_or_none("meta.xml")
    named = None if meta is None else next(meta.iter("{http://purl.org/dc/elements/1.1/}title"), None)
    return shown or " ".join((named.text or "").split() if named is not None else ()) or None


def _headers(styles: Any, flow: TextFlow) -> None:
    """What stands at the head and foot of the pages, each text once."""
    if styles is None:
        return
    flow.left_out = "page_furniture"
    for page in styles.iter("{*}master-page"):
        for part in page:
            if local(part).startswith(("header", "footer")):
                flow.blocks(part)
    flow.left_out = None


def _slides(root: Any, flow: TextFlow) -> int:
    count = 0
    for page in root:
        if local(page) != "page":
            continue
        count += 1
        flow.page = count
        flow.outline.close_headings()
        hidden = flow.styles.hidden(attribute(page, "style-name"))
        flow.left_out = "hidden" if hidden else None
        frames = [e for e in page if local(e) != "notes"]
        titles = [e for e in frames if attribute(e, "class") == "title"]
        for frame in titles:
            text = " ".join(" ".join(flow.words(p) for p in frame.iter("{*}p", "{*}h")).split())
            if hidden:
                flow.outline.add(Kind.PAGE_FURNITURE, text, page=count, left_out="hidden")
            else:
                flow.outline.heading(text, 1, page=count)
        rest = [e for e in frames if attribute(e, "class") != "title"]
        flow.blocks(sorted(rest, key=_position))
        for notes in page.findall("{*}notes"):
            _notes(notes, flow)
    return count


def _notes(notes: Any, flow: TextFlow) -> None:
    """The speaker's words; the picture of the slide, its number and its date are no words of anybody."""
    for frame in notes:
        if attribute(frame, "class") == "notes":
            flow.blocks([frame])


def _position(element: Any) -> tuple[float, float]:
    def points(name: str) -> float:
        text = attribute(element, name) or ""
        unit = text.lstrip("0123456789.-")
        try:
            return float(text.removesuffix(unit)) * {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0}.get(unit, 1.0)
        except ValueError:
            return 0.0

    return round(points("y") / 12), points("x")


def _workbook(root: Any, flow: TextFlow) -> None:
    left = MOST_CELLS
    for page, table in enumerate(root.findall("{*}table"), 1):
        name = attribute(table, "name") or f"Sheet{page}"
        sheet = _sheet(table, flow, left)
        left -= len(sheet.cells) + len(sheet.hidden)
        say_sheet(flow.outline, name, page, sheet, hidden=flow.styles.hidden(attribute(table, "style-name")))
        flow.page = page
        for shapes in table.findall("{*}shapes"):
            flow.blocks(shapes)
        flow.say_later()


def _sheet(table: Any, flow: TextFlow, left: int) -> Sheet:
    shut = _shut_columns(table)
    sheet = Sheet()
    row = 0
    for tr in table.iter("{*}table-row"):
        repeats = number(tr, "number-rows-repeated")
        hidden = attribute(tr, "visibility") in {"collapse", "filter"}
        col = 0
        for td in tr:
            across = number(td, "number-columns-repeated")
            cell = _cell(td, flow) if local(td) == "table-cell" else None
            if cell is not None:
                for at in range(col, col + min(across, MOST_REPEATS)):
                    place = sheet.hidden if hidden or at in shut else sheet.cells
                    place.update({(row + down, at): cell for down in range(min(repeats, MOST_REPEATS))})
            col += across
            if len(sheet.cells) + len(sheet.hidden) > left:
                raise too_large(f"a workbook of over {MOST_CELLS} cells")
        row += repeats
    return sheet


def _shut_columns(table: Any) -> set[int]:
    shut: set[int] = set()
    col = 0
    for column in table.iter("{*}table-column"):
        repeats = number(column, "number-columns-repeated")
        if attribute(column, "visibility") in {"collapse", "filter"}:
            shut.update(range(col, col + min(repeats, 20_000)))
        col += repeats
    return shut


def _cell(td: Any, flow: TextFlow) -> SheetCell | None:
    lines = [flow.words(p) for p in td.findall("{*}p")]
    for annotation in td.findall("{*}annotation"):
        flow.hang(annotation)
    text = " ".join(" ".join(lines).split())
    if not text:
        return None
    return SheetCell(
        text=text,
        number=attribute(td, "value-type") in VALUES,
        strong=flow.styles.bold(attribute(td, "style-name")),
        row_span=min(number(td, "number-rows-spanned"), MOST_REPEATS),
        col_span=min(number(td, "number-columns-spanned"), MOST_REPEATS),
    )
