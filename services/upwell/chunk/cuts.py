"""Content-defined cuts: where a run of pieces is cut depends on the words at the border, not on what came before.

Each border has a rank: its kind, then a hash of the words on both its sides. A run that is too long is cut at every
border that outranks all others within `least_tokens` of it: that depends on nothing farther away, so an edit moves only
the cuts beside it, and an insertion at the top shifts none. What is still too long is cut at its highest border, again
and again.
"""

import hashlib
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from upwell.chunk.pieces import Border, Piece
from upwell.chunk.policy import ChunkPolicy

BORDER_CHARACTERS = 48


def cut(pieces: Sequence[Piece], text_of: Callable[[int], str], policy: ChunkPolicy) -> list[tuple[int, int]]:
    """Ranges [i, j) of pieces, in order, each within `room_tokens` (its repeated lead included).

    A range of a single piece may hold up to that piece's own weight.
    """
    run = _Run(pieces, text_of, policy)
    done: list[tuple[int, int]] = []
    apart = [0, *(k for k, piece in enumerate(pieces) if k and piece.apart), len(pieces)]
    ends = sorted({*apart, *(k for i, j in pairwise(apart) for k in run.peaks(i, j))})
    todo = list(pairwise(ends))[::-1]
    while todo:
        i, j = todo.pop()
        at = run.best_cut(i, j)
        if at is None:
            done.append((i, j))
        else:
            todo.extend(((at, j), (i, at)))
    return done


class _Run:
    def __init__(self, pieces: Sequence[Piece], text_of: Callable[[int], str], policy: ChunkPolicy) -> None:
        self.pieces, self.text_of, self.policy = pieces, text_of, policy
        self.sums = [0, *accumulate(piece.weight for piece in pieces)]
        self.hashes: list[bytes | None] = [None] * len(pieces)

    def own(self, i: int, j: int) -> int:
        """The weight of the words themselves."""
        return self.sums[j] - self.sums[i]

    def weight(self, i: int, j: int) -> int:
        """With the lead that a chunk of these pieces repeats."""
        return self.own(i, j) + self.pieces[i].lead_tokens

    def peaks(self, i: int, j: int) -> list[int]:
        """Borders of [i, j) that outrank all others within reach; none if it may stay whole, none near its ends."""
        if j - i < 2 or self._may_stay(i, j):
            return []
        reach = self.policy.least_tokens
        first, last = self.sums[i] + reach, self.sums[j] - reach
        return [
            k
            for k in range(i + 1, j)
            if first <= self.sums[k] <= last and self.pieces[k].border > Border.BOUND and self._is_peak(k, i, j)
        ]

    def _is_peak(self, k: int, i: int, j: int) -> bool:
        mine = self._rank(k)
        left, right, reach = k - 1, k + 1, self.policy.least_tokens
        while left > i and self.sums[k] - self.sums[left] < reach:
            if self._rank(left) >= mine:
                return False
            left -= 1
        while right < j and self.sums[right] - self.sums[k] < reach:
            if self._rank(right) > mine:
                return False
            right += 1
        return True

    def _rank(self, k: int) -> tuple[Border, bytes]:
        return self.pieces[k].border, self._hash(k)

    def best_cut(self, i: int, j: int) -> int | None:
        """Where to cut [i, j), or None when it is to stay whole."""
        if j - i < 2 or self._may_stay(i, j):
            return None
        free = [k for k in range(i + 1, j) if self.pieces[k].border > Border.BOUND]
        for least in (self.policy.least_tokens, self.policy.crumb_tokens):
            fair = [k for k in free if self.own(i, k) >= least and self.own(k, j) >= least]
            if fair:
                return self._highest(fair, i, j)
        if self.weight(i, j) <= (self.policy.whole_tokens if free else self.policy.room_tokens):
            return None
        return min(free or range(i + 1, j), key=lambda k: abs(self.weight(i, k) - self.weight(k, j)))

    def _may_stay(self, i: int, j: int) -> bool:
        return self.own(i, j) <= self.policy.most_tokens and self.weight(i, j) <= self.policy.room_tokens

    def _highest(self, fair: list[int], i: int, j: int) -> int:
        kind = max(self.pieces[k].border for k in fair)
        middle = (self.sums[i] + self.sums[j]) / 2
        # Equal words make equal hashes; of those any cut makes the same chunks, and the middle one is the cheapest.
        return max(
            (k for k in fair if self.pieces[k].border == kind),
            key=lambda k: (self._hash(k), -abs(self.sums[k] - middle)),
        )

    def _hash(self, k: int) -> bytes:
        known = self.hashes[k]
        if known is None:
            before, after = self.pieces[k - 1], self.pieces[k]
            words = (
                self.text_of(before.block)[max(before.start, before.end - BORDER_CHARACTERS) : before.end]
                + "\0"
                + self.text_of(after.block)[after.start : min(after.end, after.start + BORDER_CHARACTERS)]
            )
            known = self.hashes[k] = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return known
