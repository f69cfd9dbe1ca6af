"""Source code by its syntax tree: one block a function, method or type, with its comments, under its path of names.

A grammar reads what does not parse as well as it can, so a broken file still gives blocks. Languages without a grammar
here go by blank lines (`code_light`).
"""

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from upwell.parse.code.grammars import GRAMMARS, Grammar
from upwell.parse.code.light import light_blocks
from upwell.parse.code.names import bound_function, module_name, names_of
from upwell.parse.data.keyed import KEYED, keyed_blocks
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Block, Kind, ParsedDocument, ParseStatus

PARSER = "code/2"
WORD = re.compile(rb"[\w\x80-\xff]")
ONLY_CLOSES = re.compile(rb"(?:[^\w\x80-\xff]|\bend(?:if)?\b)*")
BARE_HEAD = re.compile(rb"\s*[^\n]*[^\n;\s]\s*")
REST_OF_LINE = re.compile(rb"[ \t;,)}]*(?:(?://|#)[^\n]*)?(?=\n|\Z)")
BODY_KINDS = frozenset(
    {
        "class_body", "enum_class_body", "enum_body", "declaration_list", "field_declaration_list", "function_body",
        "block", "template_body", "interface_body", "body_statement", "enumerator_list", "arrow_expression_clause",
    }
)  # fmt: skip
DEEPEST_WRAPPER = 5
LEAST_PATH = 30


class _Definition(NamedTuple):
    names: tuple[str, ...]
    body: Any


class _Part(NamedTuple):
    """A range of bytes. `opens`: but the line that opens what the next part stands in (`impl Slugger {`)."""

    start: int
    end: int
    path: tuple[str, ...]
    opens: bool = False


def parse_code(text: str, language: str, limits: Limits) -> ParsedDocument:
    """Blocks of code in order; each block's `heading_path` is the path of names it stands under."""
    outline = Outline(limits.characters)
    grammar = GRAMMARS.get(language)
    if language in KEYED:
        blocks = keyed_blocks(text, language)
    elif grammar is None:
        blocks = light_blocks(text, language)
    else:
        blocks = _by_grammar(text, language, grammar, min(limits.nesting, LEAST_PATH))
    for block in blocks:
        outline.code(block)
    return ParsedDocument(
        status=ParseStatus.OK, blocks=tuple(outline.blocks), language=language, parser=f"{PARSER}:{language}"
    )


@cache
def _language(package: str, function: str) -> Any:
    from tree_sitter import Language  # noqa: PLC0415 - a C library that loads only when code comes

    return Language(getattr(importlib.import_module(package), function)())


def _tree(source: bytes, grammar: Grammar) -> Any:
    """The syntax tree by the first of the language's dialects that reads it without an error, else by the first."""
    from tree_sitter import Parser  # noqa: PLC0415

    trees = (Parser(_language(grammar.package, function)).parse(source) for function in grammar.functions)
    first = next(trees)
    return first if not first.root_node.has_error else next((t for t in trees if not t.root_node.has_error), first)


def _by_grammar(text: str, language: str, grammar: Grammar, nesting: int) -> Iterator[Block]:
    source = text.encode("utf-8", "replace")
    tree = _tree(source, grammar)
    for part in _Reader(source, grammar, nesting).read(tree.root_node):
        words = source[part.start : part.end].decode("utf-8", "replace")
        yield Block(kind=Kind.CODE, text=words, heading_path=part.path, language=language)


