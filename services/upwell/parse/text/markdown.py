"""Markdown, natively on markdown-it-py (CommonMark with tables and strikethrough) and a YAML front matter.

Native because docling needs 36 ms a document and 4 s of imports for it, and this needs 2 ms; Markdown is what lakes of
documentation are made of. Shortcodes of site generators stay as the text they are.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from html import unescape
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from upwell.parse.failures import too_large
from upwell.parse.html.page import parse_html
from upwell.parse.html.tags import KNOWN
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline, grid
from upwell.parse.text.markdown_tables import keep_surplus_cells
from upwell.parse.text.wiki_markup import with_markdown_headings
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "markdown/4"
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
TOML_FRONT_MATTER = re.compile(r"\A\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
STRUCTURED = re.compile(r"<(?:table|[uod]l|pre|h[1-6]|blockquote|figure|img)\b", re.IGNORECASE)
FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,60}\]:\s+")
DISPLAY_MATH = re.compile(r"\$\$\s*(.+?)\s*\$\$", re.DOTALL)
HEADING_ATTRIBUTES = re.compile(r"\s*\{#[^}]*\}\s*$")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
TAG_NAME = re.compile(r"<([a-zA-Z][\w.-]*)")
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
ALT = re.compile(r"""<img\b[^>]*?\balt\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>""", re.IGNORECASE)
HREF = re.compile(r"""<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
SUMMARIES = ("description", "summary", "subtitle", "abstract")
FRONT_MATTER_BYTES = 64 * 1024


def parse_markdown(text: str, limits: Limits) -> ParsedDocument:
    """Blocks of a Markdown text. The title is the front matter's, else the only or first heading of level 1."""
    outline = Outline(limits.characters)
    title, body = _front_matter(text, outline)
    parser = _markdown_it(limits.nesting)
    body = with_markdown_headings(body)
    names: dict[str, Any] = {}
    tokens = parser.parse(body, names)
    keep_surplus_cells(tokens, body, lambda cell: parser.parseInline(cell, names))
    if any(token.level >= limits.nesting - 1 for token in tokens):
        raise too_large("nested too deeply")  # what is deeper is in no token
    _Walker(outline, limits).walk(tokens)
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title or next((b.text for b in outline.blocks if b.kind is Kind.HEADING and b.level == 1), None),
        parser=PARSER,
    )


@cache
def _markdown_it(nesting: int) -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": nesting}).enable(["table", "strikethrough"])


def _front_matter(text: str, outline: Outline) -> tuple[str | None, str]:
    found = FRONT_MATTER.match(text) or TOML_FRONT_MATTER.match(text)
    if not found or len(found.group(1)) > FRONT_MATTER_BYTES:
        return None, text
    raw = found.group(1)
    fields = _yaml_fields(raw) if text.startswith("-") else _toml_fields(raw)
    if fields is None:
        return None, text
    title = fields.get("title")
    title = " ".join(str(title).split()) if isinstance(title, str | int | float) else None
    if title:
        outline.title(title)
    for name in SUMMARIES:
        if isinstance(summary := fields.get(name), str):
            outline.add(Kind.PARAGRAPH, summary)
    outline.add(Kind.PAGE_FURNITURE, raw, left_out="front_matter")
    return title or None, text[found.end() :]


def _yaml_fields(raw: str) -> dict[str, Any] | None:
    # An alias can make a small text a huge value; a front matter has no need of them.
    if re.search(r"(?m)(?:^|[\s\[{,:-])[&*]\w", raw):
        return {}
    try:
        fields = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return {str(k): v for k, v in fields.items()} if isinstance(fields, dict) else None


def _toml_fields(raw: str) -> dict[str, Any]:
    try:
        return tomllib.loads(raw)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


