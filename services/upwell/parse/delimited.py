"""CSV and its kin: one table, its delimiter found by which one parts the lines alike."""

import csv
import io
from statistics import mode

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline, grid
from upwell.records import ParsedDocument, ParseStatus

PARSER = "delimited/1"
DELIMITERS = (",", ";", "\t", "|")
SAMPLE_LINES = 50
MOST_CELLS = 1_000_000


def parse_delimited(text: str, limits: Limits) -> ParsedDocument:
    """The lines as a table, the first its header. Raises Unparsable."""
    csv.field_size_limit(limits.characters)
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text), delimiter=find_delimiter(text), skipinitialspace=True):
            cells += len(row)
            if cells > MOST_CELLS:
                raise too_large(f"over {MOST_CELLS} cells")
            if any(cell.strip() for cell in row):
                rows.append(row)
    except csv.Error as e:
        raise corrupt(f"not a table: {e}") from e
    outline = Outline(limits.characters)
    if rows:
        outline.table(grid(rows))
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=PARSER)


def find_delimiter(text: str) -> str:
    """The delimiter that gives the most columns in the most lines of the beginning; the comma when none does."""
    lines = [line for line in text[: 64 * 1024].split("\n")[:SAMPLE_LINES] if line.strip()]
    best, score = ",", 0.0
    for delimiter in DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        usual = mode(counts) if counts else 1
        if usual > 1 and counts.count(usual) / len(counts) * min(usual, 3) > score:
            best, score = delimiter, counts.count(usual) / len(counts) * min(usual, 3)
    return best
