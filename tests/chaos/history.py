"""What a source might have seen: a seeded history of changes over a few hundred documents, and what each version said.

Every paragraph carries a mark of its own (`zq00042`), written once and kept for as long as the paragraph stays, so that
from the marks of a hit follows which versions it can be of. Versions rise over the whole history; the order in which the
events are sent is not quite theirs, some come twice, and some are no events at all.
"""

import random
import re
from dataclasses import dataclass, field
from itertools import count

import msgspec

from upwell.access import reader
from upwell.records import Acl, ChangeEvent, DocKey, Inline, Lane, Op

SOURCE = "chaos"
TENANTS = ("default", "other")
GROUPS = ("group:eng", "group:hr", "group:sales")
USERS = ("user:ana", "user:ben", "user:cy")
READERS = (
    reader(),
    reader("user:ana"),
    reader("user:ben", "group:eng"),
    reader("user:cy", "group:hr", "group:sales"),
    reader("user:ana", "group:hr"),
)
RECEIVED_AT = 1_700_000_000_000_000
MARK = re.compile(r"\bzq\d{5}\b")
WORDS = [
    "the",
    "pump",
    "valve",
    "line",
    "of",
    "a",
    "shift",
    "is",
    "checked",
    "before",
    "each",
    "start",
    "because",
    "pressure",
    "falls",
    "when",
    "filters",
    "clog",
    "and",
    "nobody",
    "reads",
    "gauges",
    "at",
    "night",
    "while",
    "orders",
    "wait",
    "in",
    "queues",
    "that",
    "grow",
    "with",
    "every",
    "truck",
    "so",
    "we",
    "count",
    "pallets",
    "twice",
    "and",
    "write",
    "what",
    "we",
    "saw",
    "into",
    "logs",
    "kept",
    "beside",
    "doors",
    "where",
    "people",
    "from",
    "other",
    "teams",
    "find",
    "them",
    "later",
    "without",
    "asking",
    "anyone",
    "about",
    "invoices",
    "tariffs",
    "budgets",
    "contracts",
    "holidays",
    "leave",
    "insurance",
    "claims",
    "returns",
    "refunds",
    "samples",
    "batches",
    "tanks",
    "motors",
    "belts",
    "bearings",
    "seals",
    "sensors",
    "alarms",
    "cameras",
    "badges",
    "keys",
    "lockers",
    "forklifts",
    "scaffolds",
    "ladders",
    "gloves",
    "helmets",
]

Marks = frozenset[str]


@dataclass
class Page:
    """A document as its source has it now."""

    key: DocKey
    acl: Acl
    acl_version: int
    version: int = 0
    title: str = ""
    paragraphs: list[str] = field(default_factory=list)
    alive: bool = True


@dataclass
class Poison:
    """Bytes for a topic that are no message: undecodable, or of a schema that is not known."""

    key: DocKey
    value: bytes
    headers: list[tuple[str, bytes]]
    where: str  # `control`, or a lane of `changes`


@dataclass
class History:
    """`sent` is everything in the order in which it is sent; `events` each event once, by version."""

    sent: list[ChangeEvent | Poison]
    events: list[ChangeEvent]
    said: dict[DocKey, dict[int, Marks]]
    """What each readable version of each document said, by its marks."""
    broken: frozenset[str]
    """Ids of events whose content will not parse."""

    @property
    def poison(self) -> list[Poison]:
        return [one for one in self.sent if isinstance(one, Poison)]


