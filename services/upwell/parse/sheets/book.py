"""What the sheets of a workbook share: strings, formats of numbers, bold fonts; and a sheet's cells, streamed."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.office.package import Package, attribute, local
from upwell.parse.sheets.blocks import Sheet
from upwell.parse.sheets.number_format import BUILT_IN, plain, shown
from upwell.parse.sheets.sheet import SheetCell

CELL = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
MOST_CELLS = 500_000
MOST_MERGES = 100_000
MOST_SPAN = 20_000


def events(package: Package, part: str, tags: tuple[str, ...]) -> Iterator[Any]:
    """The elements of these names as they end; what was given is freed. Raises `corrupt`."""
    from lxml import etree  # type: ignore[import-untyped]  # noqa: PLC0415 - few documents need it

    with package.open(part) as stream:
        wanted = tuple(f"{{*}}{tag}" for tag in tags)
        try:
            for _, element in etree.iterparse(
                stream, tag=wanted, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
            ):
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except (etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as e:
            raise corrupt(f"the part {part[:100]!r} is damaged") from e


def strings(package: Package, part: str, limits: Limits) -> list[str]:
    """The shared strings. Raises `too_large` past the characters of a document, counted twice for spare ones."""
    found: list[str] = []
    left = limits.characters * 2
    if part not in package:
        return found
    for item in events(package, part, ("si",)):
        text = rich_text(item)
        left -= len(text) + 1
        if left < 0:
            raise too_large("more text than a document may hold")
        found.append(text)
    return found


def rich_text(item: Any) -> str:
    """The words of a string in runs, without what only says how they are pronounced."""
    parts: list[str] = []
    for child in item:
        tag = local(child)
        if tag == "t":
            parts.append(child.text or "")
        elif tag == "r":
            parts.extend(t.text or "" for t in child if local(t) == "t")
    return "".join(parts)


class Looks:
    """How cells look, by the number of their style: the format of numbers, and whether the font is bold."""

    def __init__(self, styles: Any, *, since_1904: bool) -> None:
        self.since_1904 = since_1904
        self._looks: list[tuple[str, bool]] = []
        if styles is None:
            return
        formats = {attribute(f, "numFmtId"): attribute(f, "formatCode") or "" for f in styles.iter("{*}numFmt")}
        fonts = styles.find("{*}fonts")
        bold = [f.find("{*}b") is not None for f in (() if fonts is None else fonts)]
        cells = styles.find("{*}cellXfs")
        for xf in () if cells is None else cells:
            number, font = attribute(xf, "numFmtId") or "0", attribute(xf, "fontId") or "0"
            code = formats.get(number) or BUILT_IN.get(int(number) if number.isdecimal() else 0, "")
            strong = font.isdecimal() and int(font) < len(bold) and bold[int(font)]
            self._looks.append((code, strong))

    def of(self, style: str | None) -> tuple[str, bool]:
        number = int(style) if style and style.isdecimal() and len(style) < 7 else 0
        return self._looks[number] if number < len(self._looks) else ("", False)

    def number(self, text: str, code: str) -> str:
        try:
            value = float(text)
            return shown(value, code, since_1904=self.since_1904) if code else plain(value)
        except (ValueError, OverflowError):
            return text


class SheetReader:
    """Reads sheets within what is left of the workbook's cells and characters."""

    def __init__(self, package: Package, shared: list[str], looks: Looks, limits: Limits) -> None:
        self.package, self.shared, self.looks = package, shared, looks
        self.cells, self.characters = MOST_CELLS, limits.characters
        self.links: list[str] = []

    def read(self, part: str) -> Sheet:
        """The cells with words, those hidden apart. Raises Unparsable."""
        sheet = Sheet()
        shut: set[int] = set()
        merges: list[tuple[int, int, int, int]] = []
        self.links = []
        row_number = -1
        for element in events(self.package, part, ("col", "row", "mergeCell", "hyperlink")):
            tag = local(element)
            if tag == "col":
                shut |= _hidden_columns(element)
            elif tag == "row":
                given = attribute(element, "r") or ""
                row_number = int(given) - 1 if given.isdecimal() and len(given) < 8 else row_number + 1
                self._row(element, row_number, sheet, shut)
            elif tag == "mergeCell" and len(merges) < MOST_MERGES:
                merges.extend(_area(attribute(element, "ref") or ""))
            elif tag == "hyperlink":
                self.links.append(attribute(element, "id") or "")
        _merge(sheet, merges)
        return sheet

    def _row(self, row: Any, number: int, sheet: Sheet, shut: set[int]) -> None:
        hidden = attribute(row, "hidden") in {"1", "true"}
        col = -1
        for cell in row:
            found = CELL.match(cell.get("r") or "")
            col = column(found.group(1)) if found else col + 1
            looked = self._cell(cell)
            if looked is None:
                continue
            (sheet.hidden if hidden or col in shut else sheet.cells)[number, col] = looked
            self.cells -= 1
            self.characters -= len(looked.text)
            if self.cells < 0 or self.characters < 0:
                raise too_large(f"a workbook of over {MOST_CELLS} cells, or more text than a document may hold")

    def _cell(self, cell: Any) -> SheetCell | None:
        kind, style = cell.get("t") or "n", cell.get("s")
        value = next((c.text or "" for c in cell if local(c) == "v"), "")
        code, strong = self.looks.of(style)
        number = False
        if kind == "s":
            text = self.shared[int(value)] if value.isdecimal() and int(value) < len(self.shared) else ""
        elif kind == "inlineStr":
            text = next((rich_text(c) for c in cell if local(c) == "is"), "")
        elif kind == "b":
            text = {"1": "TRUE", "0": "FALSE"}.get(value, value)
        elif kind == "n" and value:
            text, number = self.looks.number(value, code), True
        else:
            text, number = value, kind == "d"
        text = " ".join(text.split())
        return SheetCell(text=text, number=number, strong=strong) if text else None


def column(letters: str) -> int:
    """A column's number from its letters, A = 0."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _hidden_columns(col: Any) -> set[int]:
    first, last = attribute(col, "min") or "", attribute(col, "max") or ""
    if attribute(col, "hidden") not in {"1", "true"} or not (first.isdecimal() and last.isdecimal()):
        return set()
    return set(range(int(first[:6]) - 1, min(int(last[:6]), MOST_SPAN)))


def _area(reference: str) -> list[tuple[int, int, int, int]]:
    first, _, last = reference.partition(":")
    a, b = CELL.fullmatch(first), CELL.fullmatch(last or first)
    if a is None or b is None:
        return []
    top, left = int(a.group(2)) - 1, column(a.group(1))
    bottom, right = int(b.group(2)), column(b.group(1)) + 1
    return [(top, left, bottom - top, right - left)] if bottom > top and right > left else []


def _merge(sheet: Sheet, merges: list[tuple[int, int, int, int]]) -> None:
    for top, left, down, across in merges:
        for cells in (sheet.cells, sheet.hidden):
            cell = cells.get((top, left))
            if cell is not None and down <= MOST_SPAN and across <= MOST_SPAN:
                cells[top, left] = SheetCell(
                    text=cell.text, number=cell.number, strong=cell.strong, row_span=down, col_span=across
                )
