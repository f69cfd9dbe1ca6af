"""HTML on lxml: what a reader reads, with navigation, boilerplate and hidden nodes counted out.

Native because mail bodies and web pages are many, and docling's imports take seconds.
"""

import re
from typing import Any

from msgspec.structs import replace

from upwell.parse.failures import corrupt, too_large
from upwell.parse.html.boilerplate import Judge
from upwell.parse.html.styles import hidden_by_sheet
from upwell.parse.html.tags import is_hidden
from upwell.parse.html.walk import Reader
from upwell.parse.html.weigh import Weights
from upwell.parse.html.words import heading_of
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "html/3"
HALF = 0.5
MOST_ELEMENTS = 1_000_000
TITLE_SEPARATOR = re.compile(r"\s+[|\u2013\u2014\u00b7\u2022-]\s+|\s*[\u00bb\u203a]\s+")


def parse_html(text: str, limits: Limits, *, whole: bool = False) -> ParsedDocument:
    """Blocks of an HTML text; what is not the page's content stays as page furniture with its reason.

    `whole` judges nothing to be boilerplate: a mail's body is all its writer's.
    """
    from lxml import etree  # type: ignore[import-untyped]  # noqa: PLC0415 - C libraries load only when such a document comes

    if text.count("<") > MOST_ELEMENTS:
        raise too_large(f"over {MOST_ELEMENTS} elements")
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as e:
        if not text.strip():
            return ParsedDocument(status=ParseStatus.OK, parser=PARSER)
        raise corrupt(f"not HTML: {e}") from e
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise too_large("elements are nested more than 2048 deep: what lies below would be lost")
    if root is None:
        return ParsedDocument(status=ParseStatus.OK, parser=PARSER)
    weights = _weighed(root)
    outline = Outline(limits.characters)
    title, heading = _titles(root, limits)
    if title and heading not in {title, *TITLE_SEPARATOR.split(title)}:
        outline.title(title)
    Reader(None if whole else Judge(root, weights), outline, limits).read(root)
    language = (root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "").split("-")[0].lower()
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title or heading or None,
        language=language if re.fullmatch("[a-z]{2,3}", language) else None,
        parser=PARSER,
    )


def _weighed(root: Any) -> Weights:
    """The page's weights, with what its style sheet hides marked as hidden: unless that is half of the page, which a
    script is to show.
    """
    weights = Weights(root)
    hidden = hidden_by_sheet(root)
    if not hidden or max(weights[element].chars for element in hidden) > HALF * weights[root].chars:
        return weights
    for element in hidden:
        element.set("hidden", "")
    return Weights(root)


def _titles(root: Any, limits: Limits) -> tuple[str, str]:
    """The title that the head gives, and the first heading of the first level."""
    given = next((e for e in root.iter("title") if e.getparent().tag != "svg"), None)
    title = " ".join("".join(given.itertext()).split()) if given is not None else ""
    first = next((e for e in root.iter("h1") if not is_hidden(e)), None)
    return title, heading_of(first, limits) if first is not None else ""


def blocks_under(parsed: ParsedDocument, outline: Outline) -> None:
    """Give the blocks of a parsed part (a mail's HTML body) to the outline of the whole."""
    for block in parsed.blocks:
        outline.take(replace(block, kind=Kind.PARAGRAPH) if block.kind is Kind.TITLE else block)
