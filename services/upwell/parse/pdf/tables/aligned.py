"""Tables that only whitespace makes: runs of lines whose segments stand below each other."""

from collections.abc import Sequence

from upwell.parse.pdf.page import BBox, union
from upwell.parse.pdf.tables.build import FoundTable, Region, build
from upwell.parse.pdf.tables.columns import Column, find_columns
from upwell.parse.pdf.tables.likely import CAPTION, aligned_likely, doubtful
from upwell.parse.pdf.tables.looks import Looks, looks_so
from upwell.parse.pdf.tables.prose import without_prose
from upwell.parse.pdf.tables.ruled import Remaining, is_drawing
from upwell.parse.pdf.tables.rules import Rules
from upwell.parse.pdf.tables.words import Line, Word, line_box, lines_of

GAP_SHARE = 1.0
FARTHEST_SIZES, FARTHEST_HEADER_SIZES = 3.0, 1.5
EDGE_POINTS = 3.0
HEADING_SHARE = 1.14
MOST_SINGLE = 2
LEAST_LINES = 3
SEVERAL_SHARE = 0.4


def aligned_tables(
    rules: Rules, left: Remaining, drawn: Sequence[BBox] = (), look: Looks | None = None
) -> list[FoundTable]:
    """Tables among the words that are left; those are taken. Labels among what is `drawn` are none.

    Where the words leave a doubt, `look` is asked what the page looks like.
    """
    found: list[FoundTable] = []
    words = _without_code(without_prose(left.words), left.words)
    for run in _runs(lines_of(words, GAP_SHARE)):
        table = _table(run, rules)
        if table is not None and not is_drawing(table.bbox, drawn) and _is_one(table, look):
            found.append(table)
            left.take([word for line in run for segment in line for word in segment.words])
    return found


def _is_one(table: FoundTable, look: Looks | None) -> bool:
    """What the cells say; in doubt, what the page looks like."""
    sure = aligned_likely(table.table)
    if look is None or not doubtful(table.table, sure=sure):
        return sure
    return looks_so(table.bbox, look(), otherwise=sure)


def _without_code(words: Sequence[Word], on_page: Sequence[Word]) -> Sequence[Word]:
    """The words without those of fixed pitch, where these are not the letters of most of the page."""
    if 2 * sum(word.mono for word in on_page) > len(on_page):
        return words
    return [word for word in words if not word.mono]


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines near each other of which most have several segments; a few with one may stand between."""
    runs: list[list[Line]] = []
    run: list[Line] = []
    for line in [*lines, []]:
        if line and (not run or _near(run[-1], line)) and not _ends(line, run):
            run.append(line)
            continue
        runs.append(run)
        run = [line] if line else []
    return [trimmed for r in runs if len(trimmed := _trimmed(r)) >= LEAST_LINES]


def _near(above: Line, below: Line) -> bool:
    a, b = line_box(above), line_box(below)
    return b[1] - a[3] <= FARTHEST_SIZES * min(below[0].size, above[0].size)


def _ends(line: Line, run: Sequence[Line]) -> bool:
    """Whether the line is no part of a table: a caption, a heading, or one more of single segments."""
    if len(line) == 1 and (CAPTION.match(line[0].text) or _heads(line, run)):
        return True
    return len(line) == 1 and len(run) >= MOST_SINGLE and all(len(r) == 1 for r in run[-MOST_SINGLE:])


def _heads(line: Line, run: Sequence[Line]) -> bool:
    """Whether a line alone is in larger letters than all of a table's rows above it."""
    rows = [segment.size for above in run if len(above) > 1 for segment in above]
    return bool(rows) and line[0].size > HEADING_SHARE * max(rows)


def _trimmed(run: list[Line]) -> list[Line]:
    several = [i for i, line in enumerate(run) if len(line) > 1]
    if len(several) < LEAST_LINES - 1:
        return []
    first, last = several[0], several[-1]
    if len(several) < SEVERAL_SHARE * (last + 1 - first):
        return []
    core = find_columns(run[first : last + 1])
    while first > 0 and core and _over_later(run[first - 1], core) and _close(run[first - 1], run[first]):
        first -= 1
    while last + 1 < len(run) and core and _over_later(run[last + 1], core) and _tight(run[last], run[last + 1]):
        last += 1
    return run[first : last + 1]


def _over_later(line: Line, columns: Sequence[Column]) -> bool:
    """Whether a line of one segment begins right of the first column: a heading over some, or text that goes on."""
    return line[0].left > columns[0].right


def _close(above: Line, below: Line) -> bool:
    return line_box(below)[1] - line_box(above)[3] <= FARTHEST_HEADER_SIZES * below[0].size


def _tight(above: Line, below: Line) -> bool:
    return line_box(below)[1] - line_box(above)[3] <= 0.8 * below[0].size


def _table(run: Sequence[Line], rules: Rules) -> FoundTable | None:
    words = tuple(w for line in run for s in line for w in s.words)
    box = union([w.bbox for w in words])
    box = (box[0] - EDGE_POINTS, box[1] - EDGE_POINTS, box[2] + EDGE_POINTS, box[3] + EDGE_POINTS)
    inner = rules.inside(box)
    return build(Region(words=words, horizontal=tuple(inner.horizontal), vertical=(), bbox=box))
