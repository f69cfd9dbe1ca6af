"""What a page looks like to `rapid-layout` (extra `layout`): regions of text, tables and figures, by a small model.

Its weights (`layout_cdla.onnx`, Apache-2.0) come with the package: no network. It is asked only about pages where the
rules leave a doubt, and only a few of a document, for a page costs most of a second. It sees figures in large tables
without rules and tables in some charts: what it says settles doubts, and takes no text away.
"""

import functools
import importlib.util
import logging
from pathlib import Path
from typing import Any

from upwell.parse.failures import Unparsable
from upwell.parse.limits import Limits
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.page import Page
from upwell.records import Record

MOST_PAGES = 12
PAGE_COST_S, SHARE_OF_WALL = 1.0, 0.2
MOST_PIXELS = 800_000
LEAST_CONFIDENCE = 0.5
WEIGHTS = ("models", "layout_cdla.onnx")


class LookRegion(Record, frozen=True, kw_only=True):
    """A region in points from the top left; `kind` is the model's word for it, `confidence` from 0 to 1.

    Kinds: text, title, table, figure, figure_caption, table_caption, header, footer, reference, equation.
    """

    kind: str
    bbox: BBox
    confidence: float


def available() -> bool:
    """Whether the extra is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapid_layout", "cv2"))


class Look:
    """Looks at pages of one document, each at most once, and at no more than the limits allow."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data, self._limits = data, limits
        self._seen: dict[int, tuple[LookRegion, ...]] = {}
        self._left = min(MOST_PAGES, int(SHARE_OF_WALL * limits.wall_s / PAGE_COST_S))

    def regions(self, page: Page) -> tuple[LookRegion, ...]:
        """The page's regions; none where it was turned, the allowance is spent, or the model fails on it."""
        if page.number not in self._seen:
            if self._left <= 0 or page.turn:
                return ()
            self._left -= 1
            self._seen[page.number] = self._look(page)
        return self._seen[page.number]

    def _look(self, page: Page) -> tuple[LookRegion, ...]:
        try:
            with PdfFile(self._data, self._limits) as file:
                pixels = file.render(page.number, MOST_PIXELS)
        except Unparsable:
            return ()
        if pixels is None or not pixels.shape[1]:
            return ()
        return regions_of(pixels, page.width / pixels.shape[1])


def regions_of(pixels: Any, scale: float) -> tuple[LookRegion, ...]:
    """The regions in a picture (height, width, 3; BGR); `scale` is points a pixel. None where the model fails."""
    try:
        found = _engine()(pixels)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - three vendors' errors at this edge; the page counts as one without regions
        return ()
    if found.boxes is None or found.class_names is None or found.scores is None:
        return ()
    return tuple(
        LookRegion(
            kind=str(kind),
            bbox=(scale * float(box[0]), scale * float(box[1]), scale * float(box[2]), scale * float(box[3])),
            confidence=round(float(score), 3),
        )
        for box, kind, score in zip(found.boxes, found.class_names, found.scores, strict=True)
    )


@functools.cache
def _engine() -> Any:
    from rapid_layout import ModelType, RapidLayout  # noqa: PLC0415 - seconds of imports, and an extra

    spec = importlib.util.find_spec("rapid_layout")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    off = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # it writes its files' paths to standard error
    try:
        return RapidLayout(
            model_type=ModelType.PP_LAYOUT_CDLA,
            model_dir_or_path=str(folder.joinpath(*WEIGHTS)),
            conf_thresh=LEAST_CONFIDENCE,
            engine_cfg={"intra_op_num_threads": 1, "inter_op_num_threads": 1},
        )
    finally:
        logging.disable(off)
