"""Turns a parsed document into chunks: its own words in reading order, with every character accounted for (L7)."""

from collections.abc import Sequence

from msgspec.structs import replace

from upwell.chunk.cuts import cut
from upwell.chunk.measure import SEPARATOR, Measure
from upwell.chunk.pieces import Border, Piece
from upwell.chunk.policy import ChunkPolicy
from upwell.chunk.sections import CAPTIONED, HEADINGS, Section, left_out, sections
from upwell.records import LONGEST_IN_PATH, Block, Chunk, Draft, Dropped, Kind, Record, Span


class Chunking(Record, frozen=True, kw_only=True):
    """Chunks without keys or prefixes yet, and the characters that are in none."""

    drafts: tuple[Draft, ...]
    dropped: tuple[Dropped, ...]


def chunk_blocks(blocks: Sequence[Block], measure: Measure, policy: ChunkPolicy) -> Chunking:
    """Chunks of `blocks` in reading order; `policy` is already within the embedder's limit."""
    out = left_out(blocks)
    drafts = [
        draft
        for number, section in enumerate(sections(blocks, out, measure, policy))
        for draft in _drafts(blocks, section, number, measure, policy)
    ]
    return Chunking(drafts=tuple(drafts), dropped=_dropped(blocks, out))


def _drafts(
    blocks: Sequence[Block], section: Section, number: int, measure: Measure, policy: ChunkPolicy
) -> list[Draft]:
    if _is_code(blocks, section.pieces):
        policy = policy.for_code
    return [
        _draft(blocks, run, number, measure)
        for i, j in cut(section.pieces, lambda block: blocks[block].text, policy)
        for run in _halved(blocks, section.pieces[i:j], measure, policy)
    ]


def _is_code(blocks: Sequence[Block], pieces: Sequence[Piece]) -> bool:
    """Whether most of a section is code."""
    code = sum(piece.weight for piece in pieces if blocks[piece.block].kind is Kind.CODE)
    return code > sum(piece.weight for piece in pieces) / 2


def _halved(
    blocks: Sequence[Block], run: Sequence[Piece], measure: Measure, policy: ChunkPolicy
) -> list[Sequence[Piece]]:
    """Runs whose own text is within the limit: words that were cut may count otherwise when joined again."""
    if len(run) < 2 or all(p.border is not Border.CHARACTER for p in run):
        return [run]
    if measure.count(_text(blocks, run)) <= policy.room_tokens:
        return [run]
    middle = len(run) // 2
    return [*_halved(blocks, run[:middle], measure, policy), *_halved(blocks, run[middle:], measure, policy)]


def _draft(blocks: Sequence[Block], run: Sequence[Piece], number: int, measure: Measure) -> Draft:
    text = _text(blocks, run)
    cut_word = any(p.border is Border.CHARACTER for p in run)
    tokens = measure.count(text) if cut_word else sum(p.tokens for p in run) + run[0].lead_tokens
    inside = list(dict.fromkeys(p.block for p in run))
    content = [b for b in inside if blocks[b].kind not in HEADINGS]
    first = blocks[content[0] if content else inside[-1]]
    path = first.heading_path if content else (*first.heading_path, first.text[:LONGEST_IN_PATH])
    shown = {blocks[b].text[:LONGEST_IN_PATH] for b in inside if blocks[b].kind in HEADINGS}
    page, bbox = _place([blocks[b] for b in inside])
    chunk = Chunk(
        chunk_key="",
        text=text,
        tokens=tokens,
        kind=_kind(blocks, run),
        spans=_spans(run),
        heading_path=path,
        page=page,
        bbox=bbox,
        parent=number,
    )
    return Draft(
        chunk=chunk,
        headings=tuple(h for h in path if h not in shown),
        shows_title=any(blocks[b].kind is Kind.TITLE for b in inside),
        caption=_caption(blocks, run[0].block, inside),
    )


def _text(blocks: Sequence[Block], run: Sequence[Piece]) -> str:
    """The words of a run: within a block as they stand, list items on lines of their own, other blocks apart."""
    parts = [run[0].lead]
    start = 0
    for i, piece in enumerate(run):
        following = run[i + 1] if i + 1 < len(run) else None
        if following is not None and following.block == piece.block:
            continue
        parts.append(blocks[piece.block].text[run[start].start : piece.end])
        if following is not None:
            both = {blocks[piece.block].kind, blocks[following.block].kind}
            parts.append("\n" if both == {Kind.LIST_ITEM} else SEPARATOR)
            start = i + 1
    return "".join(parts)


def _spans(run: Sequence[Piece]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for piece in run:
        if spans and spans[-1].block == piece.block:
            spans[-1] = replace(spans[-1], end=piece.end)
        else:
            spans.append(Span(block=piece.block, start=piece.start, end=piece.end))
    return tuple(spans)


def _kind(blocks: Sequence[Block], run: Sequence[Piece]) -> Kind:
    """The kind that most of its tokens are, headings apart."""
    weights: dict[Kind, int] = {}
    for piece in run:
        kind = blocks[piece.block].kind
        if kind not in HEADINGS:
            weights[kind] = weights.get(kind, 0) + piece.weight
    return max(weights, key=lambda kind: weights[kind]) if weights else Kind.HEADING


def _place(inside: Sequence[Block]) -> tuple[int | None, tuple[float, float, float, float] | None]:
    """The first page, and the box around everything of the chunk on it."""
    page = next((b.page for b in inside if b.page is not None), None)
    boxes = [b.bbox for b in inside if b.page == page and b.bbox is not None]
    if page is None or not boxes:
        return page, None
    return page, (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )


def _caption(blocks: Sequence[Block], first: int, inside: Sequence[int]) -> str | None:
    """The caption of what the chunk begins with, unless the chunk shows it."""
    if blocks[first].kind not in CAPTIONED:
        return None
    for beside in (first - 1, first + 1):
        if 0 <= beside < len(blocks) and blocks[beside].kind is Kind.CAPTION and beside not in inside:
            return blocks[beside].text
    return None


def _dropped(blocks: Sequence[Block], out: dict[int, str]) -> tuple[Dropped, ...]:
    reasons: dict[str, list[Span]] = {}
    for number, reason in out.items():
        reasons.setdefault(reason, []).append(Span(block=number, start=0, end=len(blocks[number].text)))
    return tuple(Dropped(reason=reason, spans=tuple(spans)) for reason, spans in reasons.items())
