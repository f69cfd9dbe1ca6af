"""Source code: one block a function or class under its path of names. Python by tree-sitter, others by blank lines."""

import re
from collections.abc import Iterator
from typing import Any

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Block, Kind, ParsedDocument, ParseStatus

PARSER = "code/1"
DEFINITIONS = frozenset({"function_definition", "class_definition", "decorated_definition"})
BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+(?=\S)")


def parse_code(text: str, language: str, limits: Limits) -> ParsedDocument:
    """Blocks of code in order; each block's `heading_path` is the path of names it stands under."""
    outline = Outline(limits.characters)
    blocks = list(_python(text, limits) if language == "python" else _light(text, language))
    for block in blocks:
        outline.code(block)
    return ParsedDocument(
        status=ParseStatus.OK, blocks=tuple(outline.blocks), language=language, parser=f"{PARSER}:{language}"
    )


def _light(text: str, language: str) -> Iterator[Block]:
    """Runs of lines parted by blank lines before an unindented one."""
    for part in BLANK_LINES.split(text):
        yield Block(kind=Kind.CODE, text=part, language=language)


def _python(text: str, limits: Limits) -> Iterator[Block]:
    import tree_sitter_python  # noqa: PLC0415 - a C library that loads only when code comes
    from tree_sitter import Language, Parser  # noqa: PLC0415

    source = text.encode()
    tree = Parser(Language(tree_sitter_python.language())).parse(source)
    for start, end, path in _parts(tree.root_node, (), limits.nesting):
        yield Block(
            kind=Kind.CODE,
            text=source[start:end].decode("utf-8", "replace"),
            heading_path=path,
            language="python",
        )


def _parts(node: Any, path: tuple[str, ...], left: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Byte ranges with their paths: definitions by themselves, what stands between them together."""
    start: int | None = None
    end = 0
    for child in node.children:
        if child.type in DEFINITIONS and left > 0:
            if start is not None:
                yield start, end, path
                start = None
            yield from _definition(child, path, left)
        else:
            start = child.start_byte if start is None else start
            end = child.end_byte
    if start is not None:
        yield start, end, path


def _definition(node: Any, path: tuple[str, ...], left: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
    name = inner.child_by_field_name("name") if inner is not None else None
    body = inner.child_by_field_name("body") if inner is not None else None
    if name is None or body is None:
        yield node.start_byte, node.end_byte, path
        return
    below = (*path, name.text.decode("utf-8", "replace"))
    has_methods = any(child.type in DEFINITIONS for child in body.children)
    if inner.type == "class_definition" and has_methods:
        first = next(child for child in body.children if child.type in DEFINITIONS)
        # The class's own line, docstring and fields up to its first method are a block of their own.
        yield node.start_byte, first.start_byte, below
        yield from _after(body, first, below, left - 1)
    else:
        yield node.start_byte, node.end_byte, below


def _after(body: Any, first: Any, path: tuple[str, ...], left: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    rest = [child for child in body.children if child.start_byte >= first.start_byte]
    yield from _parts(_Children(rest), path, left)


class _Children:
    """The rest of a body's children, in the shape of a node."""

    def __init__(self, children: list[Any]) -> None:
        self.children = children
