"""Pages with the boxes of blocks and chunks over them."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from upwell.explain.blank import Box, blank_sheets, box_of
from upwell.explain.markup import Html, element, join, snippet
from upwell.parse.drawn import Drawing, Drawings

WORDS = 400
SIDE_BY_SIDE_SHARE = 0.3
LABEL_POINTS = 7


def sheets(answer: Mapping[str, Any], drawings: Drawings) -> Html:
    """One figure a page: its picture where there is one, else a sheet with the words where blocks say that they lie."""
    if drawings.pages:
        return join(_sheet(page, answer) for page in drawings.pages)
    pages, blocks = blank_sheets(answer)
    return join(_sheet(page, {**answer, "blocks": blocks}) for page in pages)


def chunk_blocks(chunk: Mapping[str, Any], count: int) -> list[int]:
    """The numbers of the blocks that a chunk has characters of."""
    return sorted({span["block"] for span in chunk.get("spans") or () if span["block"] < count})


def _sheet(page: Drawing, answer: Mapping[str, Any]) -> Html:
    picture = (
        element(
            "img",
            src=f"data:image/png;base64,{base64.b64encode(page.png).decode()}",
            alt=f"Page {page.page}",
            width=round(page.width),
            height=round(page.height),
        )
        if page.png
        else ""
    )
    over = element(
        "svg",
        element("g", *_chunk_boxes(page.page, answer), class_="of-chunks"),
        element("g", *_block_boxes(page.page, answer), class_="of-blocks"),
        viewBox=f"0 0 {page.width:.2f} {page.height:.2f}",
        class_="boxes" if page.png else "boxes blank",
        aria_hidden="true",
    )
    paper = element("div", picture, over, class_="paper")
    return element("figure", element("figcaption", f"Page {page.page}"), paper, class_="sheet", data_page=page.page)


def _block_boxes(page: int, answer: Mapping[str, Any]) -> list[Html]:
    """The largest first, so that what lies within a larger box can be clicked."""
    found = [
        (number, block, box)
        for number, block in enumerate(answer.get("blocks") or ())
        if block.get("page") == page and (box := box_of(block)) is not None
    ]
    return [
        element(
            "g",
            element("title", f"{number} {block['kind']}: {snippet(block.get('text') or '', 120)}"),
            _rect(box),
            _words(block["in_box"], box) if "in_box" in block else "",
            element("text", str(number), x=f"{box[0] - 1.5:.2f}", y=f"{box[1] + LABEL_POINTS - 1:.2f}"),
            class_=f"box kind-{block['kind']}",
            data_block=number,
        )
        for number, block, box in sorted(found, key=lambda it: -_area(it[2]))
    ]


def _chunk_boxes(page: int, answer: Mapping[str, Any]) -> list[Html]:
    boxes = []
    blocks: Sequence[Mapping[str, Any]] = answer.get("blocks") or ()
    for number, chunk in enumerate(answer.get("chunks") or ()):
        held = [blocks[at] for at in chunk_blocks(chunk, len(blocks))]
        grouped = grouped_boxes(
            [box for block in held if block.get("page") == page and (box := box_of(block)) is not None]
        )
        if grouped:
            title = element("title", f"chunk {number}: {chunk.get('tokens')} tokens")
            first = grouped[0]
            label = element("text", f"c{number}", x=f"{first[0] - 1.5:.2f}", y=f"{first[1] + LABEL_POINTS - 1:.2f}")
            boxes.append(
                element("g", title, *map(_rect, grouped), label, class_=f"box turn-{number % 4}", data_chunk=number)
            )
    return boxes


def grouped_boxes(boxes: Sequence[Box]) -> list[Box]:
    """Boxes in reading order drawn together as long as they stand in one column; a new column starts a new box."""
    groups: list[Box] = []
    for box in boxes:
        if groups and _one_column(groups[-1], box):
            last = groups[-1]
            groups[-1] = min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3])
        else:
            groups.append(box)
    return groups


def _one_column(above: Box, box: Box) -> bool:
    shared = min(above[2], box[2]) - max(above[0], box[0])
    return shared >= SIDE_BY_SIDE_SHARE * min(above[2] - above[0], box[2] - box[0]) and box[3] >= above[1]


def _rect(box: Box) -> Html:
    x0, y0, x1, y1 = box
    return element(
        "rect", x=f"{x0:.2f}", y=f"{y0:.2f}", width=f"{max(x1 - x0, 0):.2f}", height=f"{max(y1 - y0, 0):.2f}"
    )


def _words(said: str, box: Box) -> Html:
    """What stands in a box of a sheet without a picture."""
    words = element("div", said[:WORDS], class_="in-box", dir="auto")
    x0, y0, x1, y1 = box
    place = {"x": f"{x0:.2f}", "y": f"{y0:.2f}", "width": f"{max(x1 - x0, 0):.2f}", "height": f"{max(y1 - y0, 0):.2f}"}
    return element("foreignObject", words, **place)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
