"""Dead letters: which are meant, and what is told of them."""

from msgspec.structs import replace

from upwell.records import Record


class DeadFilter(Record, frozen=True, kw_only=True):
    """Which dead letters: each criterion that is given must hold, none given are all. `doc` is a glob over the doc_id
    (`*` crosses folders); `since` (inclusive) and `before` (exclusive) are us since the epoch. Of those that are left
    the `limit` oldest.
    """

    ids: tuple[int, ...] = ()
    tenant: str | None = None
    source: str | None = None
    doc: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: int | None = None
    before: int | None = None
    limit: int | None = None

    @property
    def narrows(self) -> bool:
        """True if it says more than how many."""
        return replace(self, limit=None) != DeadFilter()


class DeadAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """`replayable`: its event is kept. One without goes when its cause goes (a file's name, a part of a document)."""

    id: int
    tenant: str
    source: str
    doc_id: str
    stage: str
    reason: str
    detail: str
    attempts: int
    at: str
    replayable: bool = True


ALL_LETTERS = DeadFilter()
