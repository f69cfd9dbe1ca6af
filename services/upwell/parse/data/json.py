"""JSON by its names: the path that leads to each value is its headings, and its line."""

import json
from typing import Any

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER, LINES_PARSER = "json/2", "json-lines/1"
HEADING_DEPTH = 2
DEEPEST_HEADING = 6
WHOLE_CHARACTERS = 1200
LONGEST_WORD = 80
NAMES = ("title", "name")
ITEM_NAMES = ("name", "title", "id", "key", "operationId")


def parse_json(text: str, limits: Limits) -> ParsedDocument:
    """The outer names as headings, deeper ones where there is much below; each value as a line `path: value`; lists
    item by item. Several values, one a line, are read as such. Raises Unparsable.
    """
    try:
        value = loaded(text)
    except ValueError as e:
        if "Extra data" in str(e):
            return parse_json_lines(text, limits)
        raise corrupt(f"not JSON: {e}") from e
    outline = Outline(limits.characters)
    _walk(value, 1, outline, limits.nesting)
    title = _title(value)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=PARSER)


def parse_json_lines(text: str, limits: Limits) -> ParsedDocument:
    """A list item a line. Raises `corrupt` when most lines are no JSON; the others stay the text that they are."""
    outline = Outline(limits.characters)
    lines = [line for line in text.split("\n") if line.strip()]
    broken = 0
    for line in lines:
        try:
            words = "\n".join(_lines(loaded(line), "", limits.nesting))
        except ValueError:
            broken += 1
            words = line
        outline.add(Kind.LIST_ITEM, words, level=1)
    if broken * 2 > len(lines):
        raise corrupt("not JSON, nor JSON lines")
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=LINES_PARSER)


def loaded(text: str) -> Any:
    """The value. Raises ValueError for what is no JSON, `too_large` for what is nested too deeply."""
    try:
        return json.loads(text)
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
    with_headings = level <= HEADING_DEPTH or (level <= DEEPEST_HEADING and _is_long(value, left))
    if isinstance(value, dict) and value and with_headings:
        plain = {k: v for k, v in value.items() if not isinstance(v, dict | list)}
        outline.add(Kind.PARAGRAPH, "\n".join(f"{k}: {_scalar(v)}" for k, v in plain.items()))
        for k, v in value.items():
            if k not in plain:
                outline.heading(k, level)
                _walk(v, level + 1, outline, left - 1)
    elif isinstance(value, list):
        _items(value, level, outline, left)
    else:
        outline.add(Kind.PARAGRAPH, "\n".join(_lines(value, "", left - 1)))


def _items(values: list[Any], level: int, outline: Outline, left: int) -> None:
    if all(not isinstance(v, dict | list) and len(str(v)) <= LONGEST_WORD for v in values):
        outline.add(Kind.PARAGRAPH, ", ".join(map(_scalar, values)))
        return
    for item in values:
        if isinstance(item, dict) and level <= DEEPEST_HEADING and _is_long(item, left):
            name = next((str(item[n]) for n in ITEM_NAMES if isinstance(item.get(n), str | int)), "")
            outline.heading(name[:200], level)
            _walk(item, level + 1, outline, left - 1)
        else:
            outline.add(Kind.LIST_ITEM, "\n".join(_lines(item, "", left - 1)), level=1)


def _is_long(value: Any, left: int) -> bool:
    """Whether it would be over a thousand characters in one piece: then its parts have headings of their own."""
    return sum(map(len, _lines(value, "", left - 1))) > WHOLE_CHARACTERS


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
