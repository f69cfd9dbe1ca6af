"""Plain text: paragraphs are what blank lines part. Hard-wrapped lines stay as they are."""

import re

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
PARSER = "plain/1"


def parse_plain(text: str, limits: Limits) -> ParsedDocument:
    """One paragraph block for each run of lines without a blank one between."""
    outline = Outline(limits.characters)
    for paragraph in BLANK_LINES.split(text.replace("\f", "\n\n")):
        outline.add(Kind.PARAGRAPH, paragraph)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=PARSER)
