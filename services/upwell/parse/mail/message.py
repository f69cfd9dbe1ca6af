"""Mail on the standard library: subject as title, who and when, the body with its quotes, attachments as children."""

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage

from msgspec.structs import replace

from upwell.parse.failures import encrypted, too_large
from upwell.parse.html.page import blocks_under, parse_html
from upwell.parse.letters.encoding import decode
from upwell.parse.limits import Limits
from upwell.parse.mail.parts import (
    FORWARDED,
    HEADER_ERRORS,
    REPORTS,
    Part,
    check_parts,
    file_name,
    inner_parts,
    made_name,
    media_type,
    parts_of,
)
from upwell.parse.mail.quotes import marked, plain_blocks
from upwell.parse.naming import part_name
from upwell.parse.outline import Outline
from upwell.parse.parts import ParseChild
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "mail/2"
SHOWN_FIELDS = ("From", "To", "Cc", "Date")
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
OUTLOOKS_OWN = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
OUTLOOKS_COPY = ParsedDocument(
    status=ParseStatus.UNSUPPORTED, reason="winmail.dat, Outlook's own copy of the message, is not read", parser=PARSER
)
LOCKED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
STUB_SHARE = 0.5
STUB_WORDS = 15
FLOWED = re.compile(r"(?m)(?<!^--) \n(?=[^>\n\s])")


def parse_mail(data: bytes, limits: Limits, parse_child: ParseChild) -> ParsedDocument:
    """A message; `parse_child` parses each attachment. Of alternatives the plain one is read unless it says less than
    the HTML one. Raises Unparsable.
    """
    check_parts(data, limits)
    message = message_from_bytes(data, policy=policy.default)
    outline = Outline(limits.characters)
    subject = _field(message, "Subject")
    outline.title(subject)
    shown = [f"{name}: {value}" for name in SHOWN_FIELDS if (value := _field(message, name))]
    outline.add(Kind.PARAGRAPH, "\n".join(shown))
    parts = list(parts_of(message, limits))
    if _is_locked(message) and not any(part.role == "body" for part in parts):
        raise encrypted("the message is encrypted; its key is not known")
    for part in parts:
        if part.role == "body":
            _body(part, outline, limits)
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=subject or None,
        parser=PARSER,
        children=tuple(_children([part.message for part in parts if part.role == "attached"], limits, parse_child)),
    )


def _is_locked(message: EmailMessage) -> bool:
    return media_type(message) in LOCKED and "signed" not in str(message.get_param("smime-type") or "")


def _children(attached: list[EmailMessage], limits: Limits, parse_child: ParseChild) -> Iterator[ParsedDocument]:
    if len(attached) > limits.children:
        raise too_large(f"over {limits.children} attachments")
    for number, part in enumerate(attached, 1):
        name, kind = part_name(file_name(part) or made_name(part, number), number), media_type(part)
        content = _forwarded(part) if kind == FORWARDED else _payload(part)
        if content is None:
            child = ParsedDocument(status=ParseStatus.CORRUPT, reason="the forwarded message cannot be read")
        elif kind in SIGNATURES:
            child = replace(SIGNATURE, media_type=kind)
        elif kind in OUTLOOKS_OWN or name.lower() == "winmail.dat":
            child = replace(OUTLOOKS_COPY, media_type="application/ms-tnef")
        else:
            child = parse_child(content, name, kind)
        yield replace(child, name=name)


def _field(message: EmailMessage, name: str) -> str:
    # The parser of header fields raises many kinds of errors on hostile ones; such a field is left unread.
    try:
        raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
        if raw.isascii():
            return " ".join(str(message.get(name, "")).split())
        return " ".join(decode(raw.encode("utf-8", "surrogateescape"))[0].split())
    except HEADER_ERRORS:
        return ""


def _body(part: Part, outline: Outline, limits: Limits) -> None:
    plain = next((p for p in (part.message, *part.others) if media_type(p) != "text/html"), None)
    rich = next((p for p in (part.message, *part.others) if media_type(p) == "text/html"), None)
    words = _plain_text(plain) if plain is not None else ""
    if rich is None:
        _plain(words, outline)
        return
    parsed = parse_html(decode(_payload(rich), rich.get_content_charset())[0], limits, whole=True)
    if _says_as_much(words, parsed):
        _plain(words, outline)
    else:
        blocks_under(replace(parsed, blocks=tuple(marked(parsed.blocks))), outline)


def _plain(words: str, outline: Outline) -> None:
    for block in plain_blocks(words):
        outline.add(block.kind, block.text, level=block.level)


def _says_as_much(words: str, rich: ParsedDocument) -> bool:
    """Whether the plain text is the message and no stub of it, and the HTML has no tables that it would lose."""
    seen = [block for block in rich.blocks if block.kind is not Kind.PAGE_FURNITURE]
    if not words.strip() or any(block.table is not None for block in seen):
        return False
    of_rich = sum(len(block.text.split()) for block in seen)
    return len(words.split()) >= STUB_SHARE * of_rich or of_rich <= STUB_WORDS


def _plain_text(part: EmailMessage) -> str:
    if media_type(part) in REPORTS:
        return "\n\n".join(str(inner).strip() for inner in inner_parts(part))
    text = decode(_payload(part), part.get_content_charset())[0]
    if str(part.get_param("format") or "").lower() == "flowed":
        text = FLOWED.sub("" if str(part.get_param("delsp") or "").lower() == "yes" else " ", text)
    return text


def _payload(part: EmailMessage) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _forwarded(part: EmailMessage) -> bytes | None:
    inner = next(inner_parts(part), None)
    try:
        return None if inner is None else inner.as_bytes(policy=AS_IT_CAME)
    except HEADER_ERRORS:
        return None
