"""From what matched to a context within its budget: relevant, nothing twice, sections for chunks where they fit."""

import math
from collections.abc import Iterable, Sequence
from functools import cache

from upwell.assemble.counting import Counter
from upwell.assemble.excerpts import Candidate, Excerpt, Piece, citation_ids, passages, whole_excerpts
from upwell.assemble.likeness import by_marginal_relevance, distinct, words_of
from upwell.assemble.policy import DEFAULT_ASSEMBLY, AssemblyPolicy
from upwell.assemble.rendering import CLOSING, OPENING, at_the_edges, block, body, render
from upwell.reading import Passage
from upwell.records import DocKey, Record

ID_FOR_COUNTING = "0123abcd"


class Assembled(Record, frozen=True, kw_only=True):
    """A context: `tokens` counts all of `text`. Empty when nothing relevant fits."""

    text: str = ""
    passages: tuple[Passage, ...] = ()
    tokens: int = 0
    excerpts: tuple[Excerpt, ...] = ()


def assemble_whole(pieces: Iterable[Piece], budget: int, counter: Counter) -> Assembled | None:
    """Everything by source, doc_id and ordinal; None if that is more than `budget` tokens."""
    assembled = _assembled(whole_excerpts(pieces), counter)
    return assembled if assembled.tokens <= budget else None


def assemble_best(
    candidates: Sequence[Candidate], budget: int, counter: Counter, policy: AssemblyPolicy = DEFAULT_ASSEMBLY
) -> Assembled:
    """The best of what matched, strongest at both ends; never more than `budget` tokens, whatever the counter says of
    parts: the text as it leaves is counted, and the last chosen go until it fits."""
    chosen = _filled(_choice(candidates, policy), budget, counter, policy)
    while True:
        by_strength = sorted(chosen, key=lambda excerpt: (-(excerpt.score or 0.0), excerpt.pieces[0].place))
        assembled = _assembled(at_the_edges(by_strength), counter)
        if assembled.tokens <= budget:
            return assembled
        chosen.pop()


def floor_of(best: float, policy: AssemblyPolicy = DEFAULT_ASSEMBLY) -> float:
    """The score from which on a hit counts as relevant, where the best hit has the score `best`."""
    return max(policy.floor, policy.share_of_best * best) if best >= policy.best_floor else math.inf


def _choice(candidates: Sequence[Candidate], policy: AssemblyPolicy) -> list[Candidate]:
    """What is relevant and says something new, in the order in which it deserves room."""
    ordered = sorted(candidates, key=lambda found: (-found.score, found.piece.place))
    floor = floor_of(ordered[0].score, policy) if ordered else 0.0
    found = [candidate for candidate in ordered if candidate.score >= floor]
    texts = [words_of(candidate.piece.text) for candidate in found]
    kept = distinct(texts, policy.same)
    order = by_marginal_relevance([texts[i] for i in kept], [found[i].score for i in kept], policy.relevance)
    return [found[kept[place]] for place in order]


def _filled(candidates: Sequence[Candidate], budget: int, counter: Counter, policy: AssemblyPolicy) -> list[Excerpt]:
    """Matches first, a share of the budget kept for growing; then each grows to its section, strongest first; what
    room is left then goes to the matches that had none."""
    room = _Room(budget - counter.count(OPENING + CLOSING), counter)
    kept_free = int(room.left * policy.grown_share)
    waiting = [found for found in candidates if not room.add(found, kept_free)]
    for found in candidates:
        room.grow(found, policy.section_tokens)
    for found in waiting:
        room.add(found, 0)
    return list(room.excerpts.values())


class _Room:
    """Excerpts in the order in which they were chosen, one a section, and how many tokens are left.

    What an excerpt costs is the sum of its parts, each counted once: near enough to choose by.
    """

    def __init__(self, tokens: int, counter: Counter) -> None:
        self.left = tokens
        self.excerpts: dict[tuple[DocKey, int], Excerpt] = {}
        self._count = cache(lambda text: counter.count(body(text)))
        self._frame = cache(lambda piece: counter.count(block(Excerpt(pieces=(piece,)), ID_FOR_COUNTING)))
        self._costs: dict[tuple[DocKey, int], int] = {}

    def add(self, found: Candidate, kept_free: int) -> bool:
        """Make room for a match, in the excerpt of its section if there is one. False if there is none."""
        held = self.excerpts.get(_section(found.piece))
        pieces = (*held.pieces, found.piece) if held else (found.piece,)
        return self._put(found, pieces, kept_free)

    def grow(self, found: Candidate, most_tokens: int) -> None:
        """Let the excerpt of a match's section grow around it, if it has one: as far as there is room."""
        held = self.excerpts.get(_section(found.piece))
        if held is None or found.piece not in held.pieces:
            return
        for most in (most_tokens, most_tokens // 2):
            if self._put(found, (*held.pieces, *around(found, most)), 0):
                return

    def _put(self, found: Candidate, pieces: Sequence[Piece], kept_free: int) -> bool:
        place = _section(found.piece)
        held = self.excerpts.get(place)
        distinct_pieces = {piece.ordinal: piece for piece in pieces}
        excerpt = Excerpt(
            pieces=tuple(distinct_pieces[ordinal] for ordinal in sorted(distinct_pieces)),
            score=max(found.score, held.score or 0.0) if held else found.score,
        )
        more = self._cost(excerpt) - self._costs.get(place, 0)
        if more > self.left - kept_free:
            return False
        self.excerpts[place] = excerpt
        self._costs[place] = self._costs.get(place, 0) + more
        self.left -= more
        return True

    def _cost(self, excerpt: Excerpt) -> int:
        return self._frame(excerpt.pieces[0]) + sum(map(self._count, excerpt.parts[1:]))


def around(found: Candidate, most_tokens: int) -> tuple[Piece, ...]:
    """The section of a match, or as much of it around the match as `most_tokens` (the embedder's) allow."""
    at = next(place for place, piece in enumerate(found.section) if piece.chunk_key == found.piece.chunk_key)
    start, end = window([piece.tokens for piece in found.section], at, most_tokens)
    return found.section[start:end]


def window(tokens: Sequence[int], at: int, most: int) -> tuple[int, int]:
    """The range around place `at` that holds at most `most` tokens (place `at` in any case); what follows goes before
    what precedes, in turn."""
    start, end, held = at, at + 1, tokens[at]
    while True:
        sides = (end, start - 1) if end - at <= at - start + 1 else (start - 1, end)
        fitting = [place for place in sides if 0 <= place < len(tokens) and held + tokens[place] <= most]
        if not fitting:
            return start, end
        held += tokens[fitting[0]]
        start, end = min(start, fitting[0]), max(end, fitting[0] + 1)


def _section(piece: Piece) -> tuple[DocKey, int]:
    return piece.origin.key, piece.section


def _assembled(excerpts: Sequence[Excerpt], counter: Counter) -> Assembled:
    text = render(excerpts)
    if not text:
        return Assembled()
    counts = [counter.count(block(e, name)) for e, name in zip(excerpts, citation_ids(excerpts), strict=True)]
    return Assembled(
        text=text, passages=passages(excerpts, counts), tokens=counter.count(text), excerpts=tuple(excerpts)
    )
