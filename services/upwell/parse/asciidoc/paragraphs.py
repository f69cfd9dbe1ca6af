"""What AsciiDoc says without fences: items of lists, paragraphs by their style, pictures.

https://docs.asciidoctor.org/asciidoc/latest/blocks/paragraphs/
"""

import re
from collections.abc import Sequence

from upwell.parse.asciidoc.fences import ADMONITIONS, LITERAL, verbatim
from upwell.parse.asciidoc.lists import item_of
from upwell.parse.asciidoc.macros import alternative, joined_path
from upwell.parse.asciidoc.meta import Meta, meta_of
from upwell.parse.asciidoc.page import Page, flowing, source_of
from upwell.parse.asciidoc.places import heading_of
from upwell.parse.outline import grid
from upwell.records import Kind

QUOTE_SIGN = re.compile(r"> ?")
RULE_ROW = re.compile(r"[|:\s-]+")


def words_of(page: Page, line: str) -> None:
    """A list's item, or a paragraph of any kind."""
    item = item_of(line)
    if item is not None:
        page.taken()
        page.at += 1
        words = [item.words, *page.gathered(in_item=True)] if item.words or item.term is None else _described(page)
        text = flowing(words)
        if item.term is not None:
            text = f"{item.term}{' ' if item.term[-1] in '.:;!?' else ': '}{text}" if text.strip() else item.term
        page.say(Kind.LIST_ITEM, text, level=page.levels.level(item))
        return
    page.at += 1
    is_literal = page.meta.style in LITERAL or (not page.meta.style and page.meta.get("language", 1) != "")
    lines = [line, *page.gathered(in_item=bool(page.levels), is_literal=is_literal)]
    if line[0] not in " \t":
        page.ends_lists()
    _paragraph(page, lines, page.taken())


def _described(page: Page) -> list[str]:
    """What a term's description says when it begins on a line of its own."""
    start = page.at
    while page.at < len(page.lines) and not page.lines[page.at].strip():
        page.at += 1
    if page.at == len(page.lines) or page.interrupts(in_item=True) or heading_of(page.line(0)):
        page.at = start
        return []
    page.at += 1
    return [page.lines[page.at - 1].strip(), *page.gathered(in_item=True)]


def _paragraph(page: Page, lines: list[str], meta: Meta) -> None:
    style = meta.style
    first = lines[0]
    if style in LITERAL or (not style and meta.get("language", 1)):
        verbatim(page, meta, lines, "source" if not style else "")
    elif first[0] in " \t" and not style:
        margin = min(len(line) - len(line.lstrip()) for line in lines)
        verbatim(page, Meta(("literal",)), [line[margin:] for line in lines])
    elif first[0] == "|" and len(lines) > 1 and all(line[0] == "|" for line in lines):
        _bare_table(page, lines)
    elif first[0] == ">" and all(line[0] == ">" for line in lines):
        _quoted(page, [QUOTE_SIGN.sub("", line, count=1) for line in lines], meta)
    elif style == "quote" or (first[0] == '"' and len(lines) > 1 and lines[-1].startswith("-- ")):
        _quoted(page, lines, meta)
    else:
        if style in ADMONITIONS:
            page.lead = f"{style}: "
        keeps = "hardbreaks" in meta.options or "hardbreaks-option" in page.words.attributes
        page.say(Kind.PARAGRAPH, "\n".join(lines) if keeps else flowing(lines))


def _quoted(page: Page, lines: list[str], meta: Meta) -> None:
    """A quotation that is a paragraph; its last line may say whose it is."""
    source = lines.pop() if len(lines) > 1 and lines[-1].startswith("-- ") else source_of(meta)
    page.say(Kind.QUOTE, flowing(lines))
    page.say(Kind.QUOTE, source)


def _bare_table(page: Page, lines: Sequence[str]) -> None:
    """Rows that nobody set a fence around, as Markdown has them."""
    page.has_begun = True
    rows = [line for line in lines if not RULE_ROW.fullmatch(line)]
    cells = [[page.words.text(cell.strip()) for cell in line.strip().strip("|").split("|")] for line in rows]
    page.outline.table(grid(cells, 1 if len(rows) < len(lines) else 0))
    page.after_words()


def media_of(page: Page, kind: str, target: str, inside: str) -> None:
    """A picture, film or sound (`kind`): a figure with the words of its macro (`inside`), and its title below."""
    page.has_begun = True
    page.ends_lists()
    attributes = page.words.attributes
    inside, target = attributes.filled(inside), attributes.filled(target).strip()
    said = page.words.text(alternative(inside)) if kind == "image" else ""
    meta = meta_of(inside)
    path = joined_path(attributes.get("imagesdir"), target) if kind == "image" else target
    page.outline.add(Kind.FIGURE, said, links=tuple(filter(None, (path, meta.get("link") or page.meta.get("link")))))
    page.say(Kind.CAPTION, meta.get("title"))
