"""XML of no known kind: data by the names of its elements, prose where words and elements are mixed."""

import re
from typing import Any

from upwell.parse.failures import corrupt, too_large
from upwell.parse.html.page import parse_html
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "xml/2"
TITLES = frozenset({"title", "head", "heading"})
MARKUP = re.compile(r"<(?:p|br|div|a|ul|ol|table|h[1-6]|b|i|em|strong|img|span)\b[^<>]*>", re.IGNORECASE)
UNSAID = frozenset({"schemaLocation", "noNamespaceSchemaLocation", "space"})
ROOT_TITLE_DEPTH = 2


def parse_xml(data: bytes, limits: Limits) -> ParsedDocument:
    """An element of data is a paragraph of lines `name: words`, its attributes among them; one of prose is a paragraph.
    A section's title is a heading. Entities are not read. Raises Unparsable.
    """
    from lxml import etree  # type: ignore[import-untyped]  # noqa: PLC0415 - C libraries load only when such a document comes

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, recover=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as e:
        raise corrupt(f"not XML: {e.msg}") from e
    reader = _Reader(Outline(limits.characters), limits)
    reader.read(root, 1, limits.nesting)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(reader.outline.blocks), title=_title(root), parser=PARSER)


def _title(root: Any) -> str | None:
    """What the root, or what is right below it, names as its title."""
    for holder in (root, *[child for child in root if len(child)][:ROOT_TITLE_DEPTH]):
        for child in holder:
            if _name(child) in TITLES and (said := " ".join("".join(child.itertext()).split())):
                return said
    return None


class _Reader:
    def __init__(self, outline: Outline, limits: Limits) -> None:
        self.outline, self.limits = outline, limits

    def read(self, element: Any, level: int, left: int) -> None:
        """An element with all below it. Raises `too_large` past the limit of nesting."""
        if left < 0:
            raise too_large("nested too deeply")
        if _is_prose(element):
            self.outline.add(Kind.PARAGRAPH, " ".join("".join(element.itertext()).split()))
            return
        children = [child for child in element if isinstance(child.tag, str)]
        leaves = {child for child in children if not len(child) and not child.attrib}
        title = children[0] if children and _is_section(children) else None
        if title is not None:
            self.outline.heading("".join(title.itertext()), min(level, 6))
        self._lines(element, [child for child in children if child in leaves and child is not title])
        for child in children:
            if child is not title and (child not in leaves or MARKUP.search(child.text or "")):
                self._below(child, level + 1, left - 1)

    def _below(self, child: Any, level: int, left: int) -> None:
        if MARKUP.search(child.text or "") and not len(child):
            for block in parse_html(child.text, self.limits, whole=True).blocks:
                self.outline.take(block)
        else:
            self.read(child, level, left)

    def _lines(self, element: Any, leaves: list[Any]) -> None:
        """Its attributes, its words and its plain children, a line each."""
        lines = [f"{_local(key)}: {value}" for key, value in element.attrib.items() if _local(key) not in UNSAID]
        words = " ".join((element.text or "").split())
        lines += [f"{_name(element)}: {words}"] if words else []
        for child in leaves:
            said = " ".join((child.text or "").split())
            if said and not MARKUP.search(said):
                lines.append(f"{_name(child)}: {said}")
        self.outline.add(Kind.PARAGRAPH, "\n".join(lines))


def _is_prose(element: Any) -> bool:
    """Whether words stand between its elements: a sentence with marked words, not a record."""
    return any(child.tail and child.tail.strip() for child in element)


def _is_section(children: list[Any]) -> bool:
    """Whether it begins with a title and goes on with more than plain values."""
    return _name(children[0]) in TITLES and any(len(child) or len(child.text or "") > 80 for child in children[1:])


def _local(name: str) -> str:
    return name.rsplit("}", 1)[-1]


def _name(element: Any) -> str:
    return _local(element.tag) if isinstance(element.tag, str) else ""
