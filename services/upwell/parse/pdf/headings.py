"""Headings of a document and their levels: from bookmarks where there are some, else from size, weight and numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.contents import is_entry
from upwell.parse.pdf.file import Bookmark
from upwell.parse.pdf.kinds import Item, Reading
from upwell.parse.pdf.paragraphs import SECTION_NUMBER, same_row
from upwell.records import Kind, Record

CHAPTER = re.compile(
    r"^(?:chapter|part|kapitel|teil|chapitre|cap[ií]tulo|appendix|anhang)\s+[\dIVXA-Z]{1,5}\b", re.IGNORECASE
)
LARGER, CLEARLY_LARGER = 1.06, 1.14
LONGEST_HEADING, LONGEST_BOLD, LONGEST_TITLE = 200, 140, 300
MOST_LINES = 4
LEAST_NUMBERED, MOSTLY = 4, 0.6
UNSOUND = re.compile(
    r"untitled|microsoft word|^slide \d|powerpoint|^document\d*$|\.\w{2,4}$|[\\/]|^\W*$|^\d+$|unnamed|<|>"
    r"|^\(?(?:anonymous|unspecified)\)?$",
    re.IGNORECASE,
)
NAMES = re.compile(r"https?:|[@*\u2217\u2020\u2021]|,[^,]+,")
"""Marks of affiliation, or a list: authors."""
StyleKey = tuple[float, bool, bool]


class Candidate(Record, frozen=True, kw_only=True):
    """An item that may be a heading. `marked` is its level in the bookmarks."""

    index: int
    size: float
    bold: bool
    caps: bool
    depth: int
    marked: int | None = None


def mark_headings(items: list[Item], reading: Reading, bookmarks: Sequence[Bookmark], named: str) -> None:
    """Give headings and the title their kinds and levels. `named` is the title in the file's properties."""
    marks = _Marks(bookmarks)
    found = [c for i, item in enumerate(items) if (c := _candidate(i, items, reading, marks)) is not None]
    title = _title(items, found, reading, named)
    if title is not None:
        items[title].kind = Kind.TITLE
        found = _without_byline([c for c in found if c.index != title], items, title, reading)
    shift = marks.shift(items[title].text if title is not None else "")
    levels = _levels(found, shift)
    for candidate in found:
        items[candidate.index].kind, items[candidate.index].level = Kind.HEADING, levels[candidate.index]


def sound_title(named: str) -> str | None:
    """A title from the file's properties that somebody meant."""
    return named if len(named) >= 6 and len(named) <= LONGEST_TITLE and not UNSOUND.search(named) else None


class _Marks:
    """Bookmarks by page and by their letters."""

    def __init__(self, bookmarks: Sequence[Bookmark]) -> None:
        self.levels: dict[tuple[int | None, str], int] = {}
        for mark in bookmarks:
            self.levels.setdefault((mark.page, letters(mark.title)), mark.level)
        tops = [mark for mark in bookmarks if mark.level == 1]
        self.top = letters(tops[0].title) if len(tops) == 1 and len(bookmarks) > 1 else None

    def level(self, item: Item) -> int | None:
        whole = letters(item.text)
        number = SECTION_NUMBER.match(item.text)
        bare = letters(item.text[number.end() - 1 :]) if number else whole
        return self.levels.get((item.page, whole)) or self.levels.get((item.page, bare)) if whole else None

    def shift(self, title: str) -> int:
        """1 where the only mark of level 1 is the title."""
        return 1 if self.top is not None and self.top == letters(title) else 0


def letters(text: str) -> str:
    """What of a text counts when it is compared."""
    return "".join(c for c in text.casefold() if c.isalnum())


def _candidate(index: int, items: Sequence[Item], reading: Reading, marks: _Marks) -> Candidate | None:
    item = items[index]
    paragraph, text = item.paragraph, item.text
    if paragraph is None or item.kind not in {Kind.PARAGRAPH, Kind.LIST_ITEM} or not 1 < len(text) <= LONGEST_HEADING:
        return None
    if is_entry(text) or sum(c.isalpha() for c in text) < 2 or _line_count(item) > MOST_LINES:
        return None
    number = SECTION_NUMBER.match(text)
    numbered = number is not None or CHAPTER.match(text) is not None
    caps = text.upper() == text and text.lower() != text
    marked = marks.level(item)
    candidate = Candidate(
        index=index,
        size=paragraph.size,
        bold=paragraph.bold,
        caps=caps,
        depth=(number.group(1) or number.group(2) or "1").count(".") + 1 if number else 1 if numbered else 0,
        marked=marked,
    )
    looks = _looks(candidate, item, items, reading, numbered=numbered)
    return candidate if marked is not None or looks else None


