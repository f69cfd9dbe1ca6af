"""Splits blocks into the pieces that are never cut further: whole where they fit, else at the best border inside."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from unicodedata import category, combining

from msgspec.structs import replace

from upwell.chunk.columns import Columns, cells_of, column_names
from upwell.chunk.measure import Measure
from upwell.chunk.policy import ChunkPolicy
from upwell.records import Block, Kind, Record


class Border(IntEnum):
    """How good a cut before a piece is. BOUND is cut only when nothing else brings a chunk under the limit."""

    BOUND = 0
    CHARACTER = 1
    WORD = 2
    SENTENCE = 3
    ROW = 4
    ITEM = 5
    BLOCK = 6


class Piece(Record, frozen=True, kw_only=True):
    """Characters [start, end) of a block. `lead` is what a chunk that begins with this piece repeats before it.

    A chunk always begins with a piece that is `apart`: the lead of none before it says what it is.
    """

    block: int
    start: int
    end: int
    tokens: int
    weight: int
    border: Border
    lead: str = ""
    lead_tokens: int = 0
    apart: bool = False


Range = tuple[int, int]
CLOSERS = "\"'\u2019\u201d\\)\\]\u00bb\u300d\u300f\uff09"
ENDS = ".!?\u061f\u06d4\u0964\u0965\u0589\u1362\u104b\u17d4\u0f0d\u2026"
# Latin, Greek, Arabic, Urdu, Devanagari, Armenian, Ethiopic, Burmese, Khmer, Tibetan ends stand before white space; the
# wide ones of Chinese and Japanese need none. Nothing is tried twice: a text may be a million full stops.
SENTENCE_END = re.compile(
    rf"(?:(?<![{ENDS}])[{ENDS}]++[{CLOSERS}]*+(?=\s)|[\u3002\uff01\uff1f\uff0e\uff61]++[{CLOSERS}]*+)\s*"
)
LINE_END = re.compile(r"\n\s*")
WORD_END = re.compile(r"\s+|[\u3001\uff0c\uff1b\uff1a]")
SIGNATURE = re.compile(r"[:{]\s*(?:#.*|//.*)?$")
SIGNATURE_LINES = 8
CLOSING = re.compile(r"[\s)\]};,]*+(?:end[\s;]*+)?")
BEFORE_SIGNATURE = ("@", "#", "//", "/*", "*", "[")
BRACKETS = re.compile(r"[()\[\]]")
WHOLE = frozenset({Kind.TABLE, Kind.CODE, Kind.TITLE, Kind.HEADING})
SLICE_CHARACTERS = 64
MARKS = 16
JOINER = "\u200d"
JOINED = frozenset({"Mn", "Mc", "Me", "Cf"})
STACKING = 9  # the combining class of signs that put the next letter below or beside the one before
VOWELS_BEFORE = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4")  # Thai, Lao: written first
VOWELS_AFTER = frozenset("\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3")
LEAD_SHARE = 3
HEADER_SHARE = 2


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
    def __init__(self, number: int, text: str, measure: Measure, most: int) -> None:
        self.number, self.text, self.measure, self.most = number, text, measure, most
        self.lead, self.lead_tokens = "", 0

    def prose(self) -> Iterator[Piece]:
        yield from self._first_as_block(self._fit(0, len(self.text), Border.SENTENCE))

    def rows(self, header_rows: int, *, named: bool) -> Iterator[Piece]:
        """Rows; each knows the header, and the header is bound to the first of them.

        A row that does not fit below the header is cut between its cells, where the header says what they are.
        """
        lines = _lines(self.text, 0, len(self.text))
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
        lines = _lines(self.text, 0, len(self.text))
        signature = self._signature(lines)
        below = [self.text[a:b] for a, b in lines[max(signature, 1) :]]
        outer = min((_indent(line) for line in below if not CLOSING.fullmatch(line)), default=0)
        pieces: list[Piece] = []
        gap, depth = False, 0
        for number, (a, b) in enumerate(lines):
            line = self.text[a:b]
            if not line.strip():
                gap = True
                continue
            shallow = _indent(line) <= outer and not CLOSING.fullmatch(line)
            border = Border.ITEM if gap and shallow else Border.ROW if gap or shallow else Border.SENTENCE
            pieces.extend(self._fit(a, b, Border.WORD if depth > 0 or number < signature else border))
            gap, depth = False, max(0, depth + _opened(line))
            if number == signature - 1:
                self._set_lead(lines[0][0], b)
        yield from self._first_as_block(pieces)

    def _signature(self, lines: list[Range]) -> int:
        """How many of the first lines are decorators and a signature; 0 if none begins here."""
        depth = 0
        for number, (a, b) in enumerate(lines[:SIGNATURE_LINES], start=1):
            line = self.text[a:b].strip()
            depth += _opened(line)
            if depth <= 0 and SIGNATURE.search(line):
                return number
            brace_follows = number < len(lines) and self.text[slice(*lines[number])].strip() == "{"
            if depth <= 0 and not line.startswith(BEFORE_SIGNATURE) and not brace_follows:
                return 0
        return 0

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
        for a, b in _ranges(SENTENCE_END, self.text, start, end):
            fits = self.measure.weight(self.number, a, b) <= room
            for c, d in [(a, b)] if fits else _ranges(LINE_END, self.text, a, b):
                if fits or self.measure.weight(self.number, c, d) <= room:
                    yield self._piece(c, d, inner)
                else:
                    yield from self._words(c, d, inner, room)
                inner = Border.SENTENCE

    def _words(self, start: int, end: int, border: Border, room: int) -> Iterator[Piece]:
        for a, b in _ranges(WORD_END, self.text, start, end):
            if self.measure.weight(self.number, a, b) <= room // 4:
                yield self._piece(a, b, border)
            else:
                yield from self._characters(a, b, border)
            border = Border.WORD

    def _characters(self, start: int, end: int, border: Border) -> Iterator[Piece]:
        for a, b in _slices(self.text, start, end):
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


def _ranges(ends: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Range]:
    """The ranges between the matches of `ends`, each without the white space around it."""
    at = start
    for found in ends.finditer(text, start, end):
        yield from _trimmed(text, at, found.end())
        at = found.end()
    yield from _trimmed(text, at, end)


def _slices(text: str, start: int, end: int) -> Iterator[Range]:
    """Ranges of 64 characters; accents and joined signs stay with what they belong to, at most 16 of them."""
    while start < end:
        stop = min(end, start + SLICE_CHARACTERS)
        last = min(end, stop + MARKS)
        while stop < last and _is_joined(text[stop - 1], text[stop]):
            stop += 1
        yield start, stop
        start = stop


def _is_joined(before: str, after: str) -> bool:
    """Whether a reader takes two characters for parts of one sign."""
    return (
        category(after) in JOINED
        or after in VOWELS_AFTER
        or before == JOINER
        or before in VOWELS_BEFORE
        or combining(before) == STACKING
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _opened(line: str) -> int:
    """How many more brackets the line opens than it closes; those in its strings count too, which seldom matters."""
    return sum(1 if bracket in "([" else -1 for bracket in BRACKETS.findall(line))


def _trimmed(text: str, start: int, end: int) -> Iterator[Range]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _lines(text: str, start: int, end: int) -> list[Range]:
    lines: list[Range] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        lines.append((start, stop))
        start = stop + 1
    return lines
