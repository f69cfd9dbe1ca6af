"""What a paragraph of WordprocessingML is, by its style, its own properties, and the look of its words."""

import re
from typing import Any

from upwell.parse.word.runs import Inline
from upwell.parse.word.styles import Styles, value
from upwell.records import Kind

CAPTION = re.compile(r"(?:figure|fig\.|table|listing|chart|abbildung|abb\.|tabelle|tableau|tabla)\s+\d+", re.IGNORECASE)
CODE_SIGN = re.compile(r"[;{}=<>\[\]_$#\\]|\w\(|^\s*(?:def|class|import|return|if|for|while)\b")
MONOSPACED_SHARE = 0.95


class Paragraph:
    """A paragraph whose words are read (`inline`). `style` is the id of its style, None for the default's."""

    def __init__(self, element: Any, inline: Inline, styles: Styles) -> None:
        self.inline = inline
        self._styles = styles
        self._properties = element.find("{*}pPr")
        self.style = value(self._properties, "pStyle")

    @property
    def is_contents(self) -> bool:
        """Whether it is a line of a table of contents."""
        return self._styles.contents(self.style)

    @property
    def is_formula(self) -> bool:
        """Whether it says nothing beside its formulas."""
        formulas = self.inline.formulas
        return bool(formulas) and self.inline.text.replace("$", "").strip() == "".join(formulas).strip()

    def is_code(self, *, below_code: bool) -> bool:
        """By style; or all in a font of equal widths and with the signs of code, or indented below such a line."""
        if self._styles.kind(self.style) is Kind.CODE:
            return True
        inline, text = self.inline, self.inline.text
        mono = inline.letters > 0 and inline.monospaced >= inline.letters * MONOSPACED_SHARE
        mono = mono or (self._styles.monospaced(self.style) and self.style not in {None, self._styles.default})
        return mono and bool(CODE_SIGN.search(text) or (below_code and text[:1].isspace()))

    @property
    def heading_level(self) -> int | None:
        """1 to 9 for a heading, 0 for the title; None for body text. Its own level goes before its style's."""
        own = value(self._properties, "outlineLvl") or ""
        if own.isdecimal():
            return int(own) + 1 if int(own) < 9 else None
        return self._styles.heading(self.style)

    @property
    def list_level(self) -> int | None:
        """The depth of a list's item from 1; None for no item."""
        numbering = None if self._properties is None else self._properties.find("{*}numPr")
        level = value(numbering, "ilvl") or ""
        own = int(level) if level.isdecimal() and len(level) < 4 else None
        return self._styles.list_level(self.style, value(numbering, "numId"), own)

    def body_kind(self, *, below_figure: bool) -> Kind:
        """What kind of body text it is; below a figure or a table, a caption by its first words."""
        kind = self._styles.kind(self.style)
        if kind is None and below_figure and CAPTION.match(self.inline.text.strip()):
            return Kind.CAPTION
        if kind is None and self.list_level is not None:
            return Kind.LIST_ITEM
        return kind or Kind.PARAGRAPH
