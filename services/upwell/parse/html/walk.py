"""The walk over an HTML page: inline words gathered into blocks, tables and formulas whole, and what is left out."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from upwell.parse.html.boilerplate import BOILERPLATE, Judge
from upwell.parse.html.table import is_data_table, nested_tables, table_of
from upwell.parse.html.tags import BLOCKS, CONTROLS, HEADING, PREFORMATTED, UNREAD, is_apart, is_hidden, plain
from upwell.parse.html.words import (
    TEX_SCRIPT,
    code_language,
    code_of,
    every_word,
    formula_of,
    heading_of,
    is_line_number,
    is_power,
    words_of,
    words_of_control,
)
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind

NO_LINK = ("javascript:", "data:", "#", "vbscript:")
QUOTING = re.compile(r"gmail_quote|moz-cite-prefix|yahoo_quoted|protonmail_quote|OutlookMessageHeader", re.IGNORECASE)
INNER_KINDS = {"figcaption": Kind.CAPTION, "caption": Kind.CAPTION, "blockquote": Kind.QUOTE}


class _State(NamedTuple):
    """What words are, where they stand."""

    kind: Kind = Kind.PARAGRAPH
    level: int = 0
    left_out: str | None = None
    inside_main: bool = False


class Reader:
    """Walks the tree without recursion, gathering inline text until a block begins or ends."""

    def __init__(self, judge: Judge | None, outline: Outline, limits: Limits) -> None:
        self.judge, self.outline, self.limits = judge, outline, limits
        self.words: list[str] = []
        self.links: list[str] = []
        self.asides: list[tuple[str, str]] = []
        self.state = _State(inside_main=judge is None)

    def read(self, root: Any) -> None:
        """Give all that stands below `root` to the outline. Raises what the outline raises."""
        # Not the body alone: without a body tag, libxml2 leaves newer tags that come first in the head.
        stack: list[tuple[Any, Iterator[Any], _State]] = []
        if (opened := self._enter(root)) is not None:
            stack.append(opened)
        while stack:
            element, children, before = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._leave(element, before)
                if stack:
                    self._say(element.tail)
            elif not isinstance(child.tag, str):
                self._say(child.tail)
            elif (opened := self._enter(child)) is not None:
                stack.append(opened)
            else:
                self._say(child.tail)
        self._flush()

    def _enter(self, element: Any) -> tuple[Any, Iterator[Any], _State] | None:
        """Begin an element; None when all of it has been said, or none of it is to be."""
        tag = element.tag
        if tag == "script" and TEX_SCRIPT.match(element.get("type") or ""):
            self._formula(" ".join((element.text or "").split()), "display" in element.get("type"))
            return None
        if tag in CONTROLS and not is_hidden(element):
            self.words.append(" ")
            self.asides.append((words_of_control(element), self.state.left_out or BOILERPLATE))
        if tag in UNREAD:
            return None
        before = self.state
        self.state = self._state_in(element, tag)
        if tag not in BLOCKS and self.state.left_out and not before.left_out:
            # Inside a paragraph, which it does not part.
            self.asides.append((every_word(element), self.state.left_out))
            self.words.append(" " if is_apart(element) else "")
            self.state = before
            return None
        if tag in BLOCKS or self.state.left_out != before.left_out:
            self._flush(before)
        if self._said_whole(element, tag):
            self.state = before
            return None
        if tag not in BLOCKS:
            self.words.append("^" if is_power(element, self.words) else " " if is_apart(element) else "")
        self._say(element.text)
        return element, iter(element), before

    def _leave(self, element: Any, before: _State) -> None:
        if element.tag in BLOCKS or self.state.left_out != before.left_out:
            self._flush()
        elif is_apart(element):
            self.words.append(" ")
        self.state = before

    def _state_in(self, element: Any, tag: str) -> _State:
        state = self.state
        if is_hidden(element):
            return state._replace(left_out="hidden")
        if self.judge is not None:
            if element is self.judge.main:
                return state._replace(inside_main=True)
            if state.left_out is None and (why := self.judge.why(element, inside_main=state.inside_main)):
                state = state._replace(left_out=why)
        if tag == "td" and state.left_out is None and is_line_number(element):
            return state._replace(left_out=BOILERPLATE)
        if tag in INNER_KINDS:
            return state._replace(kind=INNER_KINDS[tag])
        if tag in {"li", "dt"}:
            return state._replace(kind=Kind.LIST_ITEM, level=state.level + 1)
        if tag == "dd":
            return state._replace(kind=Kind.LIST_ITEM, level=state.level + 2)
        if self.judge is None and QUOTING.search(element.get("class") or ""):
            return state._replace(kind=Kind.QUOTE)
        return state

    def _said_whole(self, element: Any, tag: str) -> bool:
        """Say what is not read by its parts. True when that was done."""
        if self.state.left_out:
            return tag in {"math", "img"}
        if HEADING.fullmatch(tag):
            self.outline.heading(heading_of(element, self.limits), int(tag[1]))
        elif tag in PREFORMATTED:
            self.outline.add(Kind.CODE, code_of(element), language=code_language(element))
        elif tag == "table" and is_data_table(element):
            self._table(element)
        elif tag == "math":
            self._formula(formula_of(element, self.limits), element.get("display") == "block")
        elif tag == "img":
            self._image(element)
        elif tag == "br":
            self.words.append("\n")
        else:
            if tag == "a" and (href := (element.get("href") or "").strip()) and not href.lower().startswith(NO_LINK):
                self.links.append(href)
            return False
        return True

    def _table(self, element: Any) -> None:
        inner = nested_tables(element)
        caption = element.find("caption")
        if caption is not None:
            self.outline.add(Kind.CAPTION, words_of(caption, self.limits))
        links = tuple(a.get("href") for a in element.iter("a") if a.get("href"))
        self.outline.table(table_of(element, lambda cell: words_of(cell, self.limits, inner.__contains__)), links=links)
        for table in inner:
            self._table(table)

    def _formula(self, latex: str, display: bool) -> None:
        if not latex or self.state.left_out:
            return
        if display:
            self._flush()
            self.outline.add(Kind.FORMULA, latex)
        else:
            self.words.append(f" ${latex}$ " if not latex.startswith("$") else latex)

    def _image(self, element: Any) -> None:
        alt = " ".join((element.get("alt") or "").split())
        if (element.get("width") or "").strip("px") in {"0", "1"} or (not alt and element.get("alt") is not None):
            return  # a tracking pixel, an ornament
        if not "".join(self.words).strip() and _stands_alone(element):
            self.outline.add(Kind.FIGURE, alt, links=(element.get("src") or "",))
        elif alt:
            self.words.append(f" {alt} ")

    def _say(self, text: str | None) -> None:
        if text:
            self.words.append(plain(text))

    def _flush(self, state: _State | None = None) -> None:
        state = state or self.state
        text = "\n".join(line.strip() for line in re.sub(" +", " ", "".join(self.words)).split("\n")).strip()
        links = tuple(self.links)
        asides, self.asides, self.words, self.links = self.asides, [], [], []
        if text and state.left_out:
            self._leave_out(text, state.left_out)
        elif text:
            level = state.level if state.kind is Kind.LIST_ITEM else None
            self.outline.add(state.kind, text, level=level, links=links)
        for words, why in asides:
            if words:
                self._leave_out(words, why)

    def _leave_out(self, text: str, why: str) -> None:
        """Furniture in a row is one block: a menu is no hundred things."""
        last = self.outline.blocks[-1] if self.outline.blocks else None
        if last is not None and last.kind is Kind.PAGE_FURNITURE and last.left_out == why and len(last.text) < 2000:
            self.outline.extend(text)
        else:
            self.outline.add(Kind.PAGE_FURNITURE, text, left_out=why)


def _stands_alone(image: Any) -> bool:
    """Whether an image is a figure: alone in its block so far, and not an icon before words."""
    holder = image.getparent()
    while holder is not None and holder.tag in {"a", "picture", "span", "noscript"}:
        if (holder.text or "").strip() or (image.tail or "").strip():
            return False
        image, holder = holder, holder.getparent()
    return (
        holder is not None
        and holder.tag in BLOCKS
        and (holder.tag not in {"li", "td", "th", "dt"} or not (image.tail or "").strip())
    )
