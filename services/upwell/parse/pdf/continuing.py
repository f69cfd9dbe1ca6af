"""Paragraphs that go on over the end of a column or a page, whole again."""

from collections.abc import Collection

from upwell.parse.pdf.kinds import Item
from upwell.parse.pdf.paragraphs import BULLET, ENDS, NUMBERED, Paragraph, joined
from upwell.records import Kind

STEPPED_OVER = frozenset({Kind.FIGURE, Kind.TABLE, Kind.CAPTION, Kind.FOOTNOTE, Kind.FORMULA})
OPEN = frozenset({Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.FOOTNOTE})
LONGEST_STEP = 12
SHORT_SHARE = 0.25


def run_on(items: list[Item], vocabulary: Collection[str]) -> list[Item]:
    """The items with each continuation joined to what it continues; that keeps its page and box."""
    done: list[Item] = []
    for item in items:
        start = _start(done, item) if item.kind is Kind.PARAGRAPH else None
        if start is None:
            done.append(item)
            continue
        start.text = joined([start.text, item.text], vocabulary)
        start.ends = item.ends or item.paragraph
    return done


def _start(done: list[Item], item: Item) -> Item | None:
    """What this paragraph continues, or None."""
    for steps, before in enumerate(reversed(done)):
        if before.kind in OPEN and _continues(before, item):
            return before
        if before.kind not in STEPPED_OVER or steps >= LONGEST_STEP:
            return None
    return None


def _continues(before: Item, item: Item) -> bool:
    last, first = before.ends or before.paragraph, item.paragraph
    if last is None or first is None or last.page > first.page or first.page - last.page > 1:
        return False
    if before.kind is Kind.FOOTNOTE and first.size > 1.05 * last.size:
        return False
    if abs(last.size - first.size) > 0.06 * last.size or last.bold != first.bold or last.mono != first.mono:
        return False
    if BULLET.match(item.text) or NUMBERED.match(item.text) or first.pieces[0].raised_start:
        return False
    ended = ENDS.search(before.text) is not None
    if item.text[:1].islower() and not _addressed(before, last, first):
        return not ended or not before.text.endswith((".", "!", "?", "\u3002"))
    line = last.pieces[-1]
    full = line.bbox[2] >= last.right - 1.5 * last.size
    wide = len(before.text) > 60 and len(last.pieces) > 1
    elsewhere = first.page > last.page or first.bbox[1] < last.bbox[1] or first.bbox[0] >= last.right - 1
    indented = first.pieces[0].bbox[0] > first.left + 0.6 * first.size
    return elsewhere and full and wide and not ended and not indented and len(item.text) > 20


def _addressed(before: Item, last: Paragraph, first: Paragraph) -> bool:
    """Whether it is a salutation of a letter, right above what follows it."""
    line = last.pieces[-1]
    above = first.page == last.page and line.bbox[3] <= first.bbox[1] and line.bbox[0] < first.bbox[2]
    return above and before.text.endswith(",") and line.bbox[2] < last.right - SHORT_SHARE * (last.right - last.left)
