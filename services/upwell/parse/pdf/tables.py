"""Tables on a page: from ruling lines where they are drawn, else from rows whose pieces stand in columns."""

from collections.abc import Sequence

from upwell.parse.pdf.page import BBox, Page, Piece, union
from upwell.records import Cell, Record, Table

NEAR_POINTS = 3.0
LEAST_ROWS, LEAST_COLS = 2, 2
LEAST_ALIGNED_ROWS = 3
LONG_CELL_CHARACTERS = 60
ROW_OVERLAP = 0.5


class FoundTable(Record, frozen=True, kw_only=True):
    """A table, where it stands, and the pieces that it took."""

    table: Table
    bbox: BBox
    pieces: frozenset[int]


def find_tables(page: Page) -> list[FoundTable]:
    """Ruled tables first; aligned ones among the pieces that are left."""
    found = _ruled(page)
    taken = frozenset().union(*(table.pieces for table in found))
    return [*found, *_aligned(page, taken)]


def _ruled(page: Page) -> list[FoundTable]:
    found: list[FoundTable] = []
    for horizontal, vertical in _components(page.horizontal, page.vertical):
        ys = _positions([(rule[1] + rule[3]) / 2 for rule in horizontal])
        xs = _positions([(rule[0] + rule[2]) / 2 for rule in vertical])
        if len(ys) <= LEAST_ROWS or len(xs) <= LEAST_COLS:
            continue
        table = _grid(page, xs, ys, horizontal, vertical)
        if table is not None:
            found.append(table)
    return found