def _looks(c: Candidate, item: Item, items: Sequence[Item], reading: Reading, *, numbered: bool) -> bool:
    """Whether size, weight, capitals or a number set it off from the body."""
    text, share = item.text, c.size / reading.body
    ended = text.endswith((".", ",", ";", "\u3002")) and not (numbered and len(text) < 60)
    if item.kind is Kind.LIST_ITEM and not numbered and share < CLEARLY_LARGER:
        return False
    if share >= CLEARLY_LARGER or (share >= LARGER and (c.bold or c.caps or numbered)):
        return not ended or (share >= CLEARLY_LARGER and len(text) < 60)
    if share < 0.94 or ended or len(text) > LONGEST_BOLD or _line_count(item) > 2:
        return False
    if c.bold and not reading.bold:
        return True
    follows = _followed(c.index, items)
    if c.caps and follows:
        return len(text) <= 80 and max((len(w) for w in text.split() if w.isalpha()), default=0) >= 4
    return c.depth > 1 and follows and _line_count(item) == 1 and len(text) < 80


def _line_count(item: Item) -> int:
    pieces = item.paragraph.pieces if item.paragraph is not None else ()
    return 1 + sum(not same_row(a, b) for a, b in pairwise(pieces))


def _followed(index: int, items: Sequence[Item]) -> bool:
    """Whether the body goes on after it."""
    following = items[index + 1] if index + 1 < len(items) else None
    return following is not None and (len(following.text) > 60 or following.kind is not Kind.PARAGRAPH)


def _title(items: Sequence[Item], found: Sequence[Candidate], reading: Reading, named: str) -> int | None:
    """The title on the first page: what the properties name, else what is larger than all else."""
    first = items[0].page if items else 1
    page = [i for i, item in enumerate(items) if item.page == first and item.paragraph is not None]
    wanted = letters(named) if sound_title(named) else ""
    for i in page:
        own = letters(items[i].text)
        if (
            wanted
            and len(own) <= LONGEST_TITLE
            and own
            and (own == wanted or (own in wanted and len(own) > 0.7 * len(wanted)))
        ):
            return i
    on_first = [
        c for c in found if items[c.index].page == first and c.depth == 0 and not _heads_contents(c.index, items)
    ]
    if not on_first:
        return None
    opening = on_first[0]
    if page and opening.index == page[0] and _alone(opening, found) and len(found) > 2:
        return opening.index
    largest = max(on_first, key=lambda c: (c.size, c.bold, -c.index))
    rivals = [c for c in found if c.index != largest.index and c.size >= 0.96 * largest.size]
    if largest.size >= CLEARLY_LARGER * reading.body:
        return largest.index if not any(c.bold >= largest.bold for c in rivals) else None
    return largest.index if not rivals and page and largest.index == page[0] else None


def _heads_contents(index: int, items: Sequence[Item]) -> bool:
    """Whether entries with leaders follow."""
    return index + 1 < len(items) and is_entry(items[index + 1].text)


def _alone(candidate: Candidate, found: Sequence[Candidate]) -> bool:
    """Whether no other heading has its style, those with numbers apart."""
    others = [c for c in found if c.index != candidate.index and not c.depth]
    return not candidate.depth and not any(_style(c) == _style(candidate) for c in others)


def _without_byline(found: list[Candidate], items: Sequence[Item], title: int, reading: Reading) -> list[Candidate]:
    """Without authors and dates under the title, which are large but of a style that no heading has."""
    body = next(
        (i for i, item in enumerate(items) if i > title and item.kind is Kind.PARAGRAPH and len(item.text) > 200), title
    )
    later = {_style(c) for c in found if c.index > body}
    named = {
        c.index
        for c in found
        if title < c.index < body and not c.depth and c.marked is None and NAMES.search(items[c.index].text)
    }
    numbered = [c for c in found if c.index > body and c.depth]
    if len(numbered) >= LEAST_NUMBERED and len(numbered) > MOSTLY * sum(c.index > body for c in found):
        first = min((c.index for c in found if c.depth and c.index > title), default=title)
        named |= {
            c.index for c in found if title < c.index < first and not _followed(c.index, items) and c.marked is None
        }
    return [
        c
        for c in found
        if c.index not in named
        and (
            not (title < c.index < body and c.depth == 0 and c.marked is None and _style(c) not in later)
            or (c.bold and not reading.bold and _followed(c.index, items))
        )
    ]


def _style(c: Candidate) -> StyleKey:
    return (round(c.size * 2) / 2, c.bold, c.caps)


def _levels(found: Sequence[Candidate], shift: int) -> dict[int, int]:
    """A level each: styles from the largest down, numbers within a style by their depth."""
    depths: dict[StyleKey, int] = {}
    for c in found:
        if c.depth:
            depths[_style(c)] = min(c.depth, depths.get(_style(c), c.depth))
    keys = {c.index: (*_ordered(_style(c)), c.depth or depths.get(_style(c), 0)) for c in found}
    marked: dict[tuple[float, bool, bool, int], Counter[int]] = {}
    for c in found:
        if c.marked is not None:
            marked.setdefault(keys[c.index], Counter())[max(1, c.marked - shift)] += 1
    level, by_key = 0, {}
    for key in sorted(set(keys.values())):
        level = marked[key].most_common(1)[0][0] if key in marked else level + 1
        by_key[key] = level
    return {c.index: max(1, c.marked - shift) if c.marked is not None else by_key[keys[c.index]] for c in found}


def _ordered(style: StyleKey) -> tuple[float, bool, bool]:
    return (-style[0], not style[1], not style[2])
