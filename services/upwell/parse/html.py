"""HTML on lxml: what a reader reads, with navigation, boilerplate and hidden nodes counted out.

Native because mail bodies and web pages are many, and docling's imports take seconds.
"""

import re
from typing import Any

from msgspec.structs import replace

from upwell.parse.failures import corrupt, too_large
from upwell.parse.html_table import is_data_table, table_of
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "html/1"
UNREAD = frozenset(
    {
        "script",
        "style",
        "noscript",
        "template",
        "title",
        "meta",
        "link",
        "svg",
        "math",
        "iframe",
        "object",
        "canvas",
        "audio",
        "video",
    }
)
BLOCK_TAGS = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol option p pre section "
    "select summary table tbody td tfoot th thead tr ul"
)
BLOCKS = frozenset(["head", *BLOCK_TAGS.split()])
HEADING = re.compile(r"h[1-6]")
ASIDE_TAGS = {"nav": "navigation", "footer": "boilerplate", "menu": "navigation", "button": "boilerplate"}
ASIDE_ROLES = {
    "navigation": "navigation",
    "search": "navigation",
    "menu": "navigation",
    "banner": "boilerplate",
    "contentinfo": "boilerplate",
    "complementary": "boilerplate",
}
ASIDE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?|cookies?|sidebar|footer|site-header|masthead|social|share|"
    r"skip-link|pagination|advert|ads|newsletter|toolbar|jump-link)(?:$|[\s_-])",
    re.IGNORECASE,
)
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
LANGUAGE_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)-?\s*([\w+#]+)")
MAIN_SHARE = 0.25
CONTENT_SHARE = 0.4


def parse_html(text: str, limits: Limits) -> ParsedDocument:
    """Blocks of an HTML text; what is not the page's content stays as page furniture with its reason."""
    from lxml import etree, html  # type: ignore[import-untyped]  # noqa: PLC0415 - C libraries load only when such a document comes

    parser = html.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as e:
        if not text.strip():
            return ParsedDocument(status=ParseStatus.OK, parser=PARSER)
        raise corrupt(f"not HTML: {e}") from e
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise too_large("elements are nested more than 256 deep: what lies below would be lost")
    outline = Outline(limits.characters)
    title = " ".join((root.findtext(".//title") or "").split()) or None
    first = root.find(".//h1")
    heading = " ".join("".join(first.itertext()).split()) if first is not None else ""
    if title and heading not in {title, *title.split(" - "), *title.split(" | ")}:
        outline.title(title)
    _Reader(root, outline).read()
    language = (root.get("lang") or "").split("-")[0].lower() or None
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title or heading or None,
        language=language if language and re.fullmatch("[a-z]{2,3}", language) else None,
        parser=PARSER,
    )


class _Reader:
    """Walks the tree, gathering inline text until a block begins or ends."""

    def __init__(self, root: Any, outline: Outline) -> None:
        self.root, self.outline = root, outline
        self.words: list[str] = []
        self.links: list[str] = []
        self.kind, self.level = Kind.PARAGRAPH, 0
        self.left_out: str | None = None
        self.total = max(1, len("".join(root.itertext())))
        self.main = self._main()

    def read(self) -> None:
        self.left_out = "boilerplate" if self.main is not None else None
        # Not the body alone: without a body tag, libxml2 leaves newer tags that come first in the head.
        self._walk(self.root)
        self._flush()

    def _main(self) -> Any:
        """The element that the page says is its content, when it holds a fair share of the words."""
        found = self.root.xpath("//main | //*[@role='main']") or self.root.xpath("//article")
        body = self.root.find("body")
        whole = max(1, len(_visible(body if body is not None else self.root)))
        if len(found) == 1 and len(_visible(found[0])) >= MAIN_SHARE * whole:
            return found[0]
        return None

    def _walk(self, element: Any) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in UNREAD:
            return
        before = self.left_out
        now = self._why_left_out(element, tag)
        if now != before:
            self._flush()
            self.left_out = now
        if tag in BLOCKS:
            self._flush()
            self._block(element, tag)
            self._flush()
        else:
            self._inline(element, tag)
        if now != before:
            self._flush()
            self.left_out = before

    def _why_left_out(self, element: Any, tag: str) -> str | None:
        if element is self.main:
            return None
        if element.get("hidden") is not None or HIDDEN_STYLE.search(element.get("style") or ""):
            return "hidden"
        if self.left_out:
            return self.left_out
        reason = ASIDE_TAGS.get(tag) or ASIDE_ROLES.get((element.get("role") or "").lower())
        if reason is None and tag in {"header", "aside"} and self.main is None and not _inside(element, "article"):
            reason = "boilerplate"
        names = f"{element.get('id') or ''} {element.get('class') or ''}"
        if (
            reason is None
            and tag in {"div", "ul", "section", "aside", "header", "p", "a", "ol"}
            and ASIDE_NAMES.search(names)
        ):
            reason = "boilerplate"
        if reason and len("".join(element.itertext())) > CONTENT_SHARE * self.total:
            return None  # whatever it is called, it holds the page
        return reason

    def _block(self, element: Any, tag: str) -> None:
        if HEADING.fullmatch(tag) and not self.left_out:
            self.outline.heading(_words_of(element), int(tag[1]))
        elif tag == "pre":
            self._code(element)
        elif tag == "table" and is_data_table(element) and not self.left_out:
            caption = element.find("caption")
            if caption is not None:
                self.outline.add(Kind.CAPTION, _words_of(caption))
            self.outline.table(table_of(element, _words_of), links=_hrefs(element))
        elif tag == "figcaption":
            self._within(element, Kind.CAPTION, self.level)
        elif tag == "li":
            self._within(element, Kind.LIST_ITEM, self.level + 1)
        elif tag == "blockquote":
            self._within(element, Kind.QUOTE, self.level)
        elif tag == "caption" and not self.left_out:
            self._within(element, Kind.CAPTION, self.level)
        else:
            self._children(element)

    def _within(self, element: Any, kind: Kind, level: int) -> None:
        before = (self.kind, self.level)
        self.kind, self.level = kind, level
        self._children(element)
        self._flush()
        self.kind, self.level = before

    def _code(self, element: Any) -> None:
        inner = element.find("code")
        names = f"{element.get('class') or ''} {inner.get('class') or '' if inner is not None else ''}"
        language = found.group(1).lower() if (found := LANGUAGE_CLASS.search(names)) else None
        self._add(Kind.CODE, "".join(element.itertext()), language=language)

    def _inline(self, element: Any, tag: str) -> None:
        if tag == "br":
            self.words.append("\n")
            return
        if tag == "img":
            self._image(element)
            return
        if tag == "a" and (href := element.get("href")):
            self.links.append(href)
        if tag in {"input", "textarea"}:
            return
        self._children(element)

    def _image(self, element: Any) -> None:
        alt = " ".join((element.get("alt") or "").split())
        if not "".join(self.words).strip() and element.getparent().tag in {"figure", "picture", "body", "div", "p"}:
            self._add(Kind.FIGURE, alt, links=(element.get("src") or "",))
        elif alt:
            self.words.append(f" {alt} ")

    def _children(self, element: Any) -> None:
        self._say(element.text)
        for child in element:
            self._walk(child)
            self._say(child.tail)

    def _say(self, text: str | None) -> None:
        if text:
            self.words.append(re.sub(r"\s+", " ", text))

    def _flush(self) -> None:
        text = "\n".join(line.strip() for line in re.sub(" +", " ", "".join(self.words)).split("\n")).strip()
        links = tuple(self.links)
        self.words, self.links = [], []
        if text:
            kind = self.kind
            self._add(kind, text, level=self.level if kind is Kind.LIST_ITEM else None, links=links)
            if kind is Kind.LIST_ITEM:
                self.kind = Kind.PARAGRAPH if self.level == 0 else kind

    def _add(self, kind: Kind, text: str, **fields: Any) -> None:
        if self.left_out:
            if text.strip():
                self.outline.add(Kind.PAGE_FURNITURE, text, left_out=self.left_out)
        else:
            self.outline.add(kind, text, **fields)


def _visible(element: Any) -> str:
    """The words below an element without scripts and navigation, for weighing."""
    texts = element.xpath(".//text()[not(ancestor::script or ancestor::style or ancestor::nav or ancestor::noscript)]")
    return " ".join(" ".join(texts).split())


def _words_of(element: Any) -> str:
    """All words below an element in one line, images by their alt texts."""
    parts: list[str] = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in UNREAD and child.get("hidden") is None:
            inside = child.get("alt") or "" if child.tag == "img" else _words_of(child)
            apart = " " if child.tag in BLOCKS or child.tag in {"br", "img"} else ""
            parts.append(f"{apart}{inside}{apart}")
        parts.append(child.tail or "")
    return " ".join("".join(parts).split())


def _hrefs(element: Any) -> tuple[str, ...]:
    return tuple(a.get("href") for a in element.iter("a") if a.get("href"))


def _inside(element: Any, tag: str) -> bool:
    return next(element.iterancestors(tag), None) is not None


def blocks_under(parsed: ParsedDocument, outline: Outline) -> None:
    """Give the blocks of a parsed part (a mail's HTML body) to the outline of the whole."""
    for block in parsed.blocks:
        outline.take(replace(block, kind=Kind.PARAGRAPH) if block.kind is Kind.TITLE else block)
