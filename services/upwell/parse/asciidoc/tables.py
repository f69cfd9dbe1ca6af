"""Tables of AsciiDoc: cells after bars with what is said of them before, or comma-separated, or with colons.

https://docs.asciidoctor.org/asciidoc/latest/tables/build-a-basic-table/
"""

import csv
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from upwell.parse.asciidoc.meta import Meta
from upwell.records import Cell, Table

SPEC = re.compile(
    r"(?:(\d{1,4})?(?:\.(\d{1,4}))?([+*]))?(?:[<^>](?:\.[<^>])?|\.[<^>])?([a-z])?",
)
COLUMN = re.compile(r"(?:(\d{1,4})\*)?(?:[<^>](?:\.[<^>])?|\.[<^>])?(?:\d{1,3}%?|~)?([a-z])?")
LONGEST_SPEC = 24
MOST_COLUMNS = 1_000
MOST_COPIES = 100
COPY_COST = 20  # characters that a copy counts for beyond its own
FORMATS = {",": "csv", ":": "dsv"}
SEPARATORS = {"psv": "|", "csv": ",", "dsv": ":", "tsv": "\t"}
Read = Callable[[str, str], str]
"""Words of a cell, by what is written in it and its style (a letter, or nothing)."""


class _Written(NamedTuple):
    """A cell as it is written."""

    text: str
    style: str = ""
    cols: int = 1
    rows: int = 1
    copies: int = 1


class _Placed:
    """A cell at its place; how many rows it goes over is known when all are placed."""

    def __init__(self, row: int, col: int, cell: _Written, cols: int) -> None:
        self.row, self.col, self.cell, self.cols, self.end = row, col, cell, cols, row + cell.rows


def table_of(fence: str, meta: Meta, lines: Sequence[str], read: Read, spend: Callable[[int], None]) -> Table:
    """The table between two fences; `spend` is told of copies and of places that a cell goes over beyond its own."""
    form = meta.get("format") or FORMATS.get(fence[0], "psv")
    default = "!" if fence[0] == "!" else SEPARATORS.get(form, "|")
    separator = {"\\t": "\t"}.get(meta.get("separator"), meta.get("separator")) or default
    rows = _rows(form, separator[0], lines)
    styles = _columns(meta.get("cols"))
    width = len(styles) or min(max(_width(rows[0]), 1) if rows else 1, MOST_COLUMNS)
    rows = [_without_end(row, width) for row in rows]
    for cell in (cell for row in rows for cell in row):
        spend((cell.copies - 1) * (len(cell.text) + COPY_COST) + min(cell.cols, width) - 1)
    placed = _placed([cell for row in rows for cell in row for _ in range(cell.copies)], width)
    return _table(placed, width, styles, read, has_header=_has_header(meta, lines, rows, width))


def _rows(form: str, separator: str, lines: Sequence[str]) -> list[list[_Written]]:
    """Cells by the lines they begin in; the first of these says how many columns there are."""
    if form in {"csv", "tsv"}:
        return [[_Written(text) for text in row] for row in _separated(lines, separator) if row]
    if form == "dsv":
        parts = re.compile(rf"(?<!\\){re.escape(separator)}")
        return [
            [_Written(text.replace(f"\\{separator}", separator)) for text in parts.split(line)]
            for line in lines
            if line.strip()
        ]
    return _after_bars(lines, separator)


def _separated(lines: Sequence[str], separator: str) -> list[list[str]]:
    try:
        return list(csv.reader((f"{line}\n" for line in lines), delimiter=separator, skipinitialspace=True))
    except (csv.Error, ValueError, TypeError):
        return [line.split(separator) for line in lines if line.strip()]


