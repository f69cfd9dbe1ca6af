"""Sheets for formats whose pages are not drawn (slides): as wide as what stands on them, with its words."""

from collections.abc import Mapping
from typing import Any

from upwell.parse.drawn import Drawing

Box = tuple[float, float, float, float]
MOST_SHEETS = 40
WIDTH = 600.0
MARGIN = 1.05


def box_of(block: Mapping[str, Any]) -> Box | None:
    """Where a block lies, if it says so in finite numbers."""
    bbox = block.get("bbox")
    if not bbox or None in bbox:
        return None
    x0, y0, x1, y1 = bbox
    return x0, y0, x1, y1


def blank_sheets(answer: Mapping[str, Any]) -> tuple[list[Drawing], list[dict[str, Any]]]:
    """The sheets, and the blocks with their boxes in the sheets' measure; `in_box` is what is written there, for the
    first of those in one box. None for workbooks, whose boxes count cells.
    """
    blocks: list[dict[str, Any]] = [dict(block) for block in answer.get("blocks") or ()]
    if "sheet" in str(answer.get("media_type")):
        return [], blocks
    sizes: dict[int, tuple[float, float]] = {}
    for block in blocks:
        box = box_of(block)
        if block.get("page") and box is not None:
            width, height = sizes.get(block["page"], (0.0, 0.0))
            sizes[block["page"]] = max(width, box[2]), max(height, box[3])
    shown = {page: size for page, size in sorted(sizes.items())[:MOST_SHEETS] if min(size) > 0}
    _place(blocks, {page: WIDTH / (width * MARGIN) for page, (width, _) in shown.items()})
    return [
        Drawing(page=page, width=WIDTH, height=WIDTH * height / width, png=b"")
        for page, (width, height) in shown.items()
    ], blocks


def _place(blocks: list[dict[str, Any]], scales: Mapping[int, float]) -> None:
    first: dict[tuple[int, Box], dict[str, Any]] = {}
    for block in blocks:
        box, scale = box_of(block), scales.get(block.get("page") or 0)
        if box is None or scale is None or box[2] <= box[0] or box[3] <= box[1]:
            block["bbox"] = None
            continue
        placed = box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale
        words = block.get("text") or ""
        block["bbox"] = placed
        holder = first.setdefault((block["page"], placed), block)
        holder["in_box"] = f"{holder['in_box']}\n{words}" if holder is not block else words
