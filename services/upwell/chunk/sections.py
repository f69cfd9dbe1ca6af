"""Parts a document's blocks into sections (a heading and what is under it) and into what is left out, with reasons."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from upwell.chunk.measure import Measure
from upwell.chunk.pieces import Border, Piece
from upwell.chunk.policy import ChunkPolicy
from upwell.chunk.split import split_block
from upwell.records import Block, Kind, Record

HEADINGS = frozenset({Kind.TITLE, Kind.HEADING})
INTRODUCED = frozenset({Kind.LIST_ITEM, Kind.CODE, Kind.TABLE, Kind.FIGURE, Kind.FORMULA, Kind.QUOTE})
CAPTIONED = frozenset({Kind.TABLE, Kind.FIGURE, Kind.CODE, Kind.FORMULA})
CONTENTS = re.compile(r"(?:table of )?contents|on this page|inhalt(?:sverzeichnis)?|sommaire|目录|目次", re.IGNORECASE)
# Tried once from each run's first dot: a text may be a million dots.
DOT_LEADER = re.compile(r"(?<!\.)(?<!\.\s)\.(?:\s?\.){3,}+\s*+\d+")
ENTRY_CHARACTERS = 150


class Section(Record, frozen=True, kw_only=True):
    """Pieces of one section in order, its headings first."""

    pieces: tuple[Piece, ...]


def left_out(blocks: Sequence[Block]) -> dict[int, str]:
    """Numbers of the blocks that go into no chunk, and why."""
    out = {i: b.left_out or "page_furniture" for i, b in enumerate(blocks) if b.kind is Kind.PAGE_FURNITURE}
    for i, block in enumerate(blocks):
        if block.kind in HEADINGS and CONTENTS.fullmatch(block.text.strip(" :")):
            entries = _entries(blocks, i + 1)
            if entries and all(_points_inside(blocks[k]) for k in entries):
                out.update(dict.fromkeys((i, *entries), "table_of_contents"))
        elif _has_leaders(block.text) and block.kind in {Kind.PARAGRAPH, Kind.LIST_ITEM}:
            out[i] = "table_of_contents"
    return out


def _entries(blocks: Sequence[Block], start: int) -> list[int]:
    end = start
    while end < len(blocks) and (
        blocks[end].kind is Kind.LIST_ITEM or (blocks[end].kind is Kind.PARAGRAPH and _has_leaders(blocks[end].text))
    ):
        end += 1
    return list(range(start, end))


def _points_inside(block: Block) -> bool:
    return any(link.startswith("#") for link in block.links) or _has_leaders(block.text)


def _has_leaders(text: str) -> bool:
    """Whether it is nothing but entries like `Introduction .... 7`, one or more of them."""
    ends = [found.end() for found in DOT_LEADER.finditer(text)]
    return bool(ends) and not text[ends[-1] :].strip() and len(text) <= ENTRY_CHARACTERS * len(ends)


def sections(blocks: Sequence[Block], out: dict[int, str], measure: Measure, policy: ChunkPolicy) -> list[Section]:
    """The sections of the blocks that stay. A heading without content joins what follows; the last, what precedes."""
    builder = _Builder(measure, policy)
    before: Block | None = None
    for number, block in enumerate(blocks):
        if number in out or not block.text.strip():
            continue
        elsewhere = before is not None and before.kind not in HEADINGS and before.heading_path != block.heading_path
        if builder.has_content and (block.kind in HEADINGS or elsewhere):
            builder.close()
            before = None
        builder.add(number, block, bound=before is not None and _belongs(before, block))
        before = block
    return builder.finish()


class _Builder:
    """The section being built, and the weight of the chain of bound pieces at its end."""

    def __init__(self, measure: Measure, policy: ChunkPolicy) -> None:
        self.measure, self.policy = measure, policy
        self.done: list[Section] = []
        self.pieces: list[Piece] = []
        self.has_content = False
        self.chain = 0

    def add(self, number: int, block: Block, *, bound: bool) -> None:
        room = self.policy.room_tokens - self.chain
        # What is bound to a chain that nearly fills a chunk could only be cut off it again.
        bound = bound and room >= self.policy.room_tokens // 2
        pieces = split_block(number, block, self.measure, self.policy, room if bound else self.policy.room_tokens)
        for i, piece in enumerate(pieces):
            self._append(replace(piece, border=Border.BOUND) if bound and i == 0 else piece)
        self.has_content = self.has_content or block.kind not in HEADINGS

    def close(self) -> None:
        self.done.append(Section(pieces=tuple(self.pieces)))
        self.pieces, self.has_content, self.chain = [], False, 0

    def finish(self) -> list[Section]:
        if self.pieces and (self.has_content or not self.done):
            self.close()
        elif self.pieces:
            last = self.done.pop()
            self.done.append(Section(pieces=(*last.pieces, *map(_bound, self.pieces))))
        return self.done

    def _append(self, piece: Piece) -> None:
        self.chain = piece.weight + (self.chain if piece.border is Border.BOUND else 0)
        self.pieces.append(piece)


def _bound(piece: Piece) -> Piece:
    # A word that was cut stays marked: its tokens are not the sum of its pieces' tokens.
    return piece if piece.border is Border.CHARACTER else replace(piece, border=Border.BOUND)


def _belongs(before: Block, block: Block) -> bool:
    """Whether a cut between the two would part what is read together."""
    if before.kind in HEADINGS:
        return True
    if before.kind is Kind.CAPTION:
        return block.kind in CAPTIONED
    if block.kind is Kind.CAPTION:
        return before.kind in CAPTIONED
    return block.kind in INTRODUCED and before.text.rstrip().endswith((":", "\uff1a"))
