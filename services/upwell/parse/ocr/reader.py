"""Words in pictures by `rapidocr` (extra `ocr`), whose weights come with the package: no network, bounded memory."""

import functools
import importlib.util
from typing import Any

from upwell.parse.limits import Limits
from upwell.records import Record

DETECTED_SIDE = 960
"""The longer side of what the detector sees: its memory grows with the area (about 280 MB at this size)."""
LEAST_CONFIDENCE = 0.5
PAGE_COST_S, LINE_COST_S = 2.0, 0.06
SHARE_OF_WALL = 0.6


class Seen(Record, frozen=True, kw_only=True):
    """A line of words: its box in pixels from the top left, and how sure the reader is of it (0 to 1)."""

    text: str
    bbox: tuple[float, float, float, float]
    confidence: float


class Allowance:
    """How much reading a document may cost, counted in what a page and a line take on a slow core, not by a clock."""

    def __init__(self, limits: Limits) -> None:
        self._left_s = SHARE_OF_WALL * limits.wall_s

    @property
    def spent(self) -> bool:
        return self._left_s < PAGE_COST_S

    def spend(self, lines: int) -> None:
        """Count one page with so many lines."""
        self._left_s -= PAGE_COST_S + LINE_COST_S * lines


def available() -> bool:
    """Whether the extra is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "cv2"))


@functools.cache
def _engine() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - seconds of imports, and an extra

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": LEAST_CONFIDENCE,
            "Det.limit_type": "max",
            "Det.limit_side_len": DETECTED_SIDE,
            "Rec.rec_batch_num": 1,  # each line of a batch takes as much memory as the widest
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def read_picture(pixels: Any) -> list[Seen]:
    """The lines in a picture (height, width, 3; BGR), in no order; none where the reader fails on it."""
    try:
        found = _engine()(pixels)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - three vendors' errors at this edge; the page counts as one without words
        return []
    if found.txts is None or found.boxes is None:
        return []
    return [
        Seen(
            text=str(text),
            bbox=(float(box[:, 0].min()), float(box[:, 1].min()), float(box[:, 0].max()), float(box[:, 1].max())),
            confidence=round(float(score), 3),
        )
        for text, box, score in zip(found.txts, found.boxes, found.scores, strict=True)
    ]
