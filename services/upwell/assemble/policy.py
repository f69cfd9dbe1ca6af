"""The numbers of assembly; `make bench` says what they are worth (tests/bench/test_context.py)."""

from upwell.records import Record


class AssemblyPolicy(Record, frozen=True, kw_only=True):
    """`candidates`: how many hits are looked at. A hit is relevant if its score (0 to 1, see `answers.Hit`) is at least
    `floor`, and at least `share_of_best` of the best one's; and none is where the best is below `best_floor`. Measured
    with MiniLM on three sets: no best hit of 450 questions that have an answer was below 0.38, of questions asked of
    another set's documents about half were below 0.37; chunks that held an answer had 0.21, 19 in 20 of them 0.42 of
    the best.

    A chunk of whose words (in threes) more than `same` stand in a stronger one, and no other number, says nothing new.
    `relevance` is what MMR gives to the score, the rest goes to being unlike what is chosen already.
    `section_tokens` is the most that a match grows to when its section is returned for it; `grown_share` of the budget
    is kept for the growing. With it, 1,000 tokens held 82 % of what answers questions about code (raw hits 72 %, a
    context without growing 72 %); a `relevance` of 0.8 cost a point or two.
    """

    candidates: int = 60
    best_floor: float = 0.37
    floor: float = 0.21
    share_of_best: float = 0.4
    same: float = 0.85
    relevance: float = 0.9
    section_tokens: int = 600
    grown_share: float = 0.4


DEFAULT_ASSEMBLY = AssemblyPolicy()
