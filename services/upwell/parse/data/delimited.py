"""CSV and its kin: one table, its delimiter found by which one parts the lines alike; lines above it are words."""

import csv
import io
import re
from statistics import mode

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline, grid
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "delimited/3"
DELIMITERS = ("\t", ";", "|", ",")
DECLARED = re.compile(r"sep=(.)", re.IGNORECASE)
FIGURE = re.compile(r"[-+$€£]?\d[\d.,:/ -]*%?")
YEAR = re.compile(r"(?:19|20)\d\d")
LONGEST_FIGURE = 40
STEADY = 0.95
SAMPLE_LINES = 50
MOST_PREAMBLE = 20
MOST_CELLS = 1_000_000


def parse_delimited(text: str, limits: Limits) -> ParsedDocument:
    """The lines as a table, the first its header; title lines above that are paragraphs. Raises Unparsable."""
    csv.field_size_limit(limits.characters)
    rows: list[list[str]] = []
    cells = 0
    delimiter = find_delimiter(text)
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True):
            cells += len(row)
            if cells > MOST_CELLS:
                raise too_large(f"over {MOST_CELLS} cells")
            if any(cell.strip() for cell in row) and not (not rows and DECLARED.fullmatch(delimiter.join(row))):
                rows.append(row)
    except csv.Error as e:
        raise corrupt(f"not a table: {e}") from e
    outline = Outline(limits.characters)
    begins = _preamble(rows)
    for row in rows[:begins]:
        outline.add(Kind.PARAGRAPH, f"{delimiter} ".join(" ".join(cell.split()) for cell in row if cell.strip()))
    if rows:
        outline.table(grid(rows[begins:], _header_rows(rows[begins:])))
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=PARSER)


def find_delimiter(text: str) -> str:
    """The delimiter that gives the most columns in the most lines of the beginning; the comma when none does."""
    lines = [line for line in text[: 64 * 1024].split("\n")[:SAMPLE_LINES] if line.strip()]
    if lines and (said := DECLARED.fullmatch(lines[0])) is not None:
        return said.group(1)
    best, score = ",", 0.0
    for delimiter in DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        usual = mode(counts) if counts else 1
        share = counts.count(usual) / len(counts) if counts else 0.0
        if usual < 2:
            continue
        if delimiter != "," and share >= STEADY:
            return delimiter  # a comma may be of the numbers; these seldom are of the words
        if share * min(usual, 3) > score:
            best, score = delimiter, share * min(usual, 3)
    return best


def _preamble(rows: list[list[str]]) -> int:
    """How many rows stand above the header: those that fill at most half of the columns, from the first on, before one
    that fills all but one and has another below it. Groups of columns are named with gaps: they are of the table.
    """
    usual = mode(map(len, rows[:SAMPLE_LINES])) if rows else 0
    if usual < 2:
        return 0
    for at, row in enumerate(rows[: MOST_PREAMBLE + 1]):
        filled = sum(bool(cell.strip()) for cell in row)
        if filled >= max(2, usual - 1):
            return at if at + 1 < len(rows) else 0
        if filled > max(1, usual // 2) or not all(cell.strip() for cell in row[:filled]):
            return 0
    return 0


def _header_rows(rows: list[list[str]]) -> int:
    """1, or 0 where the first row has figures like those below it, years apart: then there is no header."""
    if len(rows) < 2:
        return 1
    pairs = zip(rows[0], rows[1], strict=False)
    return 0 if any(_is_figure(a) and _is_figure(b) and not YEAR.fullmatch(a.strip()) for a, b in pairs) else 1


def _is_figure(cell: str) -> bool:
    return len(cell) < LONGEST_FIGURE and FIGURE.fullmatch(cell.strip()) is not None