def _after_bars(lines: Sequence[str], separator: str) -> list[list[_Written]]:
    bar = re.compile(rf"(?<!\\){re.escape(separator)}")
    rows: list[list[_Written]] = []
    open_text: list[str] = []
    spec: re.Match[str] | None = None

    def close() -> None:
        nonlocal open_text
        text = "\n".join(open_text).replace(f"\\{separator}", separator).strip("\n")
        if rows and (spec is not None or text.strip()):
            rows[-1].append(_written(text, spec))
        open_text = []

    for line in lines:
        begins = 0
        starts_row = True
        for found in bar.finditer(line):
            before = line[begins : found.start()]
            word = re.split(r"\s", before[-LONGEST_SPEC:])[-1]
            next_spec = SPEC.fullmatch(word) if len(word) < LONGEST_SPEC else None
            open_text.append(before[: len(before) - len(word)] if next_spec is not None else before)
            if not rows:
                rows.append([])
            close()
            if starts_row and rows[-1]:
                rows.append([])
            starts_row = False
            spec, begins = next_spec or SPEC.fullmatch(""), found.end()
        open_text.append(line[begins:])
    if not rows:
        rows.append([])
    close()
    return [row for row in rows if row]


def _written(text: str, spec: re.Match[str] | None) -> _Written:
    if spec is None:
        return _Written(text)
    first, rows = max(1, int(spec.group(1) or 1)), max(1, int(spec.group(2) or 1))
    if spec.group(3) == "*":
        return _Written(text, spec.group(4) or "", copies=min(first, MOST_COPIES))
    return _Written(text, spec.group(4) or "", first, rows)


def _width(row: Sequence[_Written]) -> int:
    return sum(cell.cols * cell.copies for cell in row)


def _without_end(row: list[_Written], width: int) -> list[_Written]:
    """A line of cells without the empty one that a bar at its end would begin, where that is one too many."""
    return row[:-1] if len(row) == width + 1 == _width(row) and not row[-1].text.strip() else row


def _columns(said: str) -> list[str]:
    """The style of each column that the table says it has."""
    if said.strip().isascii() and said.strip().isdigit() and len(said.strip()) < 5:
        return [""] * min(int(said), MOST_COLUMNS)
    styles: list[str] = []
    for part in re.split(r"[,;]", said) if said.strip() else []:
        found = COLUMN.fullmatch(part.strip())
        if len(styles) < MOST_COLUMNS:
            styles += [(found and found.group(2)) or ""] * (int((found and found.group(1)) or 1))
    return styles[:MOST_COLUMNS]


def _has_header(meta: Meta, lines: Sequence[str], rows: Sequence[Sequence[_Written]], width: int) -> bool:
    """Whether it is said, or the first line holds a whole row and a blank line stands below it, and none above."""
    if "header" in meta.options:
        return True
    if "noheader" in meta.options or len(lines) < 3 or not lines[0].strip() or lines[1].strip():
        return False
    return bool(rows) and _width(rows[0]) == width


def _placed(cells: Sequence[_Written], width: int) -> list[_Placed]:
    """Each cell at the next place that no cell above reaches down to; a row without any such place there is not."""
    placed: list[_Placed] = []
    above: list[_Placed | None] = [None] * width
    row = col = reach = 0  # no cell reaches below `reach`

    def is_taken(at: int) -> bool:
        holder = above[at]
        return holder is not None and holder.end > row

    for cell in cells:
        while col >= width or (reach > row and is_taken(col)):
            col += 1
            if col < width:
                continue
            row, col = row + 1, 0
            if reach > row and all(is_taken(at) for at in range(width)):
                for holder in above:
                    if holder is not None:
                        holder.end = min(holder.end, row)
                reach = row
        end = min(col + cell.cols, width)
        if reach > row:
            end = next((at for at in range(col + 1, end) if is_taken(at)), end)
        placed.append(_Placed(row, col, cell, end - col))
        if cell.rows > 1:
            above[col:end] = [placed[-1]] * (end - col)
            reach = max(reach, placed[-1].end)
        col = end
    return placed


def _table(placed: Sequence[_Placed], width: int, styles: Sequence[str], read: Read, *, has_header: bool) -> Table:
    rows = max((one.row for one in placed), default=-1) + 1
    cells = []
    for one in placed:
        is_head = has_header and one.row == 0
        style = one.cell.style or (styles[one.col] if one.col < len(styles) else "")
        cells.append(
            Cell(
                row=one.row,
                col=one.col,
                text=" ".join(read(one.cell.text, "" if is_head else style).split()) if one.cell.text else "",
                row_span=max(1, min(one.end, rows) - one.row),
                col_span=one.cols,
                header=is_head or style == "h",
            )
        )
    return Table(rows=rows, cols=width, cells=tuple(cells))
