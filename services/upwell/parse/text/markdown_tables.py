"""Rows of Markdown tables that have more cells than their header: the parser would drop what is too much."""

import re
from collections.abc import Callable, Sequence

from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

QUOTED = re.compile(r"[\s>]*")
LINE_END = re.compile(r"\r\n?|\n")


def keep_surplus_cells(tokens: Sequence[Token], text: str, inline: Callable[[str], list[Token]]) -> None:
    """Give each row all its words: a bar inside code parts no cells, and what is still too much is the last cell's.

    `text` is what the tokens were made of, `inline` reads the words of a cell.
    """
    lines: list[str] = []
    row: list[Token] | None = None
    line = 0
    for token in tokens:
        if token.type == "tr_open" and token.map:
            row, line = [], token.map[0]
        elif token.type == "inline" and row is not None:
            row.append(token)
        elif token.type == "tr_close" and row:
            lines = lines or LINE_END.split(text)
            cells = _cells(lines[line]) if line < len(lines) else []
            if len(cells) > len(row):
                _refill(row, cells, inline)
            row = None


def _cells(line: str) -> list[str]:
    cells = escapedSplit(line[QUOTED.match(line).end() :].rstrip())  # type: ignore[union-attr]  # it matches nothing, too
    if cells and not cells[0]:
        cells = cells[1:]
    return cells[:-1] if cells and not cells[-1] else cells


def _refill(row: list[Token], cells: list[str], inline: Callable[[str], list[Token]]) -> None:
    cells = _with_whole_code(cells)
    last = len(row) - 1
    cells = [*cells[:last], " | ".join(cell.strip() for cell in cells[last:])]
    for token, cell in zip(row, cells + [""] * len(row), strict=False):
        found = inline(cell.strip())
        token.content = cell.strip()
        token.children = found[0].children if found else []


def _with_whole_code(cells: list[str]) -> list[str]:
    """The cells, those that a bar inside backticks parted together again; as they are where backticks stay open."""
    whole: list[list[str]] = []
    opened = ""
    for cell in cells:
        if opened:
            whole[-1].append(cell)
        else:
            whole.append([cell])
        for run in re.findall("`+", cell):
            opened = run if not opened else "" if run == opened else opened
    return cells if opened else ["|".join(parts) for parts in whole]
