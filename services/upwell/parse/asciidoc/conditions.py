"""What of AsciiDoc is decided before its blocks: lines under a condition, files to include (none is ever read).

https://docs.asciidoctor.org/asciidoc/latest/directives/conditionals/
"""

import operator
import re
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from upwell.parse.asciidoc.attributes import Attributes

DIRECTIVE = re.compile(r"(\\?)(ifdef|ifndef|ifeval|endif|include)::([^\[]*)\[(.*)\]$")
VERBATIM = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|```.*)$")
COMPARED = re.compile(
    r"\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=!<>]+)\s*([=!]=|[<>]=?)\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=!<>]+)\s*$"
)
COMPARISONS: MappingProxyType[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)
NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


class Unshown(NamedTuple):
    """Text that is left out before this line, and why."""

    line: int
    text: str
    why: str


class _Open(NamedTuple):
    """A condition that is not closed yet."""

    name: str
    holds: bool


def conditioned(lines: Sequence[str], attributes: Attributes) -> tuple[list[str], list[Unshown]]:
    """The lines whose conditions hold, by what the document defines before them; and what is left out."""
    conditions = _Conditions(attributes)
    for at, line in enumerate(lines):
        found = DIRECTIVE.match(line.rstrip()) if "::" in line[:10] else None
        if found is None or found.group(1):
            conditions.take(lines, at, line if found is None else line[1:])
        else:
            conditions.obey(line.strip(), found.group(2), found.group(3).strip(), found.group(4))
    conditions.leave()
    return conditions.kept, conditions.unshown


class _Conditions:
    """Which conditions are open, and what is kept and left out so far."""

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        self.kept: list[str] = []
        self.unshown: list[Unshown] = []
        self._skipped: list[str] = []
        self._open: list[_Open] = []
        self._closed = 0  # of the open conditions, those that do not hold
        self._fence = ""
        self._entry_end = 0  # an entry may go on over lines that look like entries

    def leave(self) -> None:
        """What was skipped in a row is one."""
        if self._skipped:
            self.unshown.append(Unshown(len(self.kept), "\n".join(self._skipped), "conditional"))
            self._skipped = []

    def take(self, lines: Sequence[str], at: int, shown: str) -> None:
        """A line that is no directive; what it defines counts, unless it stands in code."""
        if self._closed:
            self._skipped.append(shown)
            return
        self.leave()
        bare = shown.rstrip()
        if self._fence:
            self._fence = "" if bare == self._fence else self._fence
        elif VERBATIM.match(bare):
            self._fence = "```" if bare.startswith("```") else bare
        elif at >= self._entry_end:
            self._entry_end = at + self.attributes.entry(lines, at)
        self.kept.append(shown)

    def obey(self, line: str, name: str, target: str, said: str) -> None:
        """A directive."""
        if name == "endif":
            if self._open and target in {"", self._open[-1].name}:
                self._closed -= not self._open.pop().holds
        elif name == "include":
            if self._closed:
                self._skipped.append(line)
                return
            self.leave()
            self.unshown.append(Unshown(len(self.kept), line, "markup"))
        elif name != "ifeval" and said:
            self._one_line(said, holds=not self._closed and _holds(name, target, said, self.attributes))
        else:
            self._open.append(_Open(target, not self._closed and _holds(name, target, said, self.attributes)))
            self._closed += not self._open[-1].holds

    def _one_line(self, said: str, *, holds: bool) -> None:
        if not holds:
            self._skipped.append(said)
            return
        self.leave()
        self.kept.append(said)


def _holds(name: str, target: str, said: str, attributes: Attributes) -> bool:
    if name == "ifeval":
        return _compares(said, attributes)
    names = [part.strip() for part in re.split(r"[,+]", target)]
    defined = [part in attributes for part in names]
    all_of = "+" in target
    if name == "ifdef":
        return all(defined) if all_of else any(defined)
    return not all(defined) if all_of else not any(defined)


def _compares(said: str, attributes: Attributes) -> bool:
    found = COMPARED.match(said) if len(said) < 1000 else None
    if found is None:
        return False
    left, right = (_value(found.group(place), attributes) for place in (1, 3))
    if type(left) is not type(right):
        return found.group(2) == "!="
    return COMPARISONS[found.group(2)](left, right)


def _value(said: str, attributes: Attributes) -> str | float:
    if said[0] in "\"'":
        return re.sub(r"\{[\w-]+\}", "", attributes.filled(said[1:-1]))
    filled = attributes.filled(said)
    return float(filled) if NUMBER.fullmatch(filled) else re.sub(r"\{[\w-]+\}", "", filled)
