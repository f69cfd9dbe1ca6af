"""What `upwell explain` draws on a terminal: facts, blocks under their headings, chunks, what is left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from upwell.cli.text import name, snippet

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree

FACTS = ("media_type", "title", "language", "encoding", "pages")
MADE_BY = ("chunker", "prefixer")
DEEPEST_HEADING = 12
TABLE_ROWS, TABLE_COLS, CELL_CHARACTERS = 5, 6, 18
SAMPLES = 3


def view(answer: Mapping[str, Any], label: str) -> "Tree":
    """A tree: the document's facts, its blocks, its chunks with tokens, what is left out and why, its children."""
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(name(label), style="bold"))
    for line in fact_lines(answer):
        tree.add(Text(line))
    blocks: Sequence[Mapping[str, Any]] = answer.get("blocks") or ()
    chunks = answer.get("chunks") or ()
    if blocks:
        _add_blocks(tree.add(Text(count_of(len(blocks), "block"), style="bold")), blocks)
        branch = tree.add(Text(count_of(len(chunks), "chunk"), style="bold"))
        for number, chunk in enumerate(chunks):
            node = branch.add(Text(chunk_line(chunk, number, blocks)))
            node.add(Text(snippet(chunk.get("text") or "", 160), style="dim"))
        _add_coverage(tree, answer)
    for child in answer.get("children") or ():
        tree.children.append(view(child, f"inside: {child.get('name') or 'unnamed'}"))
    return tree


def fact_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """`status: needs_ocr (its pages are pictures)`, `parser: pdf/1 (kept: …)`, then what else is known."""
    yield f"status: {answer.get('status')}" + _because(answer.get("reason"))
    if answer.get("parser"):
        why = str(answer.get("choice") or "").removeprefix(f"{answer['parser']}: ")
        yield f"parser: {snippet(str(answer['parser']), 200)}" + _because(why)
    for fact in FACTS + (MADE_BY if answer.get("chunks") else ()):
        if answer.get(fact) not in {None, ""}:
            yield f"{fact.replace('_', ' ')}: {snippet(str(answer[fact]), 200)}"


def block_line(block: Mapping[str, Any]) -> str:
    """`heading 2 · p. 3 [72 90 300 104] · Parental leave`; how sure the reader of a picture was; why it is left out."""
    kind = f"{block['kind']} {block['level']}" if block.get("level") is not None else str(block["kind"])
    sure = f"{block['confidence']:.0%} sure" if block.get("confidence") is not None else ""
    out = f"left out: {name(str(block['left_out']))}" if block.get("left_out") else ""
    text = "" if block.get("table") else snippet(block.get("text") or "", 100)
    return " · ".join(part for part in (kind, _place(block), sure, out, text) if part)


def chunk_line(chunk: Mapping[str, Any], number: int = 0, blocks: Sequence[Mapping[str, Any]] = ()) -> str:
    """`chunk 4 · 212 tokens · p. 3 [72 90 300 400], p. 4 · blocks 7-9 · Time off > Parental leave`."""
    numbers = sorted({span["block"] for span in chunk.get("spans") or ()})
    held = f"block {numbers[0]}" if len(numbers) == 1 else f"blocks {numbers[0]}-{numbers[-1]}" if numbers else ""
    pages = {blocks[at].get("page") for at in numbers if at < len(blocks)} - {None, chunk.get("page")}
    place = ", ".join([_place(chunk), *(f"p. {page}" for page in sorted(pages))])
    path = snippet(" > ".join(chunk.get("heading_path") or ()), 100)
    parts = (f"chunk {number}", f"{chunk.get('tokens')} tokens", place, held, path)
    return " · ".join(part for part in parts if part)


def count_of(count: int, what: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _because(reason: str | None) -> str:
    return f" ({snippet(reason, 300)})" if reason else ""


def _place(thing: Mapping[str, Any]) -> str:
    page = f"p. {thing['page']}" if thing.get("page") else ""
    bbox = thing.get("bbox")
    if not bbox or None in bbox:  # JSON has no infinity
        return page
    return f"{page} [{' '.join(f'{edge:.0f}' for edge in bbox)}]".strip()


def _add_blocks(branch: "Tree", blocks: Sequence[Mapping[str, Any]]) -> None:
    from rich.text import Text

    open_headings: list[Tree] = []
    for number, block in enumerate(blocks):
        del open_headings[len(block.get("heading_path") or ()) :]
        above = open_headings[-1] if open_headings else branch
        node = above.add(Text(f"{number} {block_line(block)}"))
        if block.get("table"):
            node.add(table_view(block["table"]))
        if block["kind"] == "heading" and len(open_headings) < DEEPEST_HEADING:
            open_headings.append(node)


def table_view(table: Mapping[str, Any]) -> "Table":
    """The first rows and columns; header cells in bold."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows, cols = min(table["rows"], TABLE_ROWS), min(table["cols"], TABLE_COLS)
    cells = {
        (cell["row"], cell["col"]): Text(
            snippet(cell.get("text") or "", CELL_CHARACTERS), style="bold" if cell.get("header") else ""
        )
        for cell in table.get("cells") or ()
        if cell["row"] < rows and cell["col"] < cols
    }
    size = f"{table['rows']} rows, {table['cols']} columns"
    drawn = Table(box=box.SQUARE, show_header=False, caption=Text(size), caption_justify="left")
    for row in range(rows):
        more = [Text("…")] if table["cols"] > cols else []
        drawn.add_row(*(cells.get((row, col), Text()) for col in range(cols)), *more)
    return drawn


def _add_coverage(tree: "Tree", answer: Mapping[str, Any]) -> None:
    """The coverage line, and below it what is left out by reason, each with its first words."""
    from rich.text import Text

    from upwell.explain.coverage import coverage

    counted = coverage(answer)
    branch = tree.add(Text(f"coverage: {counted.line}", style="bold red" if counted.unaccounted else "bold"))
    for reason, characters in counted.dropped.items():
        words = ", ".join(f"“{words}”" for words in _samples(answer, reason))
        branch.add(Text(f"{name(reason)}: {characters:,} characters" + (f": {words}" if words else "")))


def _samples(answer: Mapping[str, Any], reason: str) -> list[str]:
    """The first words that are left out for this reason."""
    found: list[str] = []
    for drop in answer.get("dropped") or ():
        for span in drop.get("spans") or () if drop["reason"] == reason else ():
            text = answer["blocks"][span["block"]].get("text") or ""
            words = snippet(text[span["start"] : span["end"]], 40)
            if words:
                found.append(words)
            if len(found) == SAMPLES:
                return found
    return found
