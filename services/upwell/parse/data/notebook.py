"""Notebooks (nbformat 3 and 4): Markdown cells as Markdown, code cells as code, outputs as the text that they show."""

import re
from typing import Any

from upwell.parse.data.json import loaded
from upwell.parse.failures import corrupt
from upwell.parse.html.page import parse_html
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.text.markdown import parse_markdown
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "notebook/2"
TERMINAL_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONGEST_OUTPUT = 100_000


def parse_notebook(text: str, limits: Limits) -> ParsedDocument:
    """The cells in order. Raises `corrupt` for what is no notebook."""
    try:
        value = loaded(text)
    except ValueError as e:
        raise corrupt(f"not JSON: {e}") from e
    cells = _cells(value)
    if cells is None:
        raise corrupt("a notebook without cells")
    language = _language(value.get("metadata"))
    outline = Outline(limits.characters)
    for cell in cells:
        if isinstance(cell, dict):
            _cell(cell, language, outline, limits)
    title = next((b.text for b in outline.blocks if b.kind is Kind.HEADING and b.level == 1), None)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=PARSER)


def _cells(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("cells"), list):
        return list(value["cells"])
    sheets = value.get("worksheets")
    if not isinstance(sheets, list):
        return None
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]


def _language(metadata: Any) -> str:
    for name in ("language_info", "kernelspec"):
        info = metadata.get(name) if isinstance(metadata, dict) else None
        said = (
            (info.get("name") if name == "language_info" else info.get("language")) if isinstance(info, dict) else None
        )
        if isinstance(said, str) and said:
            return said.lower()
    return "python"


def _cell(cell: dict[str, Any], language: str, outline: Outline, limits: Limits) -> None:
    source = _joined(cell.get("source") or cell.get("input"))
    kind = cell.get("cell_type")
    if kind == "code":
        outline.add(Kind.CODE, source, language=language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            if isinstance(output, dict):
                _output(output, outline, limits)
    elif kind == "markdown":
        for block in parse_markdown(source, limits).blocks:
            outline.take(block)
    elif kind == "heading":
        level = cell.get("level")
        outline.heading(source, level if isinstance(level, int) and 1 <= level <= 6 else 1)
    else:
        outline.add(Kind.PARAGRAPH, source)


def _output(output: dict[str, Any], outline: Outline, limits: Limits) -> None:
    """Tables as tables, Markdown as Markdown, else the plain text; of an error its name and what it says."""
    if output.get("output_type") in {"error", "pyerr"}:
        said = f"{output.get('ename') or 'Error'}: {output.get('evalue') or ''}"
        outline.add(Kind.CODE, TERMINAL_CODES.sub("", said)[:LONGEST_OUTPUT])
        return
    data = output.get("data")
    shown = data if isinstance(data, dict) else {}
    html = _joined(shown.get("text/html"))
    if "<table" in html:
        tables = [b for b in parse_html(html, limits, whole=True).blocks if b.table is not None]
        for block in tables:
            outline.take(block)
        if tables:
            return
    if markdown := _joined(shown.get("text/markdown")):
        for block in parse_markdown(markdown, limits).blocks:
            outline.take(block)
        return
    said = _joined(output.get("text")) or _joined(shown.get("text/plain")) or _joined(shown.get("text/latex"))
    outline.add(Kind.CODE, TERMINAL_CODES.sub("", said)[:LONGEST_OUTPUT])


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
