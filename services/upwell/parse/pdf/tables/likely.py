"""Whether rows and columns are a table at all, and no prose in columns, list, contents, form or drawing."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.tables.words import Line, is_figure, is_number
from upwell.records import Cell, Table

CAPTION = re.compile(
    r"(?:table|tab\.|figure|fig\.|exhibit|chart|tabelle|abbildung|tableau|tabla|tabela|tabella)\s*[A-Z]{0,3}[-.]?\d",
    re.IGNORECASE,
)
CONTINUED = re.compile(
    r"\bcont(?:inued|\b\.?|\u2019d|'d)|\bfortsetzung\b|\bsuite\b|\(suite\)|\bcontinuaci", re.IGNORECASE
)
MARKER = re.compile(
    r"[\u2022\u25cf\u25aa\u25e6\u2023\u2043\u2219\uf0b7\u00b7*\u2013-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{1,5})[.)]|\[\d{1,3}\]"
)
LIST_MARKER = re.compile(r"[\u2022\u25cf\u25aa\u25e6\u2023\u2043\u2219\uf0b7]|\[\d{1,3}\]")
COUNT = re.compile(r"[0-9]{1,2}")
EQUATION = re.compile(r"\(\d{1,3}(?:\.\d{1,3})*[a-z]?\)")
ROMAN = re.compile(r"[ivxlc]{1,6}", re.IGNORECASE)
LEADERS = re.compile(r"(?:\. ?){4,}|\u2026{2,}|_{4,}")
ADDRESS = re.compile(r"\S@\S")
SEVERAL_SHARE = 0.3
FEW_LINES = 8
PROSE_WORDS = 9
LONGEST_MEAN_CHARACTERS = 40
LEAST_FILLED = 0.4
LEAST_ROWS, LEAST_COUNTED, LONGEST_MARK = 3, 2, 2
LEAST_DOUBTFUL_CELLS = 6
ENOUGH_FIGURES = 0.6
MOST_LABELS = 0.5
MOST_LEADERS = 0.3
FLOWING_WORDS = 2.5
FLOWING = 0.3
FIGURES_OF_A_TABLE = 2
FIGURES_OF_A_BLOCK = 0.15


def tabular_lines(lines: Sequence[Line], width: float) -> bool:
    """Whether of lines between two rules enough have several segments, and few run like prose."""
    if CAPTION.match(lines[0][0].text):
        return False
    several = sum(len(line) > 1 for line in lines)
    prose = sum(len(s.words) >= PROSE_WORDS and s.right - s.left > 0.6 * width for line in lines for s in line)
    least = 1 if len(lines) <= FEW_LINES else SEVERAL_SHARE * len(lines)
    return several >= least and prose <= 0.25 * len(lines)


def likely(table: Table, *, drawn: bool) -> bool:
    """A drawn grid needs little more than its cells; what whitespace alone makes must look like a table."""
    filled = [cell for cell in table.cells if cell.text]
    if len(filled) < 4 or table.rows < 2:
        return False
    if drawn:
        share = sum(c.row_span * c.col_span for c in filled) / (table.rows * table.cols)
        return share >= 0.25 if table.rows * table.cols > 12 else share >= 0.4
    wide = sum((table.cols - 1) * c.row_span for c in filled if c.col_span == table.cols)
    share = (sum(c.row_span for c in filled) + wide) / (table.rows * table.cols)
    return share >= LEAST_FILLED and not _other(table, filled)


def aligned_likely(table: Table) -> bool:
    """Whether rows that only whitespace makes are a table: two columns of words alone are none."""
    if not likely(table, drawn=False) or _whole_rows(table) < LEAST_ROWS:
        return False
    return table.cols > 2 or bool(numeric_columns(table))


def doubtful(table: Table, *, sure: bool) -> bool:
    """Whether its cells leave a doubt: a table of whitespace without figures, or one that was just not taken."""
    filled = [cell for cell in table.cells if cell.text]
    if sure:
        return not numeric_columns(table)
    return len(filled) >= LEAST_DOUBTFUL_CELLS and _whole_rows(table) >= LEAST_ROWS and not _other(table, filled)


def _whole_rows(table: Table) -> int:
    """Rows with at least two cells that have text."""
    filled = Counter(c.row for c in table.cells if c.text)
    return sum(count > 1 for count in filled.values())


def numeric_columns(table: Table) -> list[int]:
    """Columns whose cells below the header are mostly numbers."""
    found = []
    for k in range(table.cols):
        texts = [c.text for c in table.cells if c.col == k and c.text and c.col_span == 1 and not c.header]
        if texts and sum(map(is_number, texts)) >= ENOUGH_FIGURES * len(texts):
            found.append(k)
    return found


def _other(table: Table, filled: Sequence[Cell]) -> bool:
    return (
        _list(table, filled)
        or _contents(table, filled)
        or _form(filled)
        or _addresses(table, filled)
        or _named_block(table, filled)
        or _equations(table, filled)
        or _prose(table, filled)
    )


def _list(table: Table, filled: Sequence[Cell]) -> bool:
    """A column of marks: the first of two, or bullets and numbers in brackets in any."""
    if _counted(table, filled):
        return True
    for k in range(table.cols):
        texts = [c.text for c in filled if c.col == k]
        mark = MARKER if table.cols == 2 and k == 0 else LIST_MARKER
        if texts and sum(bool(mark.fullmatch(t)) for t in texts) > MOST_LABELS * len(texts):
            return True
    return False


def _counted(table: Table, filled: Sequence[Cell]) -> bool:
    """Whether bare numbers count what stands in one other column, words all of it, without a name above them.

    Between may stand the marks of lists in the list.
    """
    first = [c.text for c in filled if c.col == 0]
    if len(first) < LEAST_COUNTED or not all(COUNT.fullmatch(t) for t in first):
        return False
    items = [c.text for c in filled if c.col > 0 and c.col + c.col_span == table.cols]
    marks = [c.text for c in filled if c.col > 0 and c.col + c.col_span < table.cols]
    if any(map(is_number, items)) or not all(len(t) <= LONGEST_MARK for t in marks):
        return False
    return all(int(b) == int(a) + 1 for a, b in pairwise(first))


def _equations(table: Table, filled: Sequence[Cell]) -> bool:
    last = [c.text for c in filled if c.col == table.cols - 1]
    return table.cols == 2 and bool(last) and sum(bool(EQUATION.fullmatch(t)) for t in last) > MOST_LABELS * len(last)


def _contents(table: Table, filled: Sequence[Cell]) -> bool:
    leaders = {(c.row, c.col) for c in filled if LEADERS.search(c.text)}
    if len(leaders) > MOST_LEADERS * table.rows:
        after = max(col for _, col in leaders)
        return sum(k > after for k in numeric_columns(table)) < FIGURES_OF_A_TABLE
    last = [c.text for c in filled if c.col == table.cols - 1]
    pages = [int(t) for t in last if t.isdecimal()]
    count = len(pages) + sum(bool(ROMAN.fullmatch(t)) for t in last)
    words = not any(is_figure(c.text) for c in filled if 0 < c.col < table.cols - 1)
    rising = all(a <= b for a, b in pairwise(pages))
    return table.cols <= 3 and words and count >= max(4, len(last)) and rising and len(set(pages)) > 2


def _form(filled: Sequence[Cell]) -> bool:
    first = [c.text for c in filled if c.col == 0]
    return bool(first) and sum(t.endswith(":") for t in first) > MOST_LABELS * len(first)


def _addresses(table: Table, filled: Sequence[Cell]) -> bool:
    found = sum(bool(ADDRESS.search(c.text)) for c in filled)
    return found > 1 and not any(is_figure(c.text) for c in filled) and table.rows <= 6


def _named_block(table: Table, filled: Sequence[Cell]) -> bool:
    """Words under a name with a colon, such as an address, beside other words; hardly a figure anywhere."""
    top = min(c.row for c in filled)
    named = {c.col for c in filled if c.row == top and c.text.endswith(":")}
    if any(c.col in named and c.row > top and c.text.endswith(":") for c in filled):
        return False
    some = 0 < len(named) < table.cols
    return some and sum(is_number(c.text) for c in filled) <= FIGURES_OF_A_BLOCK * len(filled)


def _prose(table: Table, filled: Sequence[Cell]) -> bool:
    """Columns of text lines: long cells, hardly a figure."""
    figures = sum(is_number(c.text) for c in filled)
    words = sum(len(c.text.split()) for c in filled)
    flows = sum(c.text[0].islower() for c in filled)
    if figures < 0.15 * len(filled) and words > FLOWING_WORDS * len(filled) and flows > FLOWING * len(filled):
        return True
    long = sum(len(c.text.split()) >= PROSE_WORDS or len(c.text) > 60 for c in filled)
    mean = sum(len(c.text) for c in filled) / len(filled)
    return figures < 0.15 * len(filled) and (
        long > 0.5 * len(filled) or (table.cols == 2 and mean > LONGEST_MEAN_CHARACTERS)
    )
