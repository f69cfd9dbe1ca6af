"""Splits blocks into pieces: whole where they fit, else at the best border inside."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from upwell.chunk.code_lines import closes, indent, opened, signature_length
from upwell.chunk.columns import Columns, cells_of, column_names
from upwell.chunk.measure import Measure
from upwell.chunk.pieces import Border, Piece
from upwell.chunk.policy import ChunkPolicy
from upwell.chunk.ranges import LINE_END, SENTENCE_END, WORD_END, Range, lines_of, ranges, slices
from upwell.records import Block, Kind

WHOLE = frozenset({Kind.TABLE, Kind.CODE, Kind.TITLE, Kind.HEADING})
LEAD_SHARE = 3  # of a chunk, the most that lines may take which are said again in each
HEADER_SHARE = 2  # the same for a header that names columns


def split_block(number: int, block: Block, measure: Measure, policy: ChunkPolicy, room: int) -> Iterator[Piece]:
    """The pieces of a block, in order, covering each of its characters that is not white space.

    `room` is what is left in a chunk that already holds what the block is bound to.
    """
    weight = measure.weight(number, 0, len(block.text))
    if weight <= min(room, policy.whole_tokens if block.kind in WHOLE else policy.most_tokens):
        tokens = measure.tokens(number, 0, len(block.text))
        border = Border.ITEM if block.kind is Kind.LIST_ITEM else Border.BLOCK
        yield Piece(block=number, start=0, end=len(block.text), tokens=tokens, weight=weight, border=border)
        return
    # A row or a line that fits beside its header or signature is not cut, whatever that leaves of the usual size.
    most = policy.whole_tokens if block.kind in WHOLE else policy.most_tokens
    splitter = _Splitter(number, block.text, measure, min(most, room))
    if block.kind is Kind.TABLE:
        header_rows = _header_rows(block)
        yield from splitter.rows(max(header_rows, 1), named=header_rows > 0)
    elif block.kind is Kind.CODE:
        yield from splitter.code()
    else:
        yield from splitter.prose()


def _header_rows(block: Block) -> int:
    table = block.table
    if table is None or block.text.count("\n") + 1 != table.rows:
        return 0
    # A row that only begins with a header of its own is no header of the others.
    headers = {cell.row for cell in table.cells if cell.header} - {cell.row for cell in table.cells if not cell.header}
    rows = 0
    while rows in headers and rows < table.rows - 1:
        rows += 1
    return rows


class _Splitter:
    """One block, cut by what it is: prose by sentences, a table by rows, code by lines. `most`: weight of a piece."""

    def __init__(self, number: int, text: str, measure: Measure, most: int) -> None:
        self.number, self.text, self.measure, self.most = number, text, measure, most
        self.lead, self.lead_tokens = "", 0

    def prose(self) -> Iterator[Piece]:
        yield from self._first_as_block(self._fit(0, len(self.text), Border.SENTENCE))

    def rows(self, header_rows: int, *, named: bool) -> Iterator[Piece]:
        """Rows; each knows the header, and the header is bound to the first of them.

        A row that does not fit below the header is cut between its cells, where the header says what they are.
        """
        lines = lines_of(self.text)
        head, body = lines[:header_rows], lines[header_rows:]
        yield from self._first_as_block(p for a, b in head for p in self._fit(a, b, Border.BOUND))
        if head:
            self._set_lead(head[0][0], head[-1][1], HEADER_SHARE if named else LEAD_SHARE)
        names = column_names(self.text, head) if named else []
        columns = Columns(self.text, names, self.measure.weigh, self.most // 2) if len(names) > 1 else None
        cut = False
        for i, (a, b) in enumerate(body):
            fits = self.lead and self.measure.weight(self.number, a, b) <= self.most - self.lead_tokens
            cells = [] if fits or columns is None else cells_of(self.text, a, b)
            if columns is not None and 1 < len(cells) <= len(names):
                yield from self._columns(cells, columns, bound=bool(self.lead) and i == 0)
                cut = True
                continue
            for piece in self._fit(a, b, Border.ROW if i or not self.lead else Border.BOUND):
                yield replace(piece, apart=True) if cut else piece
                cut = False

    def _columns(self, cells: Sequence[Range], columns: Columns, *, bound: bool) -> Iterator[Piece]:
        """The parts of a row, each apart; the first may be `bound` to the header. A bar is of the cell after it."""
        before = self.lead, self.lead_tokens
        weights = [self.measure.weight(self.number, a, b) for a, b in cells]
        starts = [cells[0][0], *(end + 1 for _, end in cells[:-1])]
        for i, j in columns.groups(weights):
            self.lead = columns.lead(cells[0], weights[0], (i, j), inside=False)
            self.lead_tokens = self.measure.count(self.lead)
            place, first = (i, False), True
            border = Border.BOUND if bound else Border.ROW
            for piece in self._fit(starts[i], cells[j - 1][1], border):
                if piece.start == piece.end:
                    continue
                column = bisect_right(starts, piece.start) - 1
                if place != (place := (column, piece.start > starts[column])) and not first:
                    self.lead = columns.lead(cells[0], weights[0], (column, j), inside=place[1])
                    self.lead_tokens = self.measure.count(self.lead)
                yield replace(piece, lead=self.lead, lead_tokens=self.lead_tokens, apart=first and not bound)
                first = bound = False
        self.lead, self.lead_tokens = before

    def code(self) -> Iterator[Piece]:
        """Lines. The best border is a blank line before a statement of the outer level, the last one inside brackets.

        The lines up to the end of the signature are repeated above each later chunk.
        """
        lines = lines_of(self.text)
        signature = signature_length(self.text, lines)
        below = [self.text[a:b] for a, b in lines[max(signature, 1) :]]
        outer = min((indent(line) for line in below if not closes(line)), default=0)
        pieces: list[Piece] = []
        gap, depth = False, 0
        for number, (a, b) in enumerate(lines):
            line = self.text[a:b]
            if not line.strip():
                gap = True
                continue
            shallow = indent(line) <= outer and not closes(line)
            border = Border.ITEM if gap and shallow else Border.ROW if gap or shallow else Border.SENTENCE
            pieces.extend(self._fit(a, b, Border.WORD if depth > 0 or number < signature else border))
            gap, depth = False, max(0, depth + opened(line))
            if number == signature - 1:
                self._set_lead(lines[0][0], b)
        yield from self._first_as_block(pieces)

    def _set_lead(self, start: int, end: int, share: int = LEAD_SHARE) -> None:
        tokens = self.measure.tokens(self.number, start, end)
        if self.measure.weight(self.number, start, end) <= self.most // share:
            self.lead, self.lead_tokens = self.text[start:end].strip("\n") + "\n", tokens

    def _first_as_block(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        first = True
        for piece in pieces:
            yield replace(piece, border=Border.BLOCK) if first else piece
            first = False

    def _fit(self, start: int, end: int, border: Border) -> Iterator[Piece]:
        """[start, end) whole if it fits, else by sentences, words, characters; the first piece has `border`."""
        room = self.most - self.lead_tokens
        if self.measure.weight(self.number, start, end) <= room and border is not Border.SENTENCE:
            yield self._piece(start, end, border)
            return
        inner = border
        for a, b in ranges(SENTENCE_END, self.text, start, end):
            fits = self.measure.weight(self.number, a, b) <= room
            for c, d in [(a, b)] if fits else ranges(LINE_END, self.text, a, b):
                if fits or self.measure.weight(self.number, c, d) <= room:
                    yield self._piece(c, d, inner)
                else:
                    yield from self._words(c, d, inner, room)
                inner = Border.SENTENCE

    def _words(self, start: int, end: int, border: Border, room: int) -> Iterator[Piece]:
        for a, b in ranges(WORD_END, self.text, start, end):
            if self.measure.weight(self.number, a, b) <= room // 4:
                yield self._piece(a, b, border)
            else:
                yield from self._characters(a, b, border)
            border = Border.WORD

    def _characters(self, start: int, end: int, border: Border) -> Iterator[Piece]:
        for a, b in slices(self.text, start, end):
            # A cut word is other tokens than the whole one: count what the piece is by itself.
            tokens = max(1, self.measure.count(self.text[a:b]))
            yield self._piece(a, b, border, tokens)
            border = Border.CHARACTER

    def _piece(self, start: int, end: int, border: Border, tokens: int | None = None) -> Piece:
        weight = self.measure.weight(self.number, start, end)
        if tokens is None:
            tokens = self.measure.tokens(self.number, start, end)
        return Piece(
            block=self.number,
            start=start,
            end=end,
            tokens=tokens,
            weight=max(weight, tokens),
            border=border,
            lead=self.lead,
            lead_tokens=self.lead_tokens,
        )
