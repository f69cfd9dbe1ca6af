"""A place in an AsciiDoc document while it is read: its lines, what is open there, and how words become blocks."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from upwell.parse.asciidoc.conditions import Unshown
from upwell.parse.asciidoc.lists import Levels, item_of
from upwell.parse.asciidoc.meta import LINE, Meta
from upwell.parse.asciidoc.places import TITLE
from upwell.parse.asciidoc.words import Words
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind

FENCE = re.compile(r"-{4,}|={4,}|\*{4,}|_{4,}|\.{4,}|\+{4,}|/{4,}|--|~{4,}|[|,:!]={3,}")
CODE_FENCE = re.compile(r"(`{3,})[ \t]*([\w+#.-]*)(?:[ \t,{].*)?")


class Container(NamedTuple):
    """A fenced block that holds blocks, and what goes on when it is closed."""

    fence: str
    is_quote: bool
    after: str
    levels: Levels


class Page:
    """Lines that are taken block by block; `at` is the next one. `read` is how all of them are read."""

    def __init__(
        self,
        lines: Sequence[str],
        outline: Outline,
        words: Words,
        limits: Limits,
        *,
        read: Callable[["Page"], None],
        unshown: Sequence[Unshown] = (),
        depth: int = 0,
    ) -> None:
        self.lines, self.outline, self.words, self.limits = lines, outline, words, limits
        self.read, self.depth = read, depth
        self.at = 0
        self.title: str | None = None
        self.has_begun = depth > 0
        self.meta = Meta()
        self.lead = ""  # what the next words begin with: the name of an admonition
        self.levels = Levels(0, limits.nesting)
        self.is_attached = False
        self.after_blank = True
        self.open: list[Container] = []
        self.fences: set[str] = set()
        self._unshown = list(reversed(unshown))

    def within(self, lines: Sequence[str], outline: Outline) -> None:
        """Read what a cell of a table holds into an outline of its own."""
        self.read(Page(lines, outline, self.words, self.limits, read=self.read, depth=self.depth + 1))

    def leave_unshown(self) -> None:
        while self._unshown and self._unshown[-1].line <= self.at:
            _, text, why = self._unshown.pop()
            self.leave_out(text, why)

    def leave_out(self, text: str, why: str) -> None:
        self.outline.add(Kind.PAGE_FURNITURE, text, left_out=why)

    def line(self, offset: int) -> str:
        return self.lines[self.at + offset].rstrip() if self.at + offset < len(self.lines) else ""

    def say(self, kind: Kind, text: str, *, level: int | None = None) -> None:
        """A block of words, then the notes in them."""
        said = self.words.plain(text)
        if kind is not Kind.CAPTION:
            self.has_begun = True
            self.is_attached = False
            if kind is Kind.PARAGRAPH and self.open and self.open[-1].is_quote:
                kind = Kind.QUOTE
        lead, self.lead = (self.lead, "") if kind is not Kind.CAPTION and said.text.strip() else ("", self.lead)
        self.outline.add(kind, lead + said.text, level=level, links=said.links)
        self.after_words()

    def after_words(self) -> None:
        notes, self.words.notes = self.words.notes, []
        for note in notes:
            self.outline.add(Kind.FOOTNOTE, note.text, links=note.links)
        unseen, self.words.unseen = self.words.unseen, []
        self.leave_out("\n".join(unseen), "hidden")

    def taken(self) -> Meta:
        """What was said of the block that begins."""
        meta, self.meta = self.meta, Meta()
        return meta

    def ends_lists(self) -> None:
        """What is not attached to a list's item ends the list."""
        if not self.is_attached:
            self.levels.close()
        self.is_attached = False

    def until(self, fence: str) -> list[str]:
        """The lines up to this fence, or to the end of the block that all this stands in."""
        start = self.at
        while self.at < len(self.lines):
            bare = self.line(0)
            self.at += 1
            if bare == fence:
                return list(self.lines[start : self.at - 1])
            if bare in self.fences:
                self.at -= 1
                break
        return list(self.lines[start : self.at])

    def gathered(self, *, in_item: bool, is_literal: bool = False) -> list[str]:
        """The lines that go on with what began; comments between them are left out, unless all is kept as it is."""
        lines: list[str] = []
        comments: list[str] = []
        while self.line(0).strip() and not self.interrupts(in_item=in_item):
            line = self.lines[self.at]
            is_comment = not is_literal and line.startswith("//") and not line.startswith("///")
            (comments if is_comment else lines).append(line)
            self.at += 1
        self.leave_out(comment_of(comments), "comment")
        return lines

    def interrupts(self, *, in_item: bool) -> bool:
        line = self.line(0)
        if FENCE.fullmatch(line) or CODE_FENCE.fullmatch(line) or (line[0] == "[" and LINE.match(line)):
            return True
        return in_item and (
            line == "+" or item_of(line) is not None or (line[0] == "." and TITLE.fullmatch(line) is not None)
        )


def flowing(lines: Sequence[str]) -> str:
    """Lines as one, but where one ends in a plus sign."""
    parts: list[str] = []
    for line in lines:
        bare = line.strip()
        parts.append(f"{bare[:-2].rstrip()}\n" if bare.endswith(" +") else f"{bare} " if bare else "\n")
    return "".join(parts).strip()


def source_of(meta: Meta) -> str:
    """Whose words a quotation has, and where they stand."""
    said = ", ".join(filter(None, (meta.get("attribution", 1), meta.get("citetitle", 2))))
    return f"-- {said}" if said else ""


def comment_of(lines: Sequence[str]) -> str:
    return "\n".join(line.removeprefix("//").strip() for line in lines)
