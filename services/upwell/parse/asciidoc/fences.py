"""Blocks between fences in AsciiDoc: code, formulas, quotations, notes, what holds other blocks, tables.

https://docs.asciidoctor.org/asciidoc/latest/blocks/delimited/
"""

import re
from collections.abc import Sequence

from upwell.parse.asciidoc.lists import Levels
from upwell.parse.asciidoc.meta import Meta
from upwell.parse.asciidoc.page import CODE_FENCE, FENCE, Container, Page, comment_of, flowing, source_of
from upwell.parse.asciidoc.tables import table_of
from upwell.parse.failures import too_large
from upwell.parse.outline import Outline
from upwell.parse.text.markdown import COMMENT, html_text
from upwell.records import Kind

TAG = re.compile(r"\s*(?:/[/*]|#|--|;+|%|<!--)\s*(?:tag|end)::[\w-]+\[\](?:\s*(?:\*/|-->))?\s*")
ADMONITIONS = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
FORMULAS = frozenset({"stem", "latexmath", "asciimath"})
LITERAL = frozenset({"listing", "literal", "source", "verse", "pass", "comment", *FORMULAS})
DEEPEST = 12  # tables within cells within tables
WITH_NAMES = frozenset({"normal", "attributes", "+attributes", "attributes+", "a"})


def fenced(page: Page, line: str) -> bool:
    """Read the block that this line opens, or end the one that it closes; False for a line that is no fence."""
    bare = line.rstrip()
    if (code := CODE_FENCE.fullmatch(bare)) is not None:
        page.ends_lists()
        page.at += 1
        meta = page.taken()
        said = Meta(("source", code.group(2) or meta.get("language", 1)), meta.named)
        verbatim(page, said, page.until(code.group(1)))
        return True
    if FENCE.fullmatch(bare) is None:
        return False
    page.at += 1
    if bare in page.fences:
        close(page, bare)
        return True
    base = page.levels.depth if page.is_attached else 0
    page.ends_lists()
    meta = page.taken()
    if bare[0] in "|,:!" and bare[1] == "=":
        _table(page, bare, meta, page.until(bare))
    elif bare[0] == "/" or meta.style == "comment":
        page.leave_out("\n".join(page.until(bare)), "comment")
    elif (bare[0] in "-.+" and bare != "--") or (meta.style in LITERAL and bare[0] not in "=*"):
        verbatim(page, meta, page.until(bare), "pass" if bare[0] == "+" else "")
    else:
        _open_container(page, bare, meta, base)
    return True


def _open_container(page: Page, fence: str, meta: Meta, base: int) -> None:
    if len(page.open) >= page.limits.nesting:
        raise too_large("nested too deeply")
    is_quote = fence[0] == "_" or meta.style == "quote"
    outer = bool(page.open) and page.open[-1].is_quote
    page.open.append(Container(fence, is_quote or outer, source_of(meta) if is_quote else "", page.levels))
    page.fences.add(fence)
    page.levels = Levels(base, page.limits.nesting)
    if meta.style in ADMONITIONS:
        page.lead = f"{meta.style}: "


def close(page: Page, fence: str) -> None:
    """Close this container and all within it."""
    while True:
        closed = page.open.pop()
        page.fences.discard(closed.fence)
        page.levels, page.lead = closed.levels, ""
        page.outline.add(Kind.QUOTE, page.words.text(closed.after))
        if closed.fence == fence:
            return


def verbatim(page: Page, meta: Meta, lines: Sequence[str], default: str = "") -> None:
    """Lines that are kept as they are, but for what their style makes of them."""
    page.has_begun = True
    style = meta.style if meta.style not in {"", *ADMONITIONS} else default
    text = "\n".join(lines)
    if style == "comment":
        page.leave_out(text, "comment")
    elif style in FORMULAS:
        page.outline.add(Kind.FORMULA, text)
    elif style == "verse":
        page.say(Kind.QUOTE, text)
        page.outline.add(Kind.QUOTE, page.words.text(source_of(meta)))
    elif style == "pass":
        page.outline.add(Kind.PARAGRAPH, html_text(text)[0])
        comments = "\n".join(found.group().strip("<!->") for found in COMMENT.finditer(text))
        page.leave_out(comments, "html_comment")
    else:
        _code(page, meta, style, lines)


def _code(page: Page, meta: Meta, style: str, lines: Sequence[str]) -> None:
    shown = [line for line in lines if not TAG.fullmatch(line)]
    text = "\n".join(shown)
    if WITH_NAMES & set(re.split(r"[,\s]+", meta.get("subs"))):
        text = page.words.attributes.filled(text)
    language = meta.get("language", 1) if style in LITERAL or not style else style
    if style == "source" or (not style and meta.get("language", 1)):
        language = language or page.words.attributes.get("source-language") or ""
    page.outline.add(Kind.CODE, text, language=language.strip().lower() or None)
    page.leave_out("\n".join(line.strip() for line in lines if TAG.fullmatch(line)), "markup")


def _table(page: Page, fence: str, meta: Meta, lines: Sequence[str]) -> None:
    page.has_begun = True
    links: list[str] = []
    unseen: list[tuple[str, str]] = []
    comments = [line for line in lines if line.startswith("//") and not line.startswith("///")]

    def read(text: str, style: str) -> str:
        if style == "a" and page.depth < DEEPEST:
            inner = Outline(page.limits.characters)
            page.within(text.strip().split("\n"), inner)
            links.extend(link for block in inner.blocks for link in block.links)
            unseen.extend((block.text, block.left_out) for block in inner.blocks if block.left_out)
            return "\n".join(block.text for block in inner.blocks if not block.left_out)
        if style == "l":
            return text
        said = page.words.plain(flowing(text.split("\n")))
        links.extend(said.links)
        return said.text

    shown = [line for line in lines if not line.startswith("//") or line.startswith("///")]
    table = table_of(fence, meta, shown, read, page.words.attributes.spend)
    page.outline.table(table, links=tuple(links))
    page.after_words()
    page.leave_out(comment_of(comments), "comment")
    for text, why in unseen:
        page.leave_out(text, why)