class _Walker:
    """Reads the flat token stream, keeping which containers are open."""

    def __init__(self, outline: Outline, limits: Limits) -> None:
        self.outline, self.limits = outline, limits
        self.lists: list[bool] = []  # a list item that has not had its first paragraph yet: True
        self.quotes = 0
        self.row: list[str] = []
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.heading: int | None = None
        self.in_cell = False
        self.steps: dict[str, Callable[[Token], None]] = {
            "heading_open": self._open_heading,
            "inline": self._inline,
            "list_item_open": lambda _: self.lists.append(True),
            "list_item_close": lambda _: self._close_item(),
            "blockquote_open": lambda _: self._quote(1),
            "blockquote_close": lambda _: self._quote(-1),
            "fence": self._code,
            "code_block": self._code,
            "html_block": self._html,
            "table_open": lambda _: self._open_table(),
            "table_close": lambda _: self._close_table(),
            "tr_close": lambda _: self._close_row(),
            "th_open": lambda _: self._open_cell(),
            "td_open": lambda _: self._open_cell(),
        }

    def walk(self, tokens: list[Token]) -> None:
        for token in tokens:
            step = self.steps.get(token.type)
            if step:
                step(token)

    def _open_heading(self, token: Token) -> None:
        self.heading = int(token.tag[1])

    def _inline(self, token: Token) -> None:
        text, links, images_only = inline_text(token)
        if self.in_cell:
            self.row[-1] = text
            self.links.extend(links)
        elif self.heading is not None:
            self.outline.heading(HEADING_ATTRIBUTES.sub("", text), self.heading)
            self.heading = None
        elif images_only:
            self.outline.add(Kind.FIGURE, text, links=links)
        elif (formula := DISPLAY_MATH.fullmatch(token.content.strip())) is not None:
            # As it was written: stars and underscores are of the formula, not of Markdown.
            self.outline.add(Kind.FORMULA, formula.group(1))
        elif FOOTNOTE.match(text):
            self.outline.add(Kind.FOOTNOTE, text, links=links)
        else:
            kind, level = self._paragraph_kind()
            self.outline.add(kind, text, level=level, links=links)

    def _paragraph_kind(self) -> tuple[Kind, int | None]:
        if self.lists and self.lists[-1]:
            self.lists[-1] = False
            return Kind.LIST_ITEM, len(self.lists)
        return (Kind.QUOTE if self.quotes else Kind.PARAGRAPH), None

    def _close_item(self) -> None:
        self.lists.pop()

    def _quote(self, by: int) -> None:
        self.quotes += by

    def _code(self, token: Token) -> None:
        words = token.info.split()
        self.outline.add(Kind.CODE, token.content, language=words[0].strip("{}.").lower() if words else None)

    def _html(self, token: Token) -> None:
        text, comments = html_text(token.content)
        if STRUCTURED.search(token.content):
            for block in parse_html(COMMENT.sub("", token.content), self.limits, whole=True).blocks:
                self.outline.take(block)
            self.outline.add(Kind.PAGE_FURNITURE, comments, left_out="html_comment")
            return
        links = tuple(unescape(a or b) for a, b in HREF.findall(token.content))
        self.outline.add(Kind.QUOTE if self.quotes else Kind.PARAGRAPH, text, links=links)
        self.outline.add(Kind.PAGE_FURNITURE, comments, left_out="html_comment")

    def _open_table(self) -> None:
        self.rows, self.links = [], []

    def _open_cell(self) -> None:
        self.row.append("")
        self.in_cell = True

    def _close_row(self) -> None:
        self.rows.append(self.row)
        self.row, self.in_cell = [], False

    def _close_table(self) -> None:
        self.outline.table(grid(self.rows), links=tuple(self.links))


def inline_text(token: Token) -> tuple[str, tuple[str, ...], bool]:
    """The words of an inline token, its links, and whether it is nothing but images."""
    parts: list[str] = []
    links: list[str] = []
    images = words = False
    for child in token.children or []:
        kind = child.type
        if kind in {"text", "code_inline", "text_special"}:
            parts.append(child.content)
            words = words or not child.content.isspace()
        elif kind == "softbreak":
            parts.append(" ")
        elif kind == "hardbreak":
            parts.append("\n")
        elif kind == "image":
            images = True
            parts.append(child.content)
            links.append(str(child.attrs.get("src", "")))
        elif kind == "link_open":
            links.append(str(child.attrs.get("href", "")))
        elif kind == "html_inline":
            parts.append(_shown(child.content, token.content))
    return "".join(parts), tuple(links), images and not words


def _shown(tag: str, around: str) -> str:
    """What a reader should see of a tag inside words: nothing, unless it is no tag of HTML but somebody's `<name>`."""
    name = TAG_NAME.match(tag)
    if name is not None and name.group(1).lower() not in KNOWN and not tag.endswith("/>"):
        closed = f"</{name.group(1)}>" in around
        if not closed:
            return tag
    return html_text(tag)[0] or (" " if tag.lower().startswith("<br") else "")


def html_text(html: str) -> tuple[str, str]:
    """What a reader would see of a piece of HTML within Markdown (images as their alt texts), and its comments."""
    comments = "\n".join(found.group()[4:].removesuffix("-->").strip() for found in COMMENT.finditer(html))
    shown = ALT.sub(lambda found: f" {found.group(1) or found.group(2) or ''} ", COMMENT.sub("", html))
    lines = (" ".join(line.split()) for line in unescape(TAG.sub(" ", shown)).split("\n"))
    return "\n".join(line for line in lines if line), comments
