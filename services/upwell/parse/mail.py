"""Mail on the standard library: the subject as title, who and when, the body, attachments as children."""

import re
from collections.abc import Callable, Iterator
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage

from msgspec.structs import replace

from upwell.parse.encoding import decode
from upwell.parse.failures import too_large
from upwell.parse.html import blocks_under, parse_html
from upwell.parse.limits import Limits
from upwell.parse.naming import part_name
from upwell.parse.outline import Outline
from upwell.parse.plain import BLANK_LINES
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "mail/1"
SHOWN_FIELDS = ("From", "To", "Cc", "Date")
QUOTED = re.compile(r"^>", re.MULTILINE)
FORWARDED = "message/rfc822"
BOUNDARY = re.compile(rb"""\bboundary\*?\d{0,4}\*?[ \t]{0,9}=[ \t]{0,9}["']?([^"'\s;]{1,70})""", re.IGNORECASE)
AS_IT_CAME = policy.default.clone(refold_source="none")
SIGNATURES = frozenset(
    {
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/pgp-signature",
        "application/pgp-keys",
    }
)
SIGNATURE = ParsedDocument(status=ParseStatus.EMPTY, reason="a signature: no words to read", parser=PARSER)
ParseChild = Callable[[bytes, str, str | None], ParsedDocument]


def parse_mail(data: bytes, limits: Limits, parse_child: ParseChild) -> ParsedDocument:
    """A message; `parse_child` parses each attachment. Of alternatives the plain one is read, else the HTML one."""
    check_parts(data, limits)
    message = message_from_bytes(data, policy=policy.default)
    outline = Outline(limits.characters)
    subject = _field(message, "Subject")
    outline.title(subject)
    shown = [f"{name}: {value}" for name in SHOWN_FIELDS if (value := _field(message, name))]
    outline.add(Kind.PARAGRAPH, "\n".join(shown))
    body = message.get_body(("plain", "html"))
    if isinstance(body, EmailMessage):
        _body(body, outline, limits)
    children = []
    for name, content, media_type in _attachments(message, body, limits):
        if content is None:
            child = ParsedDocument(status=ParseStatus.CORRUPT, reason="the forwarded message cannot be read")
        elif media_type in SIGNATURES:
            child = replace(SIGNATURE, media_type=media_type)
        else:
            child = parse_child(content, name, media_type)
        children.append(replace(child, name=name))
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=subject or None,
        parser=PARSER,
        children=tuple(children),
    )


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


def _field(message: EmailMessage, name: str) -> str:
    # The parser of header fields raises many kinds of errors on hostile ones; such a field is left unread.
    try:
        return " ".join(str(message.get(name, "")).split())
    except (MessageError, ValueError, IndexError, AttributeError, LookupError, TypeError):
        return ""


def _body(part: EmailMessage, outline: Outline, limits: Limits) -> None:
    text = decode(_payload(part), part.get_content_charset())[0]
    if part.get_content_subtype() == "html":
        blocks_under(parse_html(text, limits), outline)
        return
    for paragraph in BLANK_LINES.split(text):
        quoted = len(QUOTED.findall(paragraph)) * 2 > paragraph.strip().count("\n") + 1
        outline.add(Kind.QUOTE if quoted else Kind.PARAGRAPH, paragraph)


def _payload(part: EmailMessage) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _attachments(message: EmailMessage, body: object, limits: Limits) -> Iterator[tuple[str, bytes | None, str]]:
    """Name, content and type of each part that is not the body; names are made where there are none.

    A forwarded message is one part, with what it carries inside itself. None for one that cannot be taken out.
    """
    count = 0
    for part in _parts(message, limits.nesting):
        forwarded = part.get_content_type() == FORWARDED
        if part is body or (part.is_multipart() and not forwarded):
            continue
        if part.get_content_disposition() != "attachment" and not part.get_filename() and not forwarded:
            continue
        count += 1
        if count > limits.children:
            raise too_large(f"over {limits.children} attachments")
        if forwarded:
            yield part_name(part.get_filename() or f"message-{count}.eml", count), _forwarded(part), FORWARDED
        else:
            yield part_name(part.get_filename(), count), _payload(part), part.get_content_type()


def _forwarded(part: EmailMessage) -> bytes | None:
    inner = next(iter(part.iter_parts()), None)
    try:
        return None if inner is None else inner.as_bytes(policy=AS_IT_CAME)
    except (MessageError, ValueError, IndexError, AttributeError, LookupError, TypeError):
        return None


def _parts(message: EmailMessage, left: int) -> Iterator[EmailMessage]:
    if left < 0:
        raise too_large("nested too deeply")
    yield message
    if message.is_multipart() and message.get_content_type() != FORWARDED:
        for part in message.iter_parts():
            if isinstance(part, EmailMessage):
                yield from _parts(part, left - 1)
