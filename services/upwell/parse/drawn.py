"""Pages as pictures, once they are drawn (`drawing`)."""

from upwell.records import Record


class Drawing(Record, frozen=True, kw_only=True):
    """Page number `page` (from 1) as a PNG, and its size in points."""

    page: int
    width: float
    height: float
    png: bytes


class Drawings(Record, frozen=True, kw_only=True):
    """The first pages of a document, as many as the limits allow; `left_out` says in a line what is missing."""

    pages: tuple[Drawing, ...] = ()
    left_out: str | None = None
