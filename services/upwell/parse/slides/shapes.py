"""The shapes of a slide with their places: groups opened, places of placeholders taken from the layout below."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from upwell.parse.failures import too_large
from upwell.parse.limits import Limits
from upwell.parse.office.package import local
from upwell.parse.slides.order import Box

EMU_PER_POINT = 12700
TITLES = frozenset({"title", "ctrTitle"})
FURNITURE = frozenset({"ftr", "dt", "sldNum", "hdr"})
LISTED = frozenset({"", "body", "obj"})
MOST_SHAPES = 20_000


class Placeholder(NamedTuple):
    """What a layout says of a placeholder: where it stands, and whether its first level has bullets."""

    box: Box | None
    bulleted: bool | None


class Shape(NamedTuple):
    """A shape that is no group. `role` is its placeholder's type, None for none; `bulleted` by itself or its layout."""

    element: Any
    tag: str
    role: str | None
    box: Box | None
    bulleted: bool


Frame = tuple[float, float, float, float]  # scale and offset, across and down
WHOLE: Frame = (1.0, 1.0, 0.0, 0.0)


def placeholders(layout: Any, master: Any) -> dict[tuple[str, str], Placeholder]:
    """The placeholders of a layout by type and index, and by either alone; places it lacks are its master's."""
    found: dict[tuple[str, str], Placeholder] = {}
    below = {} if master is None else placeholders(master, None)
    for shape in () if layout is None else layout.iter("{*}sp"):
        mark = next(shape.iter("{*}ph"), None)
        if mark is None:
            continue
        kind, index = mark.get("type") or "", mark.get("idx") or ""
        base = below.get(("title" if kind == "ctrTitle" else "body" if kind in LISTED else kind, ""))
        told = Placeholder(_box(shape, WHOLE) or (base.box if base else None), _bulleted(shape))
        for key in ((kind, index), (kind, ""), ("", index)):
            found.setdefault(key, told)
    return found


def shapes(tree: Any, layout: dict[tuple[str, str], Placeholder], limits: Limits) -> list[Shape]:
    """All shapes below a tree in the order of the file. Raises `too_large` for too many or too deep."""
    found: list[Shape] = []
    for shape in _shapes(tree, WHOLE, layout, limits.nesting):
        found.append(shape)
        if len(found) > MOST_SHAPES:
            raise too_large(f"over {MOST_SHAPES} shapes on a slide")
    return found


def _shapes(tree: Any, frame: Frame, layout: dict[tuple[str, str], Placeholder], left: int) -> Iterator[Shape]:
    if left < 0:
        raise too_large("nested too deeply")
    for child in tree:
        tag = local(child)
        if tag == "grpSp":
            yield from _shapes(child, _group_frame(child, frame), layout, left - 1)
        elif tag == "AlternateContent":
            chosen = next((c for c in child if local(c) in {"Choice", "Fallback"} and len(c)), ())
            yield from _shapes(chosen, frame, layout, left - 1)
        elif tag in {"sp", "pic", "graphicFrame", "cxnSp"}:
            yield _shape(child, tag, frame, layout)


def _shape(element: Any, tag: str, frame: Frame, layout: dict[tuple[str, str], Placeholder]) -> Shape:
    mark = next(element.iter("{*}ph"), None)
    box, bulleted = _box(element, frame), _bulleted(element)
    if mark is None:
        return Shape(element, tag, None, box, bool(bulleted))
    kind, index = mark.get("type") or "", mark.get("idx") or ""
    keys = ((kind, index), ("", index) if index else (kind, ""), (kind, ""))
    below = next((layout[key] for key in keys if key in layout), Placeholder(None, None))
    if bulleted is None:
        bulleted = below.bulleted if below.bulleted is not None else kind in LISTED
    return Shape(element, tag, kind, box or below.box, bulleted)


def _bulleted(shape: Any) -> bool | None:
    """What the shape's own list style says of its first level."""
    style = next(shape.iter("{*}lstStyle"), None)
    first = None if style is None else style.find("{*}lvl1pPr")
    return None if first is None else has_bullet(first)


def has_bullet(properties: Any) -> bool | None:
    """True for a mark or a number, False for none, None where nothing is said."""
    for child in () if properties is None else properties:
        tag = local(child)
        if tag == "buNone":
            return False
        if tag in {"buChar", "buAutoNum", "buBlip"}:
            return True
    return None


def _group_frame(group: Any, frame: Frame) -> Frame:
    place = next((x for p in group if local(p) == "grpSpPr" for x in p if local(x) == "xfrm"), None)
    if place is None:
        return frame
    off, ext = _pair(place, "off", "x", "y"), _pair(place, "ext", "cx", "cy")
    inner_off, inner_ext = _pair(place, "chOff", "x", "y"), _pair(place, "chExt", "cx", "cy")
    if off is None or ext is None or inner_off is None or inner_ext is None or not all(inner_ext):
        return frame
    across, down = ext[0] / inner_ext[0], ext[1] / inner_ext[1]
    return (
        frame[0] * across,
        frame[1] * down,
        frame[2] + frame[0] * (off[0] - inner_off[0] * across),
        frame[3] + frame[1] * (off[1] - inner_off[1] * down),
    )


def _box(element: Any, frame: Frame) -> Box | None:
    """In points from the slide's top left."""
    place = next((x for p in element for x in ([p] if local(p) == "xfrm" else p) if local(x) == "xfrm"), None)
    off = None if place is None else _pair(place, "off", "x", "y")
    ext = None if place is None else _pair(place, "ext", "cx", "cy")
    if off is None or ext is None:
        return None
    x, y = off[0] * frame[0] + frame[2], off[1] * frame[1] + frame[3]
    return (
        x / EMU_PER_POINT,
        y / EMU_PER_POINT,
        (x + ext[0] * frame[0]) / EMU_PER_POINT,
        (y + ext[1] * frame[1]) / EMU_PER_POINT,
    )


def _pair(place: Any, name: str, first: str, second: str) -> tuple[float, float] | None:
    element = place.find(f"{{*}}{name}")
    try:
        return None if element is None else (float(int(element.get(first))), float(int(element.get(second))))
    except (TypeError, ValueError, OverflowError):
        return None
