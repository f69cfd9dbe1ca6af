"""The styles and numbering of a WordprocessingML package: what a paragraph is by what it is based on."""

import re
from typing import Any

from upwell.parse.office.package import attribute
from upwell.parse.office.styles import heading_level, kind_of_style
from upwell.records import Kind, Record

LONGEST_CHAIN = 20
USUAL_SIZE = 20  # half points, where a document says none
CONTENTS = re.compile(
    r"(?:toc|verzeichnis|tm) ?\d|toc heading|table of (?:figures|authorities)|index \d", re.IGNORECASE
)
LIST_NAME = re.compile(r"list (?:bullet|number|paragraph bullet)( \d)?|bullet|numbered", re.IGNORECASE)
MONOSPACED = frozenset(
    {
        "courier new", "courier", "consolas", "menlo", "monaco", "lucida console", "cascadia code", "cascadia mono",
        "source code pro", "fira code", "fira mono", "ubuntu mono", "dejavu sans mono", "liberation mono",
        "andale mono", "roboto mono", "inconsolata", "sf mono", "noto sans mono", "ibm plex mono", "hack",
        "jetbrains mono",
    }
)  # fmt: skip


class Style(Record, frozen=True, kw_only=True):
    """What one style says itself."""

    name: str = ""
    based_on: str = ""
    outline_level: int | None = None
    numbered: str | None = None
    list_level: int | None = None
    hidden: bool | None = None
    monospaced: bool | None = None
    bold: bool | None = None
    size: int | None = None


class Styles:
    """Answers by a style's id, through what it is based on."""

    def __init__(self, styles: Any, numbering: Any) -> None:
        self._styles: dict[str, Style] = {}
        self.default = ""
        for style in () if styles is None else styles.iter("{*}style"):
            name = attribute(style, "styleId") or ""
            self._styles[name] = _style(style)
            if attribute(style, "default") in {"1", "true"} and attribute(style, "type") == "paragraph":
                self.default = name
        usual = None if styles is None else styles.find("{*}docDefaults/{*}rPrDefault/{*}rPr")
        self._size = whole(value(usual, "sz")) or USUAL_SIZE
        self._level_of_style: dict[str, int] = {}
        self._none: set[tuple[str, int]] = set()
        self._read_numbering(numbering)

    def _read_numbering(self, numbering: Any) -> None:
        """Which levels of which lists show no mark, and which style stands at which level."""
        if numbering is None:
            return
        blank: dict[str, set[int]] = {}
        for abstract in numbering.findall("{*}abstractNum"):
            name = attribute(abstract, "abstractNumId") or ""
            for level in abstract.findall("{*}lvl"):
                number = whole(attribute(level, "ilvl")) or 0
                if value(level, "numFmt") == "none":
                    blank.setdefault(name, set()).add(number)
                if (style := value(level, "pStyle")) is not None:
                    self._level_of_style[style] = number
        for num in numbering.findall("{*}num"):
            levels = blank.get(value(num, "abstractNumId") or "", set())
            self._none |= {(attribute(num, "numId") or "", level) for level in levels}

    def chain(self, name: str | None) -> list[Style]:
        """The style and those that it is based on, nearest first."""
        found: list[Style] = []
        name = name or self.default
        while name in self._styles and len(found) < LONGEST_CHAIN:
            found.append(self._styles[name])
            name = found[-1].based_on
        return found

    def heading(self, name: str | None) -> int | None:
        """1 to 9 for a heading, 0 for the title; None for body text."""
        for style in self.chain(name):
            if (level := heading_level(style.name)) is not None:
                return level
            if style.outline_level is not None:
                return style.outline_level + 1 if style.outline_level < 9 else None
        return heading_level(re.sub(r"(\d)$", r" \1", name)) if name and name not in self._styles else None

    def kind(self, name: str | None) -> Kind | None:
        found = (kind_of_style(style.name) for style in self.chain(name))
        kind = next((kind for kind in found if kind), None)
        return kind or (kind_of_style(name) if name and name not in self._styles else None)

    def contents(self, name: str | None) -> bool:
        """Whether it is a line of a table of contents."""
        return any(CONTENTS.fullmatch(style.name) for style in self.chain(name)[:2])

    def list_level(self, name: str | None, number: str | None, level: int | None) -> int | None:
        """The depth of a list's item from 1, of a paragraph with this style and its own numbering; None for no item."""
        chain = self.chain(name)
        named = next((m for style in chain if (m := LIST_NAME.fullmatch(style.name))), None)
        deep = None if named is None else int((named.group(1) or "1").strip())
        if number is None:
            own = next((style for style in chain if style.numbered is not None), None)
            if own is None:
                return deep
            number = own.numbered or "0"
            if level is None:
                level = self._level_of_style.get(name or "", own.list_level)
                level = deep - 1 if deep is not None and not level else level
        return None if number == "0" or (number, level or 0) in self._none else min(level or 0, 8) + 1

    def hidden(self, name: str | None) -> bool:
        return next((style.hidden for style in self.chain(name) if style.hidden is not None), False)

    def bold(self, name: str | None) -> bool:
        return next((style.bold for style in self.chain(name) if style.bold is not None), False)

    def size(self, name: str | None) -> int:
        """Of its letters, in half points."""
        return next((style.size for style in self.chain(name) if style.size is not None), self._size)

    def monospaced(self, name: str | None) -> bool:
        return next((style.monospaced for style in self.chain(name) if style.monospaced is not None), False)


def _style(style: Any) -> Style:
    paragraph, run = style.find("{*}pPr"), style.find("{*}rPr")
    numbering = None if paragraph is None else paragraph.find("{*}numPr")
    return Style(
        name=value(style, "name") or "",
        based_on=value(style, "basedOn") or "",
        outline_level=whole(value(paragraph, "outlineLvl")),
        numbered=value(numbering, "numId"),
        list_level=whole(value(numbering, "ilvl")),
        hidden=switch(run, "vanish"),
        monospaced=monospaced(run),
        bold=switch(run, "b"),
        size=whole(value(run, "sz")),
    )


def value(parent: Any, name: str) -> str | None:
    """The `val` of the child of that name, None where there is none."""
    child = None if parent is None else parent.find(f"{{*}}{name}")
    return None if child is None else attribute(child, "val")


def switch(parent: Any, name: str) -> bool | None:
    """A property that is on when it is there, unless its value says no; None when it is not there."""
    child = None if parent is None else parent.find(f"{{*}}{name}")
    return None if child is None else attribute(child, "val") not in {"0", "false", "off", "none"}


def monospaced(run: Any) -> bool | None:
    """Whether these properties of letters name a font of equal widths; None when they name none."""
    fonts = None if run is None else run.find("{*}rFonts")
    name = None if fonts is None else attribute(fonts, "ascii")
    return None if name is None else name.lower() in MONOSPACED


def whole(text: str | None) -> int | None:
    """A whole number of at most five digits; None for anything else."""
    return int(text) if text and text.isdecimal() and len(text) < 6 else None
