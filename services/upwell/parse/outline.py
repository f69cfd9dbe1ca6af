"""Builds blocks in reading order and keeps, for each, the headings above it."""

from msgspec.structs import replace

from upwell.parse.failures import too_large
from upwell.records import LONGEST_IN_PATH, Block, Cell, Kind, Table

BBox = tuple[float, float, float, float]
MAX_LINKS = 50
BAR = " | "
MOST_GROWTH = 4  # times the text of a table's cells that repeated cells or empty places may add
FREE_GROWTH = 10_000  # characters that they may add to any table
BLOCK_COST = 20  # characters that a block counts for beyond its own: a million of one letter each is much, too


class Outline:
    """The blocks of a document as an adapter finds them.

    Raises `too_large` past `characters`, of which each block takes some beyond its own.
    """

    def __init__(self, characters: int) -> None:
        self.blocks: list[Block] = []
        self._left = characters
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above what comes next, outermost first."""
        return tuple(text for _, text in self._open)

    def heading(
        self,
        text: str,
        level: int,
        *,
        page: int | None = None,
        bbox: BBox | None = None,
        confidence: float | None = None,
    ) -> None:
        """A heading of `level` (1 the highest); it closes those of its level and below. An empty one is ignored."""
        text = " ".join(text.split())
        if not text:
            return
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._append(
            Block(
                kind=Kind.HEADING,
                text=text,
                level=level,
                heading_path=self.path,
                page=page,
                bbox=bbox,
                confidence=confidence,
            )
        )
        self._open.append((level, text[:LONGEST_IN_PATH]))

    def close_headings(self) -> None:
        """What comes next stands under no heading: a slide without a title is no part of the one before."""
        self._open.clear()

    def title(
        self, text: str, *, page: int | None = None, bbox: BBox | None = None, confidence: float | None = None
    ) -> None:
        """The document's own title as a block; it stands above all headings and is not in their paths."""
        text = " ".join(text.split())
        if text:
            self._append(Block(kind=Kind.TITLE, text=text, page=page, bbox=bbox, confidence=confidence))

    def add(
        self,
        kind: Kind,
        text: str,
        *,
        level: int | None = None,
        page: int | None = None,
        bbox: BBox | None = None,
        links: tuple[str, ...] = (),
        language: str | None = None,
        left_out: str | None = None,
        confidence: float | None = None,
    ) -> None:
        """Any other block; one without text is kept only if it is a figure."""
        text = text.strip("\n") if kind is Kind.CODE else text.strip()
        if not text.strip() and kind is not Kind.FIGURE:
            return
        self._append(
            Block(
                kind=kind,
                text=text,
                level=level,
                heading_path=self.path,
                page=page,
                bbox=bbox,
                links=links[:MAX_LINKS],
                language=language,
                left_out=left_out,
                confidence=confidence,
            )
        )

    def extend(self, text: str) -> None:
        """Give the last block another line."""
        last = self.blocks.pop()
        self._left += len(last.text) + BLOCK_COST
        self._append(replace(last, text=f"{last.text}\n{text}"))

    def table(
        self, table: Table, *, page: int | None = None, bbox: BBox | None = None, links: tuple[str, ...] = ()
    ) -> None:
        """A table; its text is one line a row. A table without text is ignored."""
        text = table_text(table)
        if len(text) + BLOCK_COST > self._left:
            text = table_text(table, spread=False)
        if text.strip(" |\n"):
            self._append(
                Block(
                    kind=Kind.TABLE,
                    text=text,
                    heading_path=self.path,
                    page=page,
                    bbox=bbox,
                    table=table,
                    links=links[:MAX_LINKS],
                )
            )

    def take(self, block: Block) -> None:
        """A block that another parser made, under the headings that are open here."""
        if block.kind is Kind.HEADING:
            self.heading(block.text, block.level or 1, page=block.page, bbox=block.bbox)
        else:
            self._append(replace(block, heading_path=self.path))

    def code(self, block: Block) -> None:
        """A block of code that knows its own path of names; its indentation is kept, blank lines around it are not."""
        text = block.text.strip("\n").rstrip()
        if text.strip():
            self._append(replace(block, text=text))

    def _append(self, block: Block) -> None:
        if not _is_utf8(block.text):
            block = replace(block, text=block.text.encode("utf-8", "replace").decode())
        self._left -= len(block.text) + BLOCK_COST
        if self._left < 0:
            raise too_large("more text than a document may hold")
        self.blocks.append(block)


def _is_utf8(text: str) -> bool:
    """Half surrogates (JSON can hold them) are no characters and cannot cross a process."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def grid(rows: list[list[str]], header_rows: int = 1) -> Table:
    """A table of plain rows, ragged ones padded; the first `header_rows` are its header."""
    cols = max((len(row) for row in rows), default=0)
    cells = tuple(
        Cell(row=r, col=c, text=" ".join(text.split()), header=r < header_rows)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    )
    return Table(rows=len(rows), cols=cols, cells=cells)


def table_text(table: Table, *, spread: bool = True) -> str:
    """One line a row, cells joined by ` | `, each below its column's name.

    A cell that spans rows stands in each of them, one that spans columns at its first. Without `spread`, or where that
    would make far more text than the cells have, each cell stands once and the places of none are left out.
    """
    own = [(cell.row, cell.col, " ".join(cell.text.split())) for cell in table.cells if cell.row < table.rows]
    most = MOST_GROWTH * sum(len(text) + len(BAR) for _, _, text in own) + FREE_GROWTH
    places = [(row, col, False, text) for row, col, text in own]
    spread = spread and _places(own) * len(BAR) <= most
    if spread and _repeated(table) <= most:
        places += [
            (row, cell.col, True, " ".join(cell.text.split()))
            for cell in table.cells
            for row in range(cell.row + 1, min(cell.row + cell.row_span, table.rows))
        ]
    lines: list[list[str]] = [[] for _ in range(table.rows)]
    for row, col, again, text in sorted(places, key=lambda place: place[:3]):
        line = lines[row]
        if spread:
            line.extend([""] * (col - len(line)))
        if not again or col == len(line):
            line.append(text)
    return "\n".join(BAR.join(line) for line in lines)


def _places(cells: list[tuple[int, int, str]]) -> int:
    """How many places the rows have, each up to its last cell."""
    last: dict[int, int] = {}
    for row, col, _ in cells:
        last[row] = max(last.get(row, 0), col + 1)
    return sum(last.values())


def _repeated(table: Table) -> int:
    """The characters that cells of several rows take in all rows but their first."""
    return sum(
        (min(cell.row_span, table.rows - cell.row) - 1) * (len(cell.text) + (cell.col + 1) * len(BAR))
        for cell in table.cells
        if cell.row < table.rows and cell.row_span > 1
    )
