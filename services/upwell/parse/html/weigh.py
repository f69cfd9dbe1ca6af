"""Weighs each element of a page once, in time linear in the page: how much text, links and prose it holds."""

from typing import Any

from upwell.parse.html.tags import BLOCKS, HEADING, PREFORMATTED, UNREAD, is_hidden

LEAST_PROSE = 40
MOST_LINKED = 0.5


class Weight:
    """Characters below an element. `inline` is what stands in no block of its own; prose is text in runs of forty
    characters or more of which less than half are links; `heads` of the characters are headings'.
    """

    __slots__ = ("chars", "heads", "inline", "inline_linked", "linked", "links", "prose", "titles")

    def __init__(self) -> None:
        self.chars = self.linked = self.links = self.prose = self.inline = self.inline_linked = self.titles = (
            self.heads
        ) = 0

    def add(self, inner: "Weight") -> None:
        """Count what an element inside this one holds."""
        self.chars += inner.chars
        self.inline += inner.inline
        self.inline_linked += inner.inline_linked
        self.linked += inner.linked
        self.links += inner.links
        self.prose += inner.prose
        self.titles += inner.titles
        self.heads += inner.heads

    @property
    def density(self) -> float:
        """The share of its text that is links."""
        return self.linked / self.chars if self.chars else 0.0

    @property
    def listed(self) -> float:
        """The share of its text that is links, headings above them not counted."""
        return min(1.0, self.linked / max(1, self.chars - self.heads))


NOTHING = Weight()


class Weights:
    """The weights of a tree's elements. What is hidden weighs nothing."""

    def __init__(self, root: Any) -> None:
        elements = [e for e in root.iter() if isinstance(e.tag, str)]
        self._of: dict[Any, Weight] = {}
        for element in reversed(elements):
            weight = self._of.get(element)
            if weight is None:
                weight = self._of[element] = Weight()
            self._close(element, weight)

    def __getitem__(self, element: Any) -> Weight:
        return self._of.get(element, NOTHING)

    def _close(self, element: Any, weight: Weight) -> None:
        """Finish an element whose children have all been added, and add it to what holds it."""
        tag = element.tag
        seen = tag not in UNREAD and not is_hidden(element)
        if seen:
            self._close_seen(element, tag, weight)
        else:
            self._of[element] = NOTHING
        parent, tail = element.getparent(), element.tail
        if parent is None or not (seen or tail):
            return
        above = self._of.get(parent)
        if above is None:
            above = self._of[parent] = Weight()
        own = len(tail.strip()) if tail else 0
        if seen:
            above.add(weight)
        above.chars += own
        above.inline += own

    def _close_seen(self, element: Any, tag: str, weight: Weight) -> None:
        text = element.text
        if text:
            own = len(text.strip())
            weight.chars += own
            weight.inline += own
        if tag == "a" and element.get("href"):
            weight.linked, weight.inline_linked, weight.links = weight.chars, weight.inline, weight.links + 1
        elif tag == "h1":
            weight.titles = 1
        if tag in BLOCKS:
            if tag in PREFORMATTED:
                weight.inline_linked = 0  # code is content however much of it is links
            is_heading = HEADING.fullmatch(tag) is not None
            if is_heading:
                weight.heads = weight.chars - weight.linked
            if not is_heading and weight.inline >= LEAST_PROSE and weight.inline_linked < MOST_LINKED * weight.inline:
                weight.prose += weight.inline - weight.inline_linked
            weight.inline = weight.inline_linked = 0
