"""The numbers of assembly; `make bench` says what they are worth (tests/bench/test_context.py)."""

from upwell.records import Record


class AssemblyPolicy(Record, frozen=True, kw_only=True):
    """`candidates`: how many hits are looked at. A hit is relevant if its score (mean cosine of the query's tokens,
    and up to 0.5 for its very words) is at least `floor`, and at least `share_of_best` of the best one's.

    A chunk of whose words (in threes) more than `same` stand in a stronger one, and no other number, says nothing new.
    `relevance` is what MMR gives to the score, the rest goes to being unlike what is chosen already.
    `section_tokens` is the most that a match grows to when its section is returned for it; `grown_share` of the budget
    goes to the growing at most.
    """

    candidates: int = 60
    floor: float = 0.25
    share_of_best: float = 0.5
    same: float = 0.85
    relevance: float = 0.8
    section_tokens: int = 800
    grown_share: float = 0.3


DEFAULT_ASSEMBLY = AssemblyPolicy()