class _Reader:
    """Cuts the source at its definitions; what stands between them is kept, imports apart from other statements."""

    def __init__(self, source: bytes, grammar: Grammar, nesting: int) -> None:
        self.source, self.grammar, self.nesting = source, grammar, nesting

    def read(self, root: Any) -> list[_Part]:
        """Parts in order that leave out nothing but white space: one without a word joins the one before it."""
        parts: list[_Part] = []
        for part in self._parts(root, 0, len(self.source), (), self.nesting):
            if parts and ONLY_CLOSES.fullmatch(self.source, part.start, part.end):
                parts[-1] = parts[-1]._replace(end=part.end)
            elif parts and parts[-1].opens:
                parts[-1] = part._replace(start=parts[-1].start)
            elif part.end > part.start:
                parts.append(part)
        return parts

    def _parts(self, node: Any, start: int, end: int, path: tuple[str, ...], left: int) -> Iterator[_Part]:
        at, importing, opening = start, None, left < self.nesting
        for child, begins in self._with_lead(node):
            begin = max(begins, at)
            if child.type in self.grammar.modules and child.child_by_field_name("body") is None:
                path = (*path, *filter(None, [module_name(child)]))
                continue
            definition = self._definition(child)
            if definition is None:
                is_import = child.type in self.grammar.imports
                if importing is not None and is_import != importing and WORD.search(self.source, at, begin):
                    yield _Part(at, begin, path)
                    at, opening = begin, False
                importing = is_import
                continue
            yield _Part(at, begin, path, opening and BARE_HEAD.fullmatch(self.source, at, begin) is not None)
            at, importing, opening = min(end, self._line_end(child.end_byte)), None, False
            yield from self._of(definition, begin, at, path, left)
        yield _Part(at, end, path)

    def _of(self, definition: _Definition, start: int, end: int, path: tuple[str, ...], left: int) -> Iterator[_Part]:
        below = (*path, *definition.names)
        if left > 0 and definition.body is not None and self._has_definitions(definition.body):
            yield from self._parts(definition.body, start, end, below, left - 1)
        else:
            yield _Part(start, end, below)

    def _with_lead(self, node: Any) -> Iterator[tuple[Any, int]]:
        """Each named node but comments and decorators, with where it and those directly before it begin."""
        lead, lead_row, last_row = None, -1, -1
        for child in self._children(node):
            row = child.start_point[0]
            if child.type in self.grammar.attached:
                if row == last_row:
                    continue  # at the end of a line of code: that line's own
                if lead is None or row - lead_row > 1:
                    lead = child.start_byte
                lead_row = _last_row(child)
                continue
            last_row = _last_row(child)
            if not child.is_named:
                continue
            begin = lead if lead is not None and row - lead_row <= 1 else child.start_byte
            yield child, self._line_start(begin)
            lead = None

    def _children(self, node: Any) -> Iterator[Any]:
        stack = [iter(node.children)]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif self._is_open(child):
                stack.append(iter(child.children))
            else:
                yield child

    def _is_open(self, child: Any) -> bool:
        kind = child.type
        if kind == "ERROR" or kind in self.grammar.open:
            return True
        return kind in BODY_KINDS and child.parent is not None and child.parent.type in self.grammar.open

    def _has_definitions(self, body: Any) -> bool:
        return any(self._definition(child) is not None for child in self._children(body))

    def _definition(self, node: Any) -> _Definition | None:
        """What `node` defines, looking through decorators and the like; None when it defines nothing by name."""
        grammar = self.grammar
        for _ in range(DEEPEST_WRAPPER):
            if node.type in grammar.bound and (found := bound_function(node)) is not None:
                return _Definition((found[0],), _body(found[1]) if found[1].type == "class" else None)
            if node.type in grammar.wrappers:
                inner = [c for c in node.named_children if c.type in self._known]
                if not inner:
                    return None
                node = inner[0]
                continue
            break
        body = node if node.type in grammar.open_bodies else _body(node)
        if node.type in grammar.types or node.type in grammar.modules:
            names = names_of(node)
            return _Definition(names, body) if names else None
        if node.type in grammar.callables and body is not None:
            names = names_of(node)
            # A function's own functions stay with it.
            return _Definition(names, None) if names else None
        return None

    @property
    def _known(self) -> frozenset[str]:
        grammar = self.grammar
        return grammar.types | grammar.callables | grammar.wrappers | grammar.bound

    def _line_end(self, at: int) -> int:
        """Past what belongs to a definition on its last line: brackets, semicolons, a comment."""
        found = REST_OF_LINE.match(self.source, at)
        return found.end() if found else at

    def _line_start(self, at: int) -> int:
        """The start of the line when nothing but white space stands before, so that indentation is kept."""
        line = self.source.rfind(b"\n", 0, at) + 1
        return line if not self.source[line:at].strip() else at


def _body(node: Any) -> Any:
    found = node.child_by_field_name("body")
    return found if found is not None else next((c for c in node.named_children if c.type in BODY_KINDS), None)


def _last_row(node: Any) -> int:
    last: int = node.end_point[0]
    return last - 1 if node.end_point[1] == 0 and last > node.start_point[0] else last
