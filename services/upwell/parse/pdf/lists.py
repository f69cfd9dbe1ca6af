"""How deep an item of a list is, from where its marker stands among those around it."""

from upwell.parse.pdf.kinds import Item
from upwell.records import Kind

SAME_POINTS = 4.0
BETWEEN = frozenset({Kind.PARAGRAPH, Kind.CODE, Kind.FORMULA, Kind.FIGURE, Kind.TABLE, Kind.CAPTION})


def nest(items: list[Item]) -> list[Item]:
    """The same items, those of lists with their levels from 1."""
    open_: list[float] = []
    for item in items:
        if item.kind is Kind.LIST_ITEM and item.paragraph is not None:
            left = item.paragraph.pieces[0].bbox[0]
            while open_ and left < open_[-1] - SAME_POINTS:
                open_.pop()
            if not open_ or left > open_[-1] + SAME_POINTS:
                open_.append(left)
            item.level = len(open_)
        elif item.kind not in BETWEEN or (open_ and item.bbox[0] < open_[0] + SAME_POINTS):
            open_ = []
    return items
