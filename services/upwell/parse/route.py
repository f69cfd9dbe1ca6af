"""From a media type to its parser, and from whatever goes wrong there to a status."""

from collections.abc import Callable
from types import MappingProxyType

from msgspec.structs import replace

from upwell.parse import media
from upwell.parse.detect import detect
from upwell.parse.encoding import decode
from upwell.parse.failures import Unparsable, too_large, unsupported
from upwell.parse.language import guess_language
from upwell.parse.limits import Limits
from upwell.parse.markdown import parse_markdown
from upwell.parse.plain import parse_plain
from upwell.records import Kind, ParsedDocument, ParseStatus

TextParser = Callable[[str, Limits], ParsedDocument]
TEXT_PARSERS: MappingProxyType[str, TextParser] = MappingProxyType(
    {media.MARKDOWN: parse_markdown, media.PLAIN: parse_plain}
)
LANGUAGE_SAMPLE_CHARACTERS = 20_000


def parse(data: bytes, name: str, claimed: str | None, limits: Limits) -> ParsedDocument:
    """The document as blocks, or a status that says why not. Never raises for what a document holds."""
    if not data:
        return ParsedDocument(
            status=ParseStatus.EMPTY, reason="the file has no bytes", media_type=claimed or media.BINARY
        )
    media_type = detect(data, name, claimed)
    try:
        return finished(_parse(data, media_type, limits), media_type)
    except Unparsable as e:
        return ParsedDocument(status=e.status, reason=e.reason, media_type=media_type)
    except RecursionError:
        return ParsedDocument(status=ParseStatus.TOO_LARGE, reason="nested too deeply", media_type=media_type)
    except MemoryError:
        return ParsedDocument(
            status=ParseStatus.TOO_LARGE, reason="needs more memory than allowed", media_type=media_type
        )


def finished(parsed: ParsedDocument, media_type: str) -> ParsedDocument:
    """What every parser leaves to one place: the media type, the language, and `empty` for a document without words."""
    words = [b.text for b in parsed.blocks if b.kind is not Kind.PAGE_FURNITURE]
    status, reason = parsed.status, parsed.reason
    if status is ParseStatus.OK and not any(text.strip() for text in words) and not parsed.children:
        status, reason = ParseStatus.EMPTY, "no text in it"
    return replace(
        parsed,
        status=status,
        reason=reason,
        media_type=media_type,
        language=parsed.language or guess_language("\n".join(words)[:LANGUAGE_SAMPLE_CHARACTERS]),
    )


def _parse(data: bytes, media_type: str, limits: Limits) -> ParsedDocument:
    if len(data) > limits.file_bytes:
        raise too_large(f"{len(data)} bytes; at most {limits.file_bytes} are read")
    if media.is_text(media_type):
        return _parse_text(data, media_type, limits)
    raise unsupported(f"no parser for {media_type}")


def _parse_text(data: bytes, media_type: str, limits: Limits) -> ParsedDocument:
    if len(data) > limits.text_bytes:
        raise too_large(f"{len(data)} bytes of text; at most {limits.text_bytes} are read")
    text, encoding = decode(data)
    parser = TEXT_PARSERS.get(media_type, parse_plain)
    return replace(parser(text, limits), encoding=encoding)
