"""The parts of a message: what of it is its body, in order, and what is attached."""

import mimetypes
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.message import EmailMessage
from typing import Literal, NamedTuple

from upwell.parse.failures import too_large
from upwell.parse.limits import Limits

FORWARDED = "message/rfc822"
BOUNDARY = re.compile(rb"""\bboundary\*?\d{0,4}\*?[ \t]{0,9}=[ \t]{0,9}["']?([^"'\s;]{1,70})""", re.IGNORECASE)
BODY_TYPES = frozenset({"text/plain", "text/html"})
REPORTS = frozenset({"message/delivery-status", "message/disposition-notification"})
HEADER_ERRORS = (MessageError, ValueError, IndexError, AttributeError, LookupError, TypeError)


def check_parts(data: bytes, limits: Limits) -> None:
    """Raises `too_large` for more parts than a reader should make: the standard library takes most of a millisecond
    for each.
    """
    boundaries: set[bytes] = set()
    for found in BOUNDARY.finditer(data):
        boundaries.add(found[1])
        if len(boundaries) > limits.nesting:
            raise too_large(f"over {limits.nesting} boundaries")
    if sum(data.count(b"\n--" + boundary) for boundary in boundaries) > limits.members:
        raise too_large(f"over {limits.members} parts")


class Part(NamedTuple):
    """A part of a message. `others` are what else its sender gave for the same words (plain for HTML)."""

    role: Literal["body", "attached"]
    message: EmailMessage
    others: tuple[EmailMessage, ...] = ()


def parts_of(message: EmailMessage, limits: Limits) -> Iterator[Part]:
    """What a message consists of, in order. Raises `too_large` past the limit of nesting."""
    yield from _parts(message, limits.nesting)


def _parts(message: EmailMessage, left: int) -> Iterator[Part]:
    if left < 0:
        raise too_large("nested too deeply")
    kind = media_type(message)
    if kind == "multipart/alternative":
        yield from _alternatives(message, left)
    elif kind in REPORTS:
        yield Part("body", message)
    elif message.is_multipart() and kind != FORWARDED:
        for inner in inner_parts(message):
            yield from _parts(inner, left - 1)
    else:
        yield Part("body" if is_body(message) else "attached", message)


def _alternatives(message: EmailMessage, left: int) -> Iterator[Part]:
    """One body of several; what came along with a chosen or unchosen one (images, invitations) is attached."""
    bodies: list[EmailMessage] = []
    attached: list[Part] = []
    for inner in inner_parts(message):
        for part in _parts(inner, left - 1):
            if part.role == "body":
                bodies.extend((part.message, *part.others))
            else:
                attached.append(part)
    if bodies:
        yield Part("body", bodies[0], tuple(bodies[1:]))
    yield from attached


def inner_parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts directly inside one that has any."""
    payload = message.get_payload()
    if isinstance(payload, list):
        yield from (inner for inner in payload if isinstance(inner, EmailMessage))


def is_body(part: EmailMessage) -> bool:
    """Whether a part is shown as the message itself, not as a file."""
    return media_type(part) in BODY_TYPES and disposition(part) != "attachment" and not file_name(part)


def media_type(part: EmailMessage) -> str:
    """The part's type, `application/octet-stream` for one that cannot be read."""
    try:
        return part.get_content_type()
    except HEADER_ERRORS:
        return "application/octet-stream"


def disposition(part: EmailMessage) -> str | None:
    """`inline`, `attachment` or None."""
    try:
        return part.get_content_disposition()
    except HEADER_ERRORS:
        return None


def file_name(part: EmailMessage) -> str | None:
    """The name that its sender gave the file."""
    try:
        return part.get_filename()
    except HEADER_ERRORS:
        return None


def made_name(part: EmailMessage, number: int) -> str:
    """A name for a part that has none: by its place and its type."""
    kind = media_type(part)
    if kind == FORWARDED:
        return f"message-{number}.eml"
    prefix = "image" if kind.startswith("image/") else "attachment"
    return f"{prefix}-{number}{mimetypes.guess_extension(kind) or ''}"
