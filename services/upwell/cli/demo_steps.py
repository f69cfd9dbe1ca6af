"""The demo's changes: what is done to the folder, how a reader notices, and how long that takes."""

import time
from collections.abc import Callable
from pathlib import Path

from upwell.access import reader
from upwell.answers import ChunkCounts, LakeApi, SearchAnswer, StatusAnswer
from upwell.errors import Retryable
from upwell.records import Record

LIMIT_S = 60.0
SETTLE_S = 15.0
PAUSE_S = 0.01
QUESTION = "How much is a raise for strong work?"

Seen = Callable[[SearchAnswer], bool]


class Step(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A change and what came of it: `seconds` from the change's end to the end of the first search that shows it."""

    change: str
    path: str
    effect: str
    seconds: float
    chunks: ChunkCounts
    tokens_embedded: int


class Change(Record, frozen=True, kw_only=True):
    """A change to the folder, the question that notices it, and who asks."""

    name: str
    path: str
    effect: str
    make: Callable[[Path], None]
    query: str
    who: frozenset[str]
    seen: Seen


class Person(Record, frozen=True, kw_only=True):
    """Somebody who asks."""

    name: str
    about: str
    groups: tuple[str, ...]

    @property
    def principals(self) -> frozenset[str]:
        return reader(f"user:{self.name}", *(f"group:{group}" for group in self.groups))


PEOPLE = (
    Person(name="tom", about="a joiner", groups=("staff",)),
    Person(name="ida", about="from human resources", groups=("staff", "hr")),
)
PARTNER = reader("user:noa", "group:partners")

TRAVEL = "handbook/travel-and-expenses.md"
MINUTES = "projects/lighthouse-library/minutes-march.html"
RENAMED = "projects/lighthouse-library/minutes-2026-03.html"
ACCESS = "projects/.upwell-access.yaml"
LETTER = "mail/broken-drawer.eml"


def changes(owner: str) -> tuple[Change, ...]:
    """The four changes, in the order in which they are made."""
    staff = PEOPLE[0].principals
    return (
        Change(
            name="edit a paragraph",
            path=TRAVEL,
            effect="searchable",
            make=lambda folder: _replace(folder / TRAVEL, "up to 38 euros a day", "up to 45 euros a day"),
            query="How much a day do we pay for meals on journeys?",
            who=staff,
            seen=lambda answer: any(hit.doc_id == TRAVEL and "45 euros" in hit.text for hit in answer.hits),
        ),
        Change(
            name="rename a file",
            path=f"{Path(MINUTES).name} -> {Path(RENAMED).name}",
            effect="searchable",
            make=lambda folder: _rename(folder / MINUTES, folder / RENAMED),
            query="Who pays for the second scaffold?",
            who=staff,
            seen=lambda answer: RENAMED in _documents(answer) and MINUTES not in _documents(answer),
        ),
        Change(
            name="revoke a group",
            path=ACCESS,
            effect="hidden",
            make=lambda folder: _replace(folder / ACCESS, ", group:partners", ""),
            query="Lighthouse Library curved shelving",
            who=PARTNER,
            seen=lambda answer: not any(doc.startswith("projects/") for doc in _documents(answer)),
        ),
        Change(
            name="delete a file",
            path=LETTER,
            effect="hidden",
            make=lambda folder: (folder / LETTER).unlink(),
            query="The drawer of our chart table sticks",
            who=reader(owner),
            seen=lambda answer: LETTER not in _documents(answer),
        ),
    )


def measure(lake: LakeApi, folder: Path, change: Change) -> Step:
    """Make the change, search until it shows, then wait until the lake has settled and see what that cost.

    Raises Retryable if it does not show within a minute, or shows before it is made (then nothing would be measured).
    """
    before = lake.status()
    if change.seen(lake.search(change.query, principals=change.who)):
        raise Retryable(f"demo, {change.name}: the search says so already; run `upwell demo` again")
    change.make(folder)
    start = time.monotonic()
    while not change.seen(lake.search(change.query, principals=change.who)):
        if time.monotonic() - start > LIMIT_S:
            raise Retryable(f"demo, {change.name}: not {change.effect} within {LIMIT_S:.0f} s; see `upwell dead list`")
        time.sleep(PAUSE_S)
    seconds = time.monotonic() - start
    after = _settled(lake)
    return Step(
        change=change.name,
        path=change.path,
        effect=change.effect,
        seconds=round(seconds, 3),
        chunks=difference(after.totals, before.totals),
        tokens_embedded=after.tokens_embedded - before.tokens_embedded,
    )


def difference(after: ChunkCounts, before: ChunkCounts) -> ChunkCounts:
    """What was counted between two answers."""
    return ChunkCounts(
        **{field: getattr(after, field) - getattr(before, field) for field in ChunkCounts.__struct_fields__}
    )


def _settled(lake: LakeApi) -> StatusAnswer:
    """The status once nothing is pending: visible comes first, tidied up a moment later."""
    start = time.monotonic()
    while True:
        status = lake.status()
        if not any(source.pending for source in status.sources) or time.monotonic() - start > SETTLE_S:
            return status
        time.sleep(PAUSE_S)


def _documents(answer: SearchAnswer) -> set[str]:
    return {hit.doc_id for hit in answer.hits}


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(old, new), encoding="utf-8")


def _rename(old: Path, new: Path) -> None:
    old.rename(new)
