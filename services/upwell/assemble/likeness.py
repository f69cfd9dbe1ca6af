"""Which texts say the same, and which say something new: words, without a model. Pure and deterministic."""

import re
from collections.abc import Sequence

from upwell.records import Record

# Letters beyond ASCII stand alone, so that scripts without blanks have words too.
WORDS = re.compile(r"[a-z0-9_]+|[^\x00-\x7f\s]")
SHINGLE = 3


class Words(Record, frozen=True, kw_only=True):
    """What a text is made of: its words, its runs of three words, and its numbers."""

    words: frozenset[str]
    runs: frozenset[tuple[str, ...]]
    numbers: frozenset[str]


def words_of(text: str) -> Words:
    """Case and punctuation do not count."""
    found = WORDS.findall(text.casefold())
    last = max(1, len(found) - SHINGLE + 1)
    return Words(
        words=frozenset(found),
        runs=frozenset(tuple(found[i : i + SHINGLE]) for i in range(last)),
        numbers=frozenset(word for word in found if any(c.isdigit() for c in word)),
    )


def says_nothing_new(text: Words, known: Words, same: float) -> bool:
    """True if more than `same` of the runs of `text` stand in `known`, and all its numbers: two price lists alike but
    for the prices are two.

    The shared part is of `text` (containment, Broder 1997, "On the resemblance and containment of documents"): what is
    longer than what is known may say more.
    """
    return len(text.runs & known.runs) > same * len(text.runs) and text.numbers <= known.numbers


def overlap(one: Words, other: Words) -> float:
    """0 (no word in common) to 1 (the same words): Dice."""
    total = len(one.words) + len(other.words)
    return 2 * len(one.words & other.words) / total if total else 1.0


def distinct(texts: Sequence[Words], same: float) -> list[int]:
    """Places of the texts that say something that none before them says."""
    kept: list[int] = []
    for place, text in enumerate(texts):
        if not any(says_nothing_new(text, texts[known], same) for known in kept):
            kept.append(place)
    return kept


def by_marginal_relevance(texts: Sequence[Words], scores: Sequence[float], relevance: float) -> list[int]:
    """Places in the order of maximal marginal relevance: each next one is relevant and unlike those before it.

    Carbonell and Goldstein, "The use of MMR, diversity-based reranking", SIGIR 1998. Scores count as shares of the
    best; of equals the earlier goes first.
    """
    best = max(scores, default=0.0)
    left = list(range(len(texts)))
    closest = [0.0] * len(texts)
    order: list[int] = []
    while left:
        gain = {at: relevance * (scores[at] / best if best > 0 else 1.0) - (1 - relevance) * closest[at] for at in left}
        chosen = max(left, key=lambda at: (gain[at], -at))
        left.remove(chosen)
        order.append(chosen)
        for at in left:
            closest[at] = max(closest[at], overlap(texts[at], texts[chosen]))
    return order
