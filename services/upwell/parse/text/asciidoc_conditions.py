"""What of AsciiDoc is decided before its blocks: lines under a condition, files to include (none is ever read).

https://docs.asciidoctor.org/asciidoc/latest/directives/conditionals/
"""

import operator
import re
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from upwell.parse.text.asciidoc_attributes import Attributes

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
    kept: list[str] = []
    unshown: list[Unshown] = []
    opened: list[_Open] = []
    skipped: list[str] = []
    closed = 0  # of the conditions that are open, those that do not hold
    fence = ""

    def leave() -> None:
        if skipped:
            unshown.append(Unshown(len(kept), "\n".join(skipped), "conditional"))
            skipped.clear()

    for at, line in enumerate(lines):
        found = DIRECTIVE.match(line.rstrip()) if "::" in line[:10] else None
        if found is None or found.group(1):
            shown = line if found is None else line[1:]
            if closed:
                skipped.append(shown)
                continue
            leave()
            if fence:
                fence = "" if shown.rstrip() == fence else fence
            elif VERBATIM.match(shown.rstrip()):
                fence = "```" if shown.startswith("```") else shown.rstrip()
            else:
                attributes.entry(lines, at)
            kept.append(shown)
            continue
        name, target, said = found.group(2), found.group(3).strip(), found.group(4)
        if name == "include":
            if closed:
                skipped.append(line)
            else:
                leave()
                unshown.append(Unshown(len(kept), line.strip(), "markup"))
        elif name == "endif":
            if opened and target in {"", opened[-1].name}:
                closed -= not opened.pop().holds
        elif name != "ifeval" and said:
            if closed or not _holds(name, target, said, attributes):
                skipped.append(said)
            else:
                leave()
                kept.append(said)
        else:
            opened.append(_Open(target, not closed and _holds(name, target, said, attributes)))
            closed += not opened[-1].holds
    leave()
    return kept, unshown


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
