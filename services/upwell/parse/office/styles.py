"""What the name of a paragraph style says, in the languages and spellings that word processors ship."""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from upwell.records import Block, Kind

HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|заголовок|标题|見出し)[ _]*(\d)", re.IGNORECASE
)
TITLE = re.compile(r"(?:title|titel|document title)", re.IGNORECASE)
CAPTION = re.compile(r"(?:caption|beschriftung|figure|illustration|table caption|image caption|légende)", re.IGNORECASE)
QUOTE = re.compile(r"(?:(?:intense|block) ?(?:quote|text)|quotations?|quote|zitat)", re.IGNORECASE)
CODE = re.compile(
    r"(?:source ?code|code|code ?block|code ?example|html ?preformatted|preformatted ?text|plain ?text|listing|"
    r"quellcode|macro ?text|programlisting|verbatim)(?: ?text| ?char| ?block| ?para)?",
    re.IGNORECASE,
)


def heading_level(name: str) -> int | None:
    """1 to 9 for a heading's style, 0 for the title's, None for another."""
    name = name.strip()
    if found := HEADING.fullmatch(name):
        return int(found.group(1)) or None
    return 0 if TITLE.fullmatch(name) else None


def kind_of_style(name: str) -> Kind | None:
    """Caption, code or quotation, by the style's whole name; None for another."""
    name = name.strip()
    for pattern, kind in ((CAPTION, Kind.CAPTION), (CODE, Kind.CODE), (QUOTE, Kind.QUOTE)):
        if pattern.fullmatch(name):
            return kind
    return None


def joined_code(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks with lines of code that follow each other as one: word processors make a paragraph of each line."""
    joined: list[Block] = []
    lines: list[str] = []
    for block in blocks:
        if block.kind is Kind.CODE and joined and joined[-1].kind is Kind.CODE and joined[-1].page == block.page:
            lines.append(block.text)
            continue
        if len(lines) > 1:
            joined[-1] = replace(joined[-1], text="\n".join(lines))
        joined.append(block)
        lines = [block.text]
    if len(lines) > 1:
        joined[-1] = replace(joined[-1], text="\n".join(lines))
    return tuple(joined)
