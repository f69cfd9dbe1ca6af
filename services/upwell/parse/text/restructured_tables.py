"""The tables of reStructuredText: drawn as a grid, drawn with columns of `=`, a list of lists, comma-separated.

https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#tables
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence

from upwell.parse.outline import grid
from upwell.records import Cell, Table

GRID_RULE = re.compile(r"\+(?:[-=]+\+)+")
RULE_PART = re.compile(r"\+[-=]+(?=\+)")
HEAD_RULE = re.compile(r"\+(?:=+\+)+")
COLUMNS = re.compile(r"=+(?: +=+)+")
SPANS = re.compile(r"-+(?: +-+)*")
MOST_BOXES = 200_000
DELIMITERS = {"tab": "\t", "space": " "}
Words = Callable[[str], str]


def grid_table(lines: Sequence[str], words: Words) -> Table:
    """A table drawn with `+`, `-` and `|`; one whose lines do not align is parted at its bars."""
    width = len(lines[0])
    cols = sorted({at for line in lines if RULE_PART.search(line) for at, sign in enumerate(line) if sign == "+"})
    rows = [at for at, line in enumerate(lines) if RULE_PART.search(line)]
    if any(len(line) != width for line in lines) or len(rows) * len(cols) > MOST_BOXES:
        return _parted_at_bars(lines, words)
    head = next((at for at in rows[1:-1] if HEAD_RULE.fullmatch(lines[at])), rows[0])
    cells = []
    for region in _regions(lines, rows, cols):
        top, bottom = min(r for r, _ in region), max(r for r, _ in region) + 1
        left, right = min(c for _, c in region), max(c for _, c in region) + 1
        said = (line[cols[left] + 1 : cols[right]].strip() for line in lines[rows[top] + 1 : rows[bottom]])
        cells.append(
            Cell(
                row=top,
                col=left,
                text=words(" ".join(part for part in said if part)),
                row_span=bottom - top,
                col_span=right - left,
                header=rows[top] < head,
            )
        )
    return Table(rows=len(rows) - 1, cols=len(cols) - 1, cells=tuple(cells))


def _regions(lines: Sequence[str], rows: Sequence[int], cols: Sequence[int]) -> list[list[tuple[int, int]]]:
    """The smallest boxes of the drawing, those without a wall between them together."""
    above: dict[tuple[int, int], tuple[int, int]] = {}

    def first(box: tuple[int, int]) -> tuple[int, int]:
        while (holder := above.get(box, box)) != box:
            above[box] = above.get(holder, holder)
            box = holder
        return box

    boxes = [(r, c) for r in range(len(rows) - 1) for c in range(len(cols) - 1)]
    for r, c in boxes:
        if r and not set(lines[rows[r]][cols[c] + 1 : cols[c + 1]]) <= {"-", "=", "+"}:
            above[first((r, c))] = first((r - 1, c))
        if c and not all(line[cols[c]] in "|+" for line in lines[rows[r] + 1 : rows[r + 1]]):
            above[first((r, c))] = first((r, c - 1))
    regions: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for box in boxes:
        regions.setdefault(first(box), []).append(box)
    return list(regions.values())


def _parted_at_bars(lines: Sequence[str], words: Words) -> Table:
    columns = len(RULE_PART.findall(lines[0]))
    rows: list[list[list[str]]] = []
    head, begins = 0, True
    for line in lines:
        if GRID_RULE.fullmatch(line):
            head = len(rows) if HEAD_RULE.fullmatch(line) and not head else head
            begins = True
            continue
        parts = line.strip("|+").split("|", columns - 1)
        if begins:
            rows.append([[] for _ in range(columns)])
        for cell, part in zip(rows[-1], parts, strict=False):
            cell.append(part)
        begins = False
    return grid([[words(" ".join(" ".join(cell).split())) for cell in row] for row in rows], head)


def simple_table(lines: Sequence[str], words: Words) -> Table:
    """A table whose columns stand under runs of `=`; `lines` begin and end with such a line."""
    starts = [found.start() for found in re.finditer("=+", lines[0])]
    inner = [at for at, line in enumerate(lines) if COLUMNS.fullmatch(line)]
    head_end = inner[1] if len(inner) > 2 else 0
    rows: list[dict[int, list[str]]] = []
    spans: list[dict[int, int]] = []
    heads = 0
    for at, line in enumerate(lines):
        if at in {0, head_end, len(lines) - 1}:
            heads = len(rows) if at == head_end else heads
            continue
        if not line.strip() or SPANS.fullmatch(line.strip()):
            continue
        said = _columns(line, starts)
        if said[0][2] or not rows:
            rows.append({})
            spans.append({})
        for col, span, text in said:
            rows[-1].setdefault(col, []).append("" if text == "\\" else text)
            spans[-1][col] = max(span, spans[-1].get(col, 1))
    cells = tuple(
        Cell(row=r, col=c, text=words(" ".join(text).strip()), col_span=spans[r][c], header=r < heads)
        for r, row in enumerate(rows)
        for c, text in sorted(row.items())
    )
    return Table(rows=len(rows), cols=len(starts), cells=cells)


def _columns(line: str, starts: Sequence[int]) -> list[tuple[int, int, str]]:
    """What a line says in each column: where, over how many columns, the words. Text over a gap spans it."""
    found: list[tuple[int, int, str]] = []
    col = 0
    while col < len(starts):
        end = col + 1
        while end < len(starts) and line[starts[end] - 1 : starts[end]].strip():
            end += 1
        found.append((col, end - col, line[starts[col] : starts[end] if end < len(starts) else None].strip()))
        col = end
    return found


def list_table(lines: Sequence[str], options: Mapping[str, str], words: Words) -> Table | None:
    """A list of rows, each a list of cells; None when it is none."""
    rows: list[list[list[str]]] = []
    for written in lines:
        line = written
        if (row := re.match(r"[*+-](?= |$)", line)) is not None:
            rows.append([])
            line = f" {line[row.end() :]}"
        if not rows:
            if line.strip():
                return None
            continue
        if (cell := re.match(r" {1,3}[*+-](?: |$)", line)) is not None:
            rows[-1].append([line[cell.end() :]])
        elif rows[-1]:
            rows[-1][-1].append(line.strip())
        elif line.strip():
            rows[-1].append([line.strip()])
    heads = _count(options.get("header-rows", ""))
    return grid([[words("\n".join(cell).strip()) for cell in row] for row in rows], heads) if rows else None


def csv_table(lines: Sequence[str], options: Mapping[str, str], words: Words) -> Table | None:
    """Comma-separated rows under the header that an option gives; None when it is none."""
    said = options.get("delim", ",")
    delimiter = DELIMITERS.get(said, said)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        return None
    try:
        body = [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
        head = list(csv.reader(options.get("header", "").split("\n"), delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return None
    rows = [row for row in head if row]
    heads = len(rows) + _count(options.get("header-rows", ""))
    return grid([[words(cell) for cell in row] for row in [*rows, *body]], heads) if body else None


def _count(said: str) -> int:
    return int(said) if re.fullmatch(r"\d{1,3}", said.strip()) else 0
