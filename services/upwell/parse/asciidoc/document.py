"""AsciiDoc, as far as reading needs it: sections, lists, tables, notes, blocks between fences, what is left out.

https://docs.asciidoctor.org/asciidoc/latest/
"""

import re

from upwell.parse.asciidoc.attributes import ENTRY, Attributes
from upwell.parse.asciidoc.conditions import conditioned
from upwell.parse.asciidoc.fences import close, fenced
from upwell.parse.asciidoc.header import header_of
from upwell.parse.asciidoc.lists import item_of
from upwell.parse.asciidoc.meta import LINE, meta_of
from upwell.parse.asciidoc.page import FENCE, Page, comment_of
from upwell.parse.asciidoc.paragraphs import media_of, words_of
from upwell.parse.asciidoc.places import TITLE, heading_of, titles_of
from upwell.parse.asciidoc.words import KEPT, Words
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.text.markdown import FRONT_MATTER
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "asciidoc/1"
UNDERLINE = re.compile(r"={3,}|-{3,}|~{3,}|\^{3,}|\+{3,}")
UNDERLINES = "=-~^+"
BREAK = re.compile(r"'{3,}|<{3,}|-{3}|\*{3}|- - -|\* \* \*")
MEDIA = re.compile(r"(image|video|audio)::([^\[]*)\[(.*)\]")
CONTENTS = re.compile(r"toc::\[.*\]")


def parse_asciidoc(text: str, limits: Limits) -> ParsedDocument:
    """Blocks of an AsciiDoc document; its title is the header's, else its first section's."""
    outline = Outline(limits.characters)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(KEPT, "\ufffd").removeprefix("\ufeff")
    if (front := FRONT_MATTER.match(text)) is not None:
        outline.add(Kind.PAGE_FURNITURE, front.group(1), left_out="front_matter")
        text = text[front.end() :]
    lines, unshown = conditioned(text.split("\n"), Attributes(limits.characters))
    words = Words(Attributes(limits.characters), titles_of(lines))
    page = Page(lines, outline, words, limits, read=read_page, unshown=unshown)
    read_page(page)
    title = page.title or next((block.text for block in outline.blocks if block.kind is Kind.HEADING), None)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=PARSER)


def read_page(page: Page) -> None:
    """All lines, block by block."""
    while page.at < len(page.lines):
        page.leave_unshown()
        line = page.lines[page.at]
        if not line.strip():
            page.at += 1
            page.after_blank = True
            continue
        if not (_said_of_blocks(page, line) or fenced(page, line) or _heading(page, line) or _single(page, line)):
            words_of(page, line)
        page.after_blank = False
    page.leave_unshown()
    while page.open:
        close(page, page.open[-1].fence)


def _said_of_blocks(page: Page, line: str) -> bool:
    bare = line.rstrip()
    if line.startswith("//") and not FENCE.fullmatch(bare):
        return _comments(page)
    if _names(page):
        return True
    if bare == "+" and page.levels:
        page.is_attached = True
    elif line[0] == "[" and LINE.match(bare):
        _attributes(page, bare[1:-1])
    elif line[0] == "." and not FENCE.fullmatch(bare) and (title := TITLE.fullmatch(bare)) is not None:
        if page.after_blank and not page.is_attached:
            page.levels.close()
        page.say(Kind.CAPTION, title.group(1))
    else:
        return False
    page.at += 1
    return True


def _names(page: Page) -> bool:
    """Entries that give names a value, those below one another together."""
    start = page.at
    while page.at < len(page.lines) and (taken := page.words.attributes.entry(page.lines, page.at)) > 0:
        page.at += taken
    page.leave_out("\n".join(page.lines[start : page.at]), "substitution")
    return page.at > start


def _comments(page: Page) -> bool:
    """Lines of comment; one with blank lines around it parts lists."""
    start, parts_lists = page.at, page.after_blank
    while page.line(0).startswith("//") and not FENCE.fullmatch(page.line(0)):
        page.at += 1
    if parts_lists and not page.line(0):
        page.levels.close()
    page.leave_out(comment_of(page.lines[start : page.at]), "comment")
    return True


def _attributes(page: Page, inside: str) -> None:
    filled = page.words.attributes.filled(inside)
    meta = meta_of(filled)
    if meta.positional and " " in meta.style:
        page.leave_out(inside, "markup")  # no attributes, it seems, but nobody sees it
    if page.after_blank and not page.is_attached:
        page.levels.close()
    page.say(Kind.CAPTION, meta.get("title"))
    page.meta = page.meta.joined(meta)


def _is_underlined(page: Page) -> bool:
    line, under = page.line(0), page.line(1)
    if UNDERLINE.fullmatch(under) is None or page.open or not -2 < len(line) - len(under) < 2:
        return False
    return any(letter.isalnum() for letter in line) and line[0] not in " \t|.[" and item_of(line) is None


def _heading(page: Page, line: str) -> bool:
    found = heading_of(line)
    taken = 1
    if found is None and _is_underlined(page):
        found, taken = (UNDERLINES.index(page.line(1)[0]) + 1, page.line(0)), 2
    if found is None:
        return False
    page.at += taken
    level, text = found
    meta = page.taken()
    page.levels.close()
    page.is_attached = False
    if page.open and meta.style not in {"discrete", "float"}:
        page.say(Kind.PARAGRAPH, text)
    elif level == 1 and not page.has_begun:
        _header(page, text)
    else:
        page.has_begun = True
        page.outline.heading(page.words.text(text), _level(page, level))
        page.after_words()
    return True


def _level(page: Page, level: int) -> int:
    offset = page.words.attributes.get("leveloffset") or "0"
    return max(1, min(level + (int(offset) if re.fullmatch(r"[+-]?\d", offset) else 0), 6))


def _header(page: Page, title: str) -> None:
    """The title, then its author, revision and attributes, up to a blank line."""
    page.has_begun = True
    place = len(page.outline.blocks)
    said: list[str] = []
    while page.line(0):
        if page.line(0).startswith("//") or ENTRY.match(page.line(0)):
            if not _said_of_blocks(page, page.lines[page.at]):
                break
            continue
        if len(said) == 2:
            break
        said.append(page.line(0))
        page.at += 1
    header_of(title, said, page.words.attributes)
    left_out = page.outline.blocks[place:]
    del page.outline.blocks[place:]
    page.title = page.words.text(title)
    page.outline.title(page.title)
    page.after_words()
    page.say(Kind.PARAGRAPH, "\n".join(said))
    page.say(Kind.PARAGRAPH, page.words.attributes.get("description") or "")
    page.outline.blocks.extend(left_out)


def _single(page: Page, line: str) -> bool:
    bare = line.rstrip()
    if BREAK.fullmatch(bare) and line[0] not in " \t":
        page.ends_lists()
    elif (found := MEDIA.fullmatch(bare)) is not None:
        media_of(page, *found.groups())
    elif CONTENTS.fullmatch(bare):
        page.leave_out(bare, "markup")
    else:
        return False
    page.taken()
    page.at += 1
    return True
