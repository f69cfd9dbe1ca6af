"""Cursors: where an answer ended, in a form that callers hand back unread. They carry places, never rights.

A forged one is refused, or names a place from which its asker sees what they may see anyway.
"""

import base64
import binascii
import re
from typing import TypeVar

import msgspec

from upwell.errors import Misconfigured
from upwell.records import Record

LONGEST_CURSOR = 512
_FORM = re.compile(r"[A-Za-z0-9_-]{1,512}")
_ORDINAL = re.compile(r"[0-9]{1,9}")


class PagePlace(Record, frozen=True, kw_only=True, array_like=True, tag="page"):
    """Item number `index` of one published form of a document: of `version`, in that `generation` of its manifest."""

    doc: str
    version: int
    generation: int
    index: int


C = TypeVar("C", bound=Record)


def cursor_of(place: Record) -> str:
    """The place as URL-safe text."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode().rstrip("=")


def place_of(cursor: str, kind: type[C], what: str) -> C:
    """The place that a cursor names. Raises Misconfigured, naming the argument `what`, for any other text."""
    if len(cursor) > LONGEST_CURSOR or not _FORM.fullmatch(cursor):
        raise _no_cursor(what)
    try:
        place = msgspec.msgpack.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=kind)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise _no_cursor(what) from None
    if cursor_of(place) != cursor:
        raise _no_cursor(what)
    return place


def page_start(start: str | None, doc: str, version: int, generation: int) -> int:
    """The item that a page begins with: 0 for None, the number that an outline gave, or where a cursor points.

    A cursor of a form of the document that is no longer published starts it again from 0: the answer's version says so.
    Raises Misconfigured for a cursor of another document.
    """
    if start is None:
        return 0
    if _ORDINAL.fullmatch(start):
        return int(start)
    place = place_of(start, PagePlace, "start")
    if place.doc != doc or place.index < 0:
        raise _no_cursor("start")
    return place.index if (place.version, place.generation) == (version, generation) else 0


def _no_cursor(what: str) -> Misconfigured:
    return Misconfigured(f"{what} is not a cursor of this answer: hand back the `next` that it gave, as it is")
