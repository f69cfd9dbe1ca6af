"""How much a listing may lose before a person is asked: pure rules over what has vanished.

A mount that is away, a listing that was cut short and a folder emptied by mistake look like a mass delete. So a few
documents may go, and those whose deletion was noticed one by one; more of them wait, and their documents stay, until
somebody approves it or they are back.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from upwell.records import Record
from upwell.sources.folder.records import Held, Notice, Observed, Verdict

HANDFUL = 10
"""So many documents may go whatever their share is: a folder of three files may lose two."""
SHRINK_LIMIT = 0.3
"""The largest share of a source's documents that may go at once."""
SHOWN = 3
"""How many of the documents that wait a notice names."""
EMPTY, HELD = "source_empty", "deletes_held"
CODES = frozenset({EMPTY, HELD})
"""The notices that say that deletes wait."""


class Judgement(Record, frozen=True, kw_only=True):
    """Of the documents that have vanished: those to be deleted, and those whose deletion begins to wait."""

    passes: tuple[Observed, ...] = ()
    waits: tuple[Observed, ...] = ()


def judge(
    gone: Sequence[Observed],
    held: Mapping[str, Held],
    evidence: AbstractSet[str],
    *,
    present: int,
    empty: bool,
    limit: float,
) -> Judgement:
    """What becomes of the documents that are `gone` from a listing and moved nowhere; `held` are decided already.

    `present` counts the source's documents before this listing, `evidence` names those noticed to have changed, `empty`
    says that the listing had nothing at all, `limit` is the share that may go.
    """
    fresh = [before for before in gone if before.doc_id not in held]
    waiting = [before for before in gone if _waits(held.get(before.doc_id))]
    noticed = [before for before in (fresh if len(gone) > HANDFUL else [*fresh, *waiting]) if before.doc_id in evidence]
    if len(noticed) > HANDFUL or (empty and present > 1):
        noticed = []
    seen = {before.doc_id for before in noticed}
    rest = [before for before in fresh if before.doc_id not in seen]
    lost = len(rest) + len(waiting)
    if empty or (lost > HANDFUL and lost > limit * present):
        return Judgement(passes=tuple(noticed), waits=tuple(rest))
    return Judgement(passes=(*noticed, *rest))


def notice_of(waiting: Sequence[str], tenant: str, source: str, *, empty: bool) -> tuple[Notice, ...]:
    """What to say of the documents whose deletion waits; nothing where none does."""
    if not waiting:
        return ()
    option = "" if tenant == "default" else f" --tenant {tenant}"
    names = ", ".join(waiting[:SHOWN]) + (" …" if len(waiting) > SHOWN else "")
    why = "the folder is suddenly empty" if empty else f"{len(waiting)} documents are gone from the folder"
    detail = f"{why}: nothing is deleted until `upwell approve --source {source}{option}`, or they are back ({names})"
    return (Notice(code=EMPTY if empty else HELD, path="", detail=detail),)


def _waits(held: Held | None) -> bool:
    return held is not None and held.verdict is not Verdict.STAYS
