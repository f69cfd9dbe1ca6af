"""The raw text of a container, taken without understanding it: what readings are measured against."""

import re
from html import unescape

from upwell.parse import media
from upwell.parse.letters.encoding import decode
from upwell.parse.limits import MIB, Limits
from upwell.parse.office.package import Package

MOST_BYTES = 4 * MIB
WORD_TEXT = re.compile(r"<(?:w:)?(?:t|delText)(?:\s[^>]*)?>([^<]*)<|</(?:w:)?p>|<(?:w:)?(?:br|tab|cr)\b")
SLIDE_TEXT = re.compile(r"<a:t(?:\s[^>]*)?>([^<]*)<|</a:p>|<a:br\b")
SHEET_TEXT = re.compile(r"<(?:x:)?t(?:\s[^>]*)?>([^<]*)<|</(?:x:)?(?:si|is)>")
FALLBACK = re.compile(r"<mc:Fallback>.*?</mc:Fallback>", re.DOTALL)
HIDING = "script|style|head|noscript|template"
UNSEEN = re.compile(rf"<({HIDING})\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
OPENINGS = {media.HTML: re.compile(rf"<(?:({HIDING})\b|!--)", re.IGNORECASE), media.MARKDOWN: re.compile("<()!--")}
CLOSING = re.compile(rf"</({HIDING})\s*>|-->", re.IGNORECASE)
# Tags within a line part no words: half of a word may be bold. What is raised or lowered is no part of one.
INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|output|q|s|samp|small|span|strike|"
    r"strong|time|tt|u|var|wbr)(?:\s[^>]*)?/?>",
    re.IGNORECASE,
)
TAG = re.compile(r"<[^>]*>")
# A tag that goes over several lines, told by its attributes from a comparison in code.
LONG_TAG = r"""[a-zA-Z][\w-]*+(?:\s+[\w:.@-]++(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'=<>`]+))?)+\s*/?>"""
# What of Markdown is no word to read: addresses, the names of reference links, front matter, fences' languages, tags.
# Brackets are matched before what stands before them is looked at: that takes a third of the time.
MARKUP = re.compile(
    r"\A---\n.*?\n---\n|\((?<=\]\()[^)\n]*\)|\[(?<=\]\[)[^\]\n]*\]|^[^\S\n]*(?:\[[^\]\n]*\]:.*$|(?:```|~~~)[^\n]*$)|"
    rf"<(?:!--.*?-->|/?[a-zA-Z][^<>\n]*>|{LONG_TAG})|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
PARTS = {
    media.DOCX: (re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml"), WORD_TEXT),
    media.PPTX: (re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide)\d+\.xml"), SLIDE_TEXT),
    media.XLSX: (re.compile(r"xl/(?:sharedStrings|worksheets/sheet\d+)\.xml"), SHEET_TEXT),
}
TEXTS = frozenset({media.HTML, media.MARKDOWN, media.PLAIN})


def raw_text(data: bytes, media_type: str, limits: Limits) -> str | None:
    """All text of the container in its own order; None for a type without a witness, or one too big to weigh.

    Raises Unparsable when the container cannot be opened.
    """
    if len(data) > MOST_BYTES:
        return None
    if media_type in PARTS:
        return _parts_text(Package(data, limits), *PARTS[media_type])
    if media_type not in TEXTS:
        return None
    text = decode(data)[0]
    if media_type in OPENINGS:
        text = _blunted(text, OPENINGS[media_type])
    if media_type == media.HTML:
        tagged = text.rfind(">") + 1  # behind it each of ten thousand "<" would be followed to the end
        seen = TAG.sub(" ", INLINE_TAG.sub("", UNSEEN.sub(" ", text[:tagged])))
        return unescape(seen + text[tagged:])
    return unescape(MARKUP.sub(" ", text)) if media_type == media.MARKDOWN else text


def _blunted(text: str, opening: re.Pattern[str]) -> str:
    """The text, in which what nothing closes opens nothing: each of ten thousand such would be followed to the end."""
    last = {_named(found): found.end() for found in CLOSING.finditer(text)}

    def left(found: re.Match[str]) -> str:
        return found[0] if found.start() < last.get(_named(found), 0) else f"< {found[0][1:]}"

    return opening.sub(left, text)


def _named(found: re.Match[str]) -> str:
    """What is opened or closed; a comment has no name."""
    return (found[1] or "").lower()


def _parts_text(package: Package, names: re.Pattern[str], pattern: re.Pattern[str]) -> str | None:
    found: list[str] = []
    left = MOST_BYTES * 4
    for name in sorted((n for n in package.names if names.fullmatch(n)), key=lambda n: (len(n), n)):
        part = package.read(name)
        left -= len(part)
        if left < 0:
            return None
        text = part.decode("utf-8", "replace")
        if "<mc:Fallback>" in text:
            text = FALLBACK.sub("", text)
        found.extend("\n" if m.group(1) is None else m.group(1) for m in pattern.finditer(text))
    return unescape("".join(found))
