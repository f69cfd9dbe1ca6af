"""The numbers that Word writes before headings and items by itself (ECMA-376 part 1, section 17.9)."""

import re
from typing import Any

from upwell.parse.office.package import attribute
from upwell.parse.word.styles import value
from upwell.records import Record

PLACE = re.compile(r"%([1-9])")
LEVELS = 9
LONGEST_LABEL = 40
MOST_LETTERS, MOST_ROMAN = 26 * 5, 3_999
ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class Level(Record, frozen=True, kw_only=True):
    """How one level of a list counts. `restart` is the level, from 1, after which it begins anew; 0 is never."""

    form: str
    text: str
    start: int
    restart: int | None
    decimal: bool


class Label(Record, frozen=True, kw_only=True):
    """What stands before a paragraph. `plain` where it is no more than its place in its list: `3.`."""

    text: str
    plain: bool


class Numbering:
    """Counts the paragraphs of a document's lists in their order; lists of one abstract definition count together."""

    def __init__(self, numbering: Any) -> None:
        self._levels: dict[str, dict[int, Level]] = {}
        self._abstract: dict[str, str] = {}
        self._begins: dict[str, dict[int, int]] = {}
        self._at: dict[str, list[int | None]] = {}
        for abstract in () if numbering is None else numbering.findall("{*}abstractNum"):
            levels = {_whole(attribute(level, "ilvl"), 0): _level(level) for level in abstract.findall("{*}lvl")}
            self._levels[attribute(abstract, "abstractNumId") or ""] = levels
        for num in () if numbering is None else numbering.findall("{*}num"):
            name = attribute(num, "numId") or ""
            self._abstract[name] = value(num, "abstractNumId") or ""
            self._begins[name] = {
                _whole(attribute(override, "ilvl"), 0): _whole(start, 1)
                for override in num.findall("{*}lvlOverride")
                if (start := value(override, "startOverride")) is not None
            }

    def next(self, number: str, level: int) -> Label | None:
        """The label of the next paragraph at `level` (from 0) of list `number`; None for a mark that is no number."""
        abstract = self._abstract.get(number, "")
        levels = self._levels.get(abstract, {})
        own = levels.get(level)
        if own is None or not 0 <= level < LEVELS:
            return None
        at = self._at.setdefault(abstract, [None] * LEVELS)
        if (begin := self._begins[number].pop(level, None)) is not None:
            at[level] = begin
        else:
            before = at[level]
            at[level] = own.start if before is None else before + 1
        for deeper in range(level + 1, LEVELS):
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or level < restart:
                at[deeper] = None
        for higher in range(level):
            if at[higher] is None and higher in levels:
                at[higher] = levels[higher].start
        return _label(own, levels, at)


def _label(own: Level, levels: dict[int, Level], at: list[int | None]) -> Label | None:
    places = [int(place) - 1 for place in PLACE.findall(own.text)]
    said: dict[int, str] = {}
    for place in places:
        count, level = at[place], levels.get(place)
        one = None if count is None or level is None else _said(count, "decimal" if own.decimal else level.form)
        if one is None:
            return None
        said[place] = one
    text = PLACE.sub(lambda found: said[int(found[1]) - 1], own.text).strip()
    if not places or len(text) > LONGEST_LABEL:
        return None
    return Label(text=text, plain=len(places) == 1 and own.form == "decimal" and text.rstrip(".)").isdecimal())


def _said(count: int, form: str) -> str | None:
    """A count in decimal, letters or Roman numerals; None in any other form, or where it would be long."""
    if form == "decimal":
        return str(count)
    if form == "decimalZero":
        return f"{count:02}"
    letters = None
    if form in {"lowerLetter", "upperLetter"} and 1 <= count <= MOST_LETTERS:
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
    elif form in {"lowerRoman", "upperRoman"} and 1 <= count <= MOST_ROMAN:
        letters = ""
        for worth, sign in ROMAN:
            letters += sign * (count // worth)
            count %= worth
    return letters.upper() if letters and form.startswith("upper") else letters


def _level(level: Any) -> Level:
    restart = value(level, "lvlRestart")
    legal = level.find("{*}isLgl")
    text = value(level, "lvlText") or ""
    return Level(
        form=value(level, "numFmt") or "decimal",
        text=text if len(text) <= LONGEST_LABEL else "",
        start=_whole(value(level, "start"), 0),
        restart=None if restart is None else _whole(restart, 0),
        decimal=legal is not None and attribute(legal, "val") not in {"0", "false", "off"},
    )


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 6 else otherwise
