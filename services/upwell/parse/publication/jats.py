"""Journal articles in JATS (ANSI/NISO Z39.96): front matter, sections, figures, tables, notes, references."""

from typing import Any

from upwell.parse.failures import too_large
from upwell.parse.html.table import table_of
from upwell.parse.letters.language import declared_language
from upwell.parse.limits import Limits
from upwell.parse.office.mathml import latex_of
from upwell.parse.office.package import attribute, local, xml_root
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "jats/1"
UNREAD = frozenset({"graphic", "media", "object-id", "label", "title", "front", "processing-meta", "permissions", ""})
FIGURES = frozenset({"fig", "chem-struct-wrap"})
QUOTES = frozenset({"disp-quote", "verse-group"})
INLINE_ASIDE = frozenset(
    {"fn", "fig", "table-wrap", "disp-formula", "list", "disp-quote", "def-list", "code", "boxed-text"}
)

WITHIN_WORDS = frozenset(
    {
        "italic", "bold", "sup", "sub", "sc", "xref", "ext-link", "monospace", "named-content", "styled-content",
        "underline",
    }
)  # fmt: skip


def parse_jats(data: bytes, limits: Limits) -> ParsedDocument:
    """An article as blocks. Raises Unparsable when it is not well-formed or nested too deeply."""
    root = xml_root(data, "article")
    outline = Outline(limits.characters)
    reader = _Reader(outline, limits)
    meta = next(root.iter("{*}article-meta"), None)
    title = reader.words(next(meta.iter("{*}article-title"), None)) if meta is not None else ""
    outline.title(title)
    if meta is not None:
        reader.front(meta)
    for part in root:
        if local(part) in {"body", "back", "floats-group"}:
            reader.blocks(part, 1)
        elif local(part) in {"sub-article", "response"}:
            reader.section(part, 1, _sub_title(part, reader))
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title or None,
        language=declared_language(attribute(root, "lang")),
        parser=PARSER,
    )


def _sub_title(part: Any, reader: "_Reader") -> str:
    return reader.words(next(part.iter("{*}article-title"), None))


