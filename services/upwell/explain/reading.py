"""The blocks of a document as people read them: headings, paragraphs, tables as tables, code as code."""

from collections.abc import Mapping
from typing import Any

from upwell.explain.markup import Html, element, join

MOST_CHARACTERS = 6_000
MOST_CELLS = 2_000
PREFORMATTED = frozenset({"code", "formula"})


def reading(blocks: list[Mapping[str, Any]]) -> Html:
    """All of them in reading order, each with its number and kind."""
    return join(_block(number, block) for number, block in enumerate(blocks))


def kind_label(block: Mapping[str, Any]) -> str:
    """`heading 2`, `table`; with how sure the reader of a picture was."""
    kind = str(block["kind"]).replace("_", " ")
    if block.get("level") is not None:
        kind += f" {block['level']}"
    return f"{kind}, {block['confidence']:.0%} sure" if block.get("confidence") is not None else kind


def _block(number: int, block: Mapping[str, Any]) -> Html:
    left_out = block.get("left_out") or ("page_furniture" if block["kind"] == "page_furniture" else None)
    label = f"{number} {kind_label(block)}" + (f", left out: {left_out}" if left_out else "")
    return element(
        "div",
        element("span", label, class_="label"),
        _words(block),
        class_=f"said kind-{block['kind']}" + (" out" if left_out else ""),
        data_block=number,
    )


def _words(block: Mapping[str, Any]) -> Html:
    if block.get("table"):
        return table(block["table"])
    words = block.get("text") or ""
    if len(words) > MOST_CHARACTERS:
        words = f"{words[:MOST_CHARACTERS]}… ({len(words) - MOST_CHARACTERS:,} characters more)"
    kind = block["kind"]
    if not words:
        return element("p", "(no words)", class_="none")
    if kind in PREFORMATTED:
        return element("pre", words, dir="auto")
    return element("p", words, dir="auto")


def table(table: Mapping[str, Any]) -> Html:
    """The grid with its spans and header cells, the first MOST_CELLS cells of it."""
    cells = (table.get("cells") or ())[:MOST_CELLS]
    rows: dict[int, list[Html]] = {}
    for cell in sorted(cells, key=lambda it: (it["row"], it["col"])):
        rows.setdefault(cell["row"], []).append(
            element(
                "th" if cell.get("header") else "td",
                (cell.get("text") or "")[:MOST_CHARACTERS],
                rowspan=cell["row_span"] if cell.get("row_span", 1) > 1 else None,
                colspan=cell["col_span"] if cell.get("col_span", 1) > 1 else None,
                dir="auto",
            )
        )
    last = max(rows, default=-1)
    lines = [element("tr", *rows.get(row, [])) for row in range(min(last + 1, MOST_CELLS))]
    more = len(table.get("cells") or ()) - len(cells)
    size = f"{table['rows']} rows, {table['cols']} columns" + (f", {more} cells not shown" if more > 0 else "")
    grid = element("table", element("caption", size), element("tbody", *lines))
    return element("div", grid, class_="grid", tabindex="0", role="region", aria_label=f"Table, {size}")
