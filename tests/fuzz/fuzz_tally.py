"""What a run has seen, and its verdict."""

from collections import Counter
from dataclasses import dataclass, field

from upwell.records import ParseStatus

DEATH, ESCAPED, WRONG = "death", "escaped", "wrong"


@dataclass
class Tally:
    """How documents ended by their file type, and each fault with the case that shows it."""

    ended: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)
    slowest: list = field(default_factory=list)

    def add(self, case, status, seconds):
        self.ended[case.kind, status] += 1
        self.slowest = sorted([*self.slowest, (round(seconds, 2), case.number, case.name)], reverse=True)[:5]

    def fault(self, case, kind, said):
        self.faults.append((case, kind, said))

    @property
    def total(self):
        return self.ended.total()

    @property
    def good(self):
        """True if nothing was wrong, and something was read at all."""
        return not self.faults and self.total > 0

    def count(self, kind):
        return sum(1 for _, found, _ in self.faults if found == kind)

    def table(self, title):
        from rich.table import Table

        columns = [*ParseStatus, *sorted({s for _, s in self.ended} - set(ParseStatus))]
        columns = [c for c in columns if any(status == c for _, status in self.ended)]
        table = Table(title=title, title_justify="left", caption=self._caption(), caption_justify="left")
        table.add_column("type")
        for name in ("files", *columns):
            table.add_column(str(name), justify="right")
        for kind in sorted({kind for kind, _ in self.ended}):
            numbers = [self.ended[kind, column] for column in columns]
            table.add_row(kind, f"{sum(numbers):,}", *(f"{n:,}" if n else "" for n in numbers))
        table.add_section()
        sums = [sum(n for (_, status), n in self.ended.items() if status == column) for column in columns]
        table.add_row("all", f"{self.total:,}", *(f"{n:,}" for n in sums))
        return table

    def _caption(self):
        wrong = f"{self.count(DEATH)} deaths, {self.count(ESCAPED)} escaped errors, {self.count(WRONG)} wrong answers"
        return f"{wrong}; slowest: " + ", ".join(f"{s:g} s case {n} ({name})" for s, n, name in self.slowest)