def _components(horizontal: Sequence[BBox], vertical: Sequence[BBox]) -> list[tuple[list[BBox], list[BBox]]]:
    """Rules that touch, together; a table's rules do."""
    rules = [*horizontal, *vertical]
    parent = list(range(len(rules)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    order = sorted(range(len(rules)), key=lambda i: rules[i][1])
    active: list[int] = []
    for i in order:
        active = [k for k in active if rules[k][3] + NEAR_POINTS >= rules[i][1]]
        for k in active:
            if rules[k][0] - NEAR_POINTS <= rules[i][2] and rules[i][0] - NEAR_POINTS <= rules[k][2]:
                parent[root(i)] = root(k)
        active.append(i)
    groups: dict[int, tuple[list[BBox], list[BBox]]] = {}
    for i, rule in enumerate(rules):
        groups.setdefault(root(i), ([], []))[0 if i < len(horizontal) else 1].append(rule)
    return list(groups.values())


def _positions(values: Sequence[float]) -> list[float]:
    positions: list[float] = []
    for value in sorted(values):
        if not positions or value - positions[-1] > NEAR_POINTS:
            positions.append(value)
    return positions


def _grid(
    page: Page, xs: list[float], ys: list[float], horizontal: list[BBox], vertical: list[BBox]
) -> FoundTable | None:
    """Cells between the rules; where no rule parts two neighbours they are one."""
    rows, cols = len(ys) - 1, len(xs) - 1
    owner = [[(r, c) for c in range(cols)] for r in range(rows)]
    for r in range(rows):
        for c in range(1, cols):
            if not _crossed(vertical, xs[c], ys[r], ys[r + 1], upright=True):
                owner[r][c] = owner[r][c - 1]
    for r in range(1, rows):
        for c in range(cols):
            if not _crossed(horizontal, ys[r], xs[c], xs[c + 1], upright=False) and owner[r][c] == (r, c):
                owner[r][c] = owner[r - 1][c]
    texts: dict[tuple[int, int], list[Piece]] = {}
    taken: set[int] = set()
    for i, piece in enumerate(page.pieces):
        x, y = (piece.bbox[0] + piece.bbox[2]) / 2, (piece.bbox[1] + piece.bbox[3]) / 2
        if xs[0] <= x <= xs[-1] and ys[0] <= y <= ys[-1]:
            r = max(k for k in range(rows) if ys[k] <= y)
            c = max(k for k in range(cols) if xs[k] <= x)
            texts.setdefault(owner[r][c], []).append(piece)
            taken.add(i)
    if len(texts) < LEAST_ROWS * LEAST_COLS:
        return None
    cells = tuple(
        Cell(
            row=r,
            col=c,
            text=_words(texts.get((r, c), [])),
            row_span=max(k for k in range(rows) if (r, c) in owner[k]) - r + 1,
            col_span=sum(o == (r, c) for o in owner[r]),
            header=r == 0,
        )
        for r in range(rows)
        for c in range(cols)
        if owner[r][c] == (r, c)
    )
    box = (round(xs[0], 2), round(ys[0], 2), round(xs[-1], 2), round(ys[-1], 2))
    return FoundTable(table=Table(rows=rows, cols=cols, cells=cells), bbox=box, pieces=frozenset(taken))


def _crossed(rules: list[BBox], at: float, start: float, end: float, *, upright: bool) -> bool:
    """Whether a rule at `at` covers most of [start, end]."""
    middle = (start + end) / 2
    for rule in rules:
        across = (rule[0] + rule[2]) / 2 if upright else (rule[1] + rule[3]) / 2
        low, high = (rule[1], rule[3]) if upright else (rule[0], rule[2])
        if abs(across - at) <= NEAR_POINTS and low - NEAR_POINTS <= middle <= high + NEAR_POINTS:
            return True
    return False


def _words(pieces: list[Piece]) -> str:
    ordered = sorted(pieces, key=lambda p: (round(p.bbox[1] / max(p.size, 1.0)), p.bbox[0]))
    return " ".join(" ".join(piece.text.split()) for piece in ordered)


def _aligned(page: Page, taken: frozenset[int]) -> list[FoundTable]:
    """Runs of rows of three or more short pieces; their columns are what the pieces' boxes leave free between."""
    rows = rows_of([(i, p) for i, p in enumerate(page.pieces) if i not in taken])
    found: list[FoundTable] = []
    run: list[list[tuple[int, Piece]]] = []
    for row in [*rows, []]:
        short = all(len(piece.text) <= LONG_CELL_CHARACTERS for _, piece in row)
        near = not run or not row or row[0][1].bbox[1] - run[-1][0][1].bbox[3] <= 2.5 * row[0][1].size
        if len(row) > LEAST_COLS and short and near:
            run.append(row)
            continue
        if len(run) >= LEAST_ALIGNED_ROWS and (table := _columns(run)):
            found.append(table)
        run = [row] if len(row) > LEAST_COLS and short else []
    return found


def _columns(run: list[list[tuple[int, Piece]]]) -> FoundTable | None:
    spans: list[list[float]] = []
    for low, high in sorted((piece.bbox[0], piece.bbox[2]) for row in run for _, piece in row):
        if spans and low <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], high)
        else:
            spans.append([low, high])
    cols = len(spans)
    if cols <= LEAST_COLS:
        return None
    texts: dict[tuple[int, int], list[Piece]] = {}
    for r, row in enumerate(run):
        for _, piece in row:
            column = max(k for k in range(cols) if spans[k][0] <= piece.bbox[0] + 0.01)
            texts.setdefault((r, column), []).append(piece)
    cells = tuple(Cell(row=r, col=c, text=_words(pieces), header=r == 0) for (r, c), pieces in sorted(texts.items()))
    return FoundTable(
        table=Table(rows=len(run), cols=cols, cells=cells),
        bbox=union([piece.bbox for row in run for _, piece in row]),
        pieces=frozenset(i for row in run for i, _ in row),
    )


def rows_of(pieces: Sequence[tuple[int, Piece]]) -> list[list[tuple[int, Piece]]]:
    """Pieces that stand on one line, left to right; lines from the top."""
    rows: list[list[tuple[int, Piece]]] = []
    for i, piece in sorted(pieces, key=lambda p: (p[1].bbox[1] + p[1].bbox[3]) / 2):
        last = rows[-1][0][1] if rows else None
        middle = (piece.bbox[1] + piece.bbox[3]) / 2
        if last is not None and abs(middle - (last.bbox[1] + last.bbox[3]) / 2) <= ROW_OVERLAP * min(
            last.size, piece.size
        ):
            rows[-1].append((i, piece))
        else:
            rows.append([(i, piece)])
    return [sorted(row, key=lambda p: p[1].bbox[0]) for row in rows]
