"""JSON, notebooks and XML as data: their words with the path of names that leads to them."""

import json
from typing import Any

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.markdown import parse_markdown
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

JSON_PARSER, NOTEBOOK_PARSER, XML_PARSER = "json/1", "notebook/1", "xml/1"
HEADING_DEPTH = 2
NAMES = ("title", "name")


def parse_json(text: str, limits: Limits) -> ParsedDocument:
    """The outer names as headings, each value as a line `path: value`, lists of equal objects item by item."""
    value = _loaded(text)
    outline = Outline(limits.characters)
    _walk(value, 1, outline, limits.nesting)
    title = _title(value)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=JSON_PARSER)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as e:
        raise corrupt(f"not JSON: {e}") from e
    except RecursionError as e:
        raise too_large("nested too deeply") from e


def _title(value: Any) -> str | None:
    for holder in (value, value.get("info") if isinstance(value, dict) else None):
        if isinstance(holder, dict):
            for name in NAMES:
                if isinstance(found := holder.get(name), str) and found.strip():
                    return " ".join(found.split())
    return None


def _walk(value: Any, level: int, outline: Outline, left: int) -> None:
    if left < 0:
        raise too_large("nested too deeply")
    if isinstance(value, dict) and value and level <= HEADING_DEPTH:
        plain = {k: v for k, v in value.items() if not isinstance(v, dict | list)}
        outline.add(Kind.PARAGRAPH, "\n".join(f"{k}: {_scalar(v)}" for k, v in plain.items()))
        for k, v in value.items():
            if k not in plain:
                outline.heading(k, level)
                _walk(v, level + 1, outline, left - 1)
    elif isinstance(value, list):
        for item in value:
            outline.add(Kind.LIST_ITEM, "\n".join(_lines(item, "", left - 1)), level=1)
    else:
        outline.add(Kind.PARAGRAPH, "\n".join(_lines(value, "", left - 1)))


def _lines(value: Any, path: str, left: int) -> list[str]:
    if left < 0:
        raise too_large("nested too deeply")
    if isinstance(value, dict):
        return [line for k, v in value.items() for line in _lines(v, f"{path}.{k}" if path else str(k), left - 1)]
    if isinstance(value, list):
        if all(not isinstance(v, dict | list) for v in value):
            joined = ", ".join(_scalar(v) for v in value)
            return [f"{path}: {joined}" if path else joined]
        return [line for v in value for line in _lines(v, path, left - 1)]
    return [f"{path}: {_scalar(value)}" if path else _scalar(value)]


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def parse_notebook(text: str, limits: Limits) -> ParsedDocument:
    """Markdown cells as Markdown, code cells as code, their text outputs as code without a language."""
    value = _loaded(text)
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list):
        raise corrupt("a notebook without cells")
    metadata = value.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    language = str(info.get("name", "python")) if isinstance(info, dict) else "python"
    outline = Outline(limits.characters)
    for cell in cells:
        if isinstance(cell, dict):
            _cell(cell, language, outline, limits)
    title = next((b.text for b in outline.blocks if b.kind is Kind.HEADING and b.level == 1), None)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=NOTEBOOK_PARSER)


def _cell(cell: dict[str, Any], language: str, outline: Outline, limits: Limits) -> None:
    source = _joined(cell.get("source"))
    if cell.get("cell_type") == "code":
        outline.add(Kind.CODE, source, language=language)
        for output in cell.get("outputs") or []:
            if isinstance(output, dict):
                shown = output.get("data") if isinstance(output.get("data"), dict) else {}
                outline.add(Kind.CODE, _joined(output.get("text") or (shown or {}).get("text/plain")))
    elif cell.get("cell_type") == "markdown":
        for block in parse_markdown(source, limits).blocks:
            outline.take(block)
    else:
        outline.add(Kind.PARAGRAPH, source)


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def parse_xml(data: bytes, limits: Limits) -> ParsedDocument:
    """Each element with words of its own as a paragraph `name: words`; its attributes beside. Entities are not read."""
    from lxml import etree  # type: ignore[import-untyped]  # noqa: PLC0415 - C libraries load only when such a document comes

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, recover=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as e:
        raise corrupt(f"not XML: {e.msg}") from e
    outline = Outline(limits.characters)
    _element(root, outline, 1, limits.nesting)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=XML_PARSER)


def _element(element: Any, outline: Outline, level: int, left: int) -> None:
    if left < 0:
        raise too_large("nested too deeply")
    if not isinstance(element.tag, str):
        return
    name = element.tag.rsplit("}", 1)[-1]
    children = [child for child in element if isinstance(child.tag, str)]
    attributes = [f"{key.rsplit('}', 1)[-1]}: {value}" for key, value in element.attrib.items()]
    words = " ".join((element.text or "").split())
    leaves = {child for child in children if not len(child) and not child.attrib}
    lines = [*attributes, *([f"{name}: {words}"] if words else [])]
    for child in (c for c in children if c in leaves):
        said = " ".join((child.text or "").split())
        if said:
            lines.append(f"{child.tag.rsplit('}', 1)[-1]}: {said}")
        if child.tail and child.tail.strip():
            lines.append(" ".join(child.tail.split()))
    outline.add(Kind.PARAGRAPH, "\n".join(lines))
    for child in children:
        if child not in leaves:
            _element(child, outline, level + 1, left - 1)
            if child.tail and child.tail.strip():
                outline.add(Kind.PARAGRAPH, " ".join(child.tail.split()))
