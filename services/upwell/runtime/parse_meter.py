"""Counting what parsing did, for Prometheus: labels are a closed list, whatever a document or its sender claims."""

import re
from collections.abc import Iterator

from upwell import metrics as m
from upwell.parse import media
from upwell.records import ParsedDocument, PreparedDocument

KNOWN_TYPES = frozenset(media.BY_EXTENSION.values())
OTHER = "other"


def count_parse(metrics: m.Metrics, document: ParsedDocument | PreparedDocument, seconds: float) -> None:
    """Observe the time of a whole document; count how it and each part of it ended, and whose readings were kept."""
    metrics.observe(m.PARSE, seconds, media_type=type_label(document.media_type), parser=parser_label(document.parser))
    for part in _family(document):
        metrics.count(m.PARSED, status=str(part.status), media_type=type_label(part.media_type))
        if part.choice:
            metrics.count(m.ARBITRATIONS, media_type=type_label(part.media_type), parser=parser_label(part.parser))


def type_label(media_type: str) -> str:
    """A media type that we know, `code` for source code, `image`, or `other`: an event may claim any type."""
    if media.code_language(media_type) is not None and media_type in KNOWN_TYPES:
        return "code"
    if media_type.startswith("image/"):
        return "image"
    return media_type if media_type in KNOWN_TYPES else OTHER


def parser_label(parser: str) -> str:
    """A parser's name without its version and variant: `code` of `code/2:python`, `none` where none came to read."""
    named = re.match(r"[a-z_]+", parser)
    return named[0] if named else "none"


def _family(document: ParsedDocument | PreparedDocument) -> Iterator[ParsedDocument | PreparedDocument]:
    yield document
    for child in document.children:
        yield from _family(child)
