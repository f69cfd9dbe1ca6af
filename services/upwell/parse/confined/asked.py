"""What a confined child is asked, and the answers of a document that it cannot read. The owner, who asks, loads none of
the parsers by it.
"""

from upwell.parse.drawn import Drawings
from upwell.parse.explanation import unparsed
from upwell.records import JSON_ENCODER, ParsedDocument, ParseStatus, PreparedDocument, Record


class Request(Record, frozen=True, kw_only=True):
    """`op`: prepare, parse, explain or draw (a document), warm (import heavy parsers), strength."""

    op: str
    data: bytes = b""
    name: str = ""
    media_type: str | None = None


def unprepared(status: ParseStatus, reason: str) -> PreparedDocument:
    """The end of `prepare`."""
    return PreparedDocument(status=status, reason=reason, media_type="application/octet-stream")


def unread(status: ParseStatus, reason: str) -> ParsedDocument:
    """The end of `parse`."""
    return ParsedDocument(status=status, reason=reason)


def unexplained(status: ParseStatus, reason: str) -> bytes:
    """The end of `explain`, as JSON."""
    return JSON_ENCODER.encode(unparsed(unread(status, reason)))


def undrawn(reason: str) -> Drawings:
    """The end of `draw`."""
    return Drawings(left_out=f"the pages are not drawn: {reason}")