class Author:
    """Writes a history. Equal seeds, equal histories."""

    def __init__(self, seed: int, documents: int) -> None:
        self.rng = random.Random(seed)
        self.numbers = count(1)
        self.marks = count(1)
        self.names = count(1)
        self.pages = [self.page() for _ in range(documents)]
        self.unborn = list(self.pages)
        self.rng.shuffle(self.unborn)
        self.later = documents // 5
        self.events: list[ChangeEvent] = []
        self.said: dict[DocKey, dict[int, Marks]] = {}
        self.broken: set[str] = set()

    def page(self) -> Page:
        tenant = TENANTS[0] if self.rng.random() < 0.85 else TENANTS[1]
        name = f"{self.rng.choice(('ops', 'people', 'sales'))}/page-{next(self.names):04}.md"
        key = DocKey(tenant=tenant, source=SOURCE, doc_id=name)
        return Page(key=key, acl=self.acl(), acl_version=1)

    def acl(self) -> Acl:
        some = frozenset(self.rng.sample([*GROUPS, *USERS], self.rng.randint(1, 3)))
        choice = self.rng.random()
        if choice < 0.35:
            return Acl(levels=(frozenset({"everyone"}),))
        if choice < 0.45:
            return Acl(levels=(frozenset({"everyone"}),), deny=frozenset({self.rng.choice(USERS)}))
        if choice < 0.65:
            return Acl(levels=(frozenset({"everyone"}), some))
        return Acl(levels=(some,))

    def paragraph(self) -> str:
        words = [self.rng.choice(WORDS) for _ in range(self.rng.randint(35, 80))]
        words.insert(self.rng.randrange(1, len(words)), f"zq{next(self.marks):05}")
        return " ".join(words).capitalize() + "."

    def markdown(self, page: Page) -> str:
        parts = [f"# {page.title}"]
        for number, paragraph in enumerate(page.paragraphs):
            if number % 3 == 1:
                parts.append(f"## Part {number // 3 + 1} of {page.title.lower()}")
            parts.append(paragraph)
        return "\n\n".join(parts) + "\n"

    def change(self, page: Page, op: Op, **more: object) -> ChangeEvent:
        number = next(self.numbers)
        if op is not Op.ACL:
            page.version = number
        event = ChangeEvent(
            event_id=f"e{number:05}",
            tenant=page.key.tenant,
            source=SOURCE,
            doc_id=page.key.doc_id,
            op=op,
            version=page.version,
            received_at=RECEIVED_AT + number,
            acl_version=page.acl_version,
            lane=Lane.LIVE,
        )
        event = msgspec.structs.replace(event, **more)
        self.events.append(event)
        return event

    def upsert(self, page: Page, **more: object) -> None:
        data = self.markdown(page).encode()
        content = {"content": Inline(data=data), "media_type": "text/markdown", "acl": page.acl, "title": page.title}
        event = self.change(page, Op.UPSERT, **(content | more))
        page.alive = True
        self.said.setdefault(page.key, {})[event.version] = frozenset(MARK.findall(data.decode()))

    def create(self, page: Page, lane: Lane) -> None:
        page.title = f"{self.rng.choice(WORDS)} and {self.rng.choice(WORDS)}".capitalize()
        page.paragraphs = [self.paragraph() for _ in range(self.rng.randint(2, 9))]
        self.upsert(page, lane=lane)

    def edit(self, page: Page) -> None:
        place = self.rng.randrange(len(page.paragraphs) + 1)
        if place == len(page.paragraphs):
            page.paragraphs.append(self.paragraph())
        elif self.rng.random() < 0.2 and len(page.paragraphs) > 1:
            del page.paragraphs[place]
        else:
            page.paragraphs[place] = self.paragraph()
        if self.rng.random() < 0.15:
            page.acl, page.acl_version = self.acl(), page.acl_version + 1
        self.upsert(page, lane=Lane.BACKFILL if self.rng.random() < 0.15 else Lane.LIVE)

    def retitle(self, page: Page) -> None:
        self.upsert(page, metadata={"team": self.rng.choice(GROUPS)}, url=f"https://pages.example/{next(self.names)}")

    def permit(self, page: Page) -> None:
        page.acl, page.acl_version = self.acl(), page.acl_version + 1
        self.change(page, Op.ACL, acl=page.acl)

    def remove(self, page: Page, op: Op) -> None:
        self.change(page, op)
        page.alive = False

    def move(self, page: Page) -> None:
        moved = self.page()
        moved.title, moved.acl = page.title, page.acl
        moved.paragraphs = list(page.paragraphs)
        if self.rng.random() < 0.4:
            moved.paragraphs[self.rng.randrange(len(moved.paragraphs))] = self.paragraph()
        moved.key = msgspec.structs.replace(moved.key, tenant=page.key.tenant)
        page.alive = False
        self.pages.append(moved)
        self.upsert(moved, previous_doc_id=page.key.doc_id)
        page.version = moved.version

    def spoil(self, page: Page) -> None:
        """A version that will not parse; what stands stays."""
        data = b"%PDF-1.7\n" + self.rng.randbytes(200)
        event = self.change(page, Op.UPSERT, content=Inline(data=data), media_type="application/pdf", acl=page.acl)
        self.broken.add(event.event_id)

    def blank(self, page: Page) -> None:
        self.upsert(page, content=Inline(data=b"\n"))
        self.said[page.key][page.version] = frozenset()

    def step(self) -> None:
        """One more change, of a kind that real sources have in about this proportion."""
        first = len(self.unborn) > self.later
        if self.unborn and (first or self.rng.random() < 0.06):
            self.create(self.unborn.pop(), Lane.BACKFILL if first else Lane.LIVE)
            return
        born = [page for page in self.pages if page.version]
        page = self.rng.choice(born)
        if not page.alive:
            self.create(page, Lane.LIVE)
            return
        kinds = (self.edit, self.permit, self.retitle, self.move, self.spoil, self.blank)
        choice = self.rng.random()
        if choice < 0.05:
            self.remove(page, Op.DELETE)
        elif choice < 0.056:
            self.remove(page, Op.ERASE)
        else:
            self.rng.choices(kinds, weights=(55, 20, 6, 5, 4, 1))[0](page)

    def poison(self) -> Poison:
        key = DocKey(tenant=TENANTS[0], source=SOURCE, doc_id=f"poison-{next(self.names)}")
        where = self.rng.choice((*Lane, "control"))
        if self.rng.random() < 0.5:
            return Poison(key=key, value=self.rng.randbytes(90), headers=[], where=where)
        return Poison(key=key, value=b"\x80", headers=[("upwell-schema", b"change/99")], where=where)


def history(seed: int, events: int = 2000, documents: int = 300) -> History:
    """The history of this seed: `events` different events, of which a few are sent twice, out of order, or amid poison."""
    author = Author(seed, documents)
    while len(author.events) < events:
        author.step()
    rng = author.rng
    sent: list[ChangeEvent | Poison] = list(author.events)
    for place in range(len(sent) - 1):
        if rng.random() < 0.06:  # what a source's retries do
            other = min(len(sent) - 1, place + rng.randint(1, 40))
            sent[place], sent[other] = sent[other], sent[place]
    for _ in range(events // 25):
        place = rng.randrange(len(sent))
        sent.insert(min(len(sent), place + rng.randint(1, 60)), sent[place])
    for _ in range(max(4, events // 100)):
        sent.insert(rng.randrange(len(sent)), author.poison())
    return History(sent=sent, events=author.events, said=author.said, broken=frozenset(author.broken))
