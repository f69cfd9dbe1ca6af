"""The items of lists in AsciiDoc and how deep they stand.

https://docs.asciidoctor.org/asciidoc/latest/lists/unordered/ and its neighbours
"""

import re
from typing import NamedTuple

from upwell.parse.failures import too_large

ITEM = re.compile(
    r"(\s*)(?:(-|\*{1,40}|\u2022|\.{1,40}|\d{1,9}\.|[A-Za-z]\.|[ivxIVX]{1,8}\))\s+(?=\S)|(<(?:\d{1,3}|\.)>)\s+(?=\S))"
)
NEXT_INDENT = 2  # columns: less is carelessness
TERM = re.compile(r"(\s*)(?!//)(\S.*?)(:{2,4}|;;)(?:\s+(\S.*))?$")


class Item(NamedTuple):
    """An item's sign, where its line is indented to, its words, and the term that they explain if it has one."""

    sign: str
    indent: int
    words: str
    term: str | None = None


def item_of(line: str) -> Item | None:
    """The item that begins with this line; None where none does."""
    if (found := ITEM.match(line)) is not None:
        sign, words = found.group(2), line[found.end() :]
        if sign is None:
            return Item("<1>", len(found.group(1)), f"{found.group(3)} {words}")
        is_letter = sign[0].isalpha()  # maybe an initial: it stays
        return Item(_kind(sign), len(found.group(1)), f"{sign} {words}" if is_letter else words)
    if ("::" in line or ";;" in line) and (term := TERM.match(line)) is not None:
        return Item(term.group(3), len(term.group(1)), term.group(4) or "", term.group(2))
    return None


def _kind(sign: str) -> str:
    """The same for all numbers, all letters, all Roman numerals."""
    if sign[-1] == "." and sign[0] != ".":
        return "1." if sign[0].isdigit() else "a." if sign[0].islower() else "A."
    return ("i)" if sign[0].islower() else "I)") if sign[-1] == ")" else sign


class Levels:
    """The lists that are open, outermost first. `base` is how deep what they stand in is.

    The language nests by signs alone; who sets the same sign deeper means that, too.
    """

    def __init__(self, base: int, deepest: int) -> None:
        self.base, self._deepest = base, deepest
        self._open: list[tuple[str, int]] = []

    @property
    def depth(self) -> int:
        return self.base + len(self._open)

    def __bool__(self) -> bool:
        return bool(self._open)

    def close(self) -> None:
        self._open.clear()

    def level(self, item: Item) -> int:
        """How deep this item stands, from 1. Raises `too_large` where that is too deep."""
        same = [at for at, (sign, _) in enumerate(self._open) if sign == item.sign]
        within = [at for at in same if self._open[at][1] < item.indent + NEXT_INDENT]
        beyond = same[len(within)] if len(within) < len(same) else len(self._open)
        if not same or (within and self._open[within[-1]][1] + NEXT_INDENT <= item.indent):
            del self._open[beyond:]
            self._open.append((item.sign, item.indent))
        else:
            at = within[-1] if within else same[0]
            del self._open[at + 1 :]
            self._open[at] = (item.sign, min(self._open[at][1], item.indent))
        if self.depth > self._deepest:
            raise too_large("nested too deeply")
        return self.depth
