"""What a run has seen, and its verdict."""

from collections import Counter
from dataclasses import dataclass, field

LEAK, PART, REST = "leak", "part", "rest"
WAYS = ("library", "cli", "http", "mcp")


@dataclass
class Tally:
    """Searches and what they showed by way in, what happened, and every fault with the words that repeat it."""

    searches: Counter = field(default_factory=Counter)
    marks: Counter = field(default_factory=Counter)
    happened: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)

    def add(self, other):
        self.searches += other.searches
        self.marks += other.marks
        self.happened += other.happened
        self.faults += other.faults

    def fault(self, way, kind, said):
        self.faults.append((way, kind, said))

    def count(self, way, kind):
        return sum(1 for found in self.faults if found[:2] == (way, kind))

    @property
    def total(self):
        return sum(self.searches.values())

    @property
    def good(self):
        """True if nothing was wrong, and something was asked at all."""
        return not self.faults and self.total > 0

    def tables(self, title):
        from rich.table import Table

        ways = Table(title=title, title_justify="left")
        for name in ("way", "searches", "showed", "held back", "leaks", "lost rights", "other"):
            ways.add_column(name, justify="left" if name == "way" else "right")
        for way in (w for w in WAYS if self.searches[w] or any(f[0] == w for f in self.faults)):
            wrong = [self.count(way, kind) for kind in (LEAK, PART)]
            other = sum(1 for f in self.faults if f[0] == way) - sum(wrong)
            seen = [self.searches[way], self.marks[way, "showed"], self.marks[way, "held back"]]
            ways.add_row(way, *(f"{n:,}" for n in (*seen, *wrong, other)))
        ways.add_section()
        ways.add_row("all", f"{self.total:,}", *[""] * 2, *(str(self.kind(kind)) for kind in (LEAK, PART, REST)))
        happened = Table(title="what happened", title_justify="left")
        happened.add_column("what")
        happened.add_column("how often", justify="right")
        for name, number in sorted(self.happened.items()):
            happened.add_row(name, f"{number:,}")
        return ways, happened

    def kind(self, kind):
        return sum(1 for found in self.faults if found[1] == kind)