class _Reader:
    """Walks the article; each nesting is a level of its headings. The title of the whole stands above level 1."""

    def __init__(self, outline: Outline, limits: Limits) -> None:
        self.outline, self.limits = outline, limits
        self.depth = 0
        self.links: list[str] = []
        self.aside: list[Any] = []

    def front(self, meta: Any) -> None:
        authors = [
            " ".join(filter(None, (self.words(n.find("{*}given-names")), self.words(n.find("{*}surname")))))
            for group in meta.findall("{*}contrib-group")[:1]
            for contrib in group.iter("{*}contrib")
            for n in contrib.findall("{*}name")
        ]
        self.outline.add(Kind.PARAGRAPH, ", ".join(authors))
        places = dict.fromkeys(self.words(aff) for aff in meta.iter("{*}aff"))
        self.outline.add(Kind.PARAGRAPH, "; ".join(filter(None, places)))
        for abstract in meta:
            if local(abstract) in {"abstract", "trans-abstract"}:
                self.section(abstract, 1, self.words(abstract.find("{*}title")) or "Abstract")
        words = [self.words(kwd) for kwd in meta.iter("{*}kwd")]
        if words:
            self.outline.close_headings()
            self.outline.add(Kind.PARAGRAPH, "; ".join(words))

    def section(self, element: Any, level: int, title: str | None = None) -> None:
        """A heading and what stands below it."""
        label = self.words(element.find("{*}label"))
        named = self.words(element.find("{*}title")) if title is None else title
        self.outline.heading(" ".join(filter(None, (label, named))), min(level, 9))
        self.blocks(element, level + 1 if named or label else level)

    def blocks(self, parent: Any, level: int) -> None:
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for element in parent:
            self._block(element, local(element), level)
        self.depth -= 1

    def _block(self, element: Any, tag: str, level: int) -> None:
        if tag in UNREAD:
            return
        if tag in {"sec", "app", "ack", "ref-list", "fn-group", "glossary", "notes"}:
            title = element.find("{*}title")
            fallback = {"ack": "Acknowledgements", "ref-list": "References"}.get(tag) if title is None else None
            self.section(element, level, fallback)
        elif tag == "p":
            self._paragraph(element, Kind.PARAGRAPH)
        elif tag in FIGURES:
            self._figure(element)
        elif tag in {"table-wrap", "array"}:
            self._table(element)
        elif tag == "list":
            self._list(element, 1)
        elif tag in QUOTES:
            for part in element:
                self._paragraph(part, Kind.QUOTE)
        elif tag == "disp-formula":
            self.outline.add(Kind.FORMULA, self._formula(element))
        elif tag in {"code", "preformat"}:
            self.outline.add(Kind.CODE, "".join(element.itertext()))
        elif tag in {"fn", "table-wrap-foot"}:
            self._paragraph(element, Kind.FOOTNOTE)
        elif tag == "ref":
            self._paragraph(element, Kind.LIST_ITEM, level=1)
        elif tag in {"def-item", "supplementary-material"}:
            self._paragraph(element, Kind.PARAGRAPH)
        elif tag in {"tex-math", "math"}:
            self.outline.add(Kind.FORMULA, self.words(element))
        else:
            self.blocks(element, level)

    def _paragraph(self, element: Any, kind: Kind, *, level: int | None = None) -> None:
        """Its words in one line; figures, tables, lists and notes within it stand after it."""
        before, self.aside, self.links = self.aside, [], []
        text = self.words(element)
        self.outline.add(kind, text, level=level, links=tuple(self.links))
        aside, self.aside = self.aside, before
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for inner in aside:
            self._block(inner, local(inner), 9)
        self.depth -= 1

    def _figure(self, element: Any) -> None:
        alt = self.words(element.find("{*}alt-text"))
        self.outline.add(Kind.FIGURE, alt)
        self._caption(element)
        self.blocks([part for part in element if local(part) not in {"caption", "alt-text"}], 9)

    def _caption(self, element: Any) -> None:
        caption = element.find("{*}caption")
        parts = [self.words(element.find("{*}label"))]
        parts += [] if caption is None else [self.words(part) for part in caption]
        self.outline.add(Kind.CAPTION, " ".join(part for part in parts if part))

    def _table(self, element: Any) -> None:
        self._caption(element)
        for table in element.iter("table"):
            self.outline.table(table_of(table, self.words))
        for foot in element.findall("{*}table-wrap-foot"):
            self._paragraph(foot, Kind.FOOTNOTE)

    def _list(self, element: Any, level: int) -> None:
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for item in element.findall("{*}list-item"):
            before, self.aside, self.links = self.aside, [], []
            text = self.words(item)
            self.outline.add(Kind.LIST_ITEM, text, level=level, links=tuple(self.links))
            inner, self.aside = self.aside, before
            for part in inner:
                if local(part) == "list":
                    self._list(part, level + 1)
                else:
                    self._block(part, local(part), 9)
        self.depth -= 1

    def _formula(self, element: Any) -> str:
        tex = next(element.iter("{*}tex-math"), None)
        if tex is not None:
            return _bare_tex("".join(tex.itertext()))
        math = next(element.iter("{*}math"), None)
        return latex_of(math, self.limits) if math is not None else self.words(element)

    def words(self, element: Any) -> str:
        """All words below an element in one line; what is a block of its own there is put aside."""
        return "" if element is None else " ".join("".join(self._pieces(element, 0)).split())

    def _pieces(self, element: Any, depth: int) -> list[str]:
        if depth > self.limits.nesting:
            raise too_large("nested too deeply")
        parts = [element.text or ""]
        for child in element:
            tag = local(child)
            if tag in INLINE_ASIDE:
                self.aside.append(child)
            elif tag == "inline-formula":
                parts.append(f"${self._formula(child)}$")
            elif tag == "name":
                given, last = self.words(child.find("{*}given-names")), self.words(child.find("{*}surname"))
                parts.append(f" {last} {given}, ")
            elif tag and tag != "object-id":
                if tag == "ext-link" and (link := attribute(child, "href")):
                    self.links.append(link)
                apart = "" if tag in WITHIN_WORDS or local(element) == "mixed-citation" else " "
                parts += [apart, *self._pieces(child, depth + 1), apart]
            parts.append(child.tail or "")
        return parts


def _bare_tex(text: str) -> str:
    """A formula without the document that some publishers wrap around each."""
    start, end = text.find("\\begin{document}"), text.find("\\end{document}")
    inner = text[start + len("\\begin{document}") : end] if 0 <= start < end else text
    return " ".join(inner.strip().strip("$").split())
