"""`upwell explain FILE`: how a file would be read, chunked and prefixed; nothing is written."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from upwell.cli import options
from upwell.cli.opening import settings_of
from upwell.cli.output import emit
from upwell.cli.text import name, snippet
from upwell.errors import Misconfigured

if TYPE_CHECKING:
    from rich.tree import Tree


def register(app: typer.Typer) -> None:
    app.command(
        short_help="How a file would be read and chunked",
        help="Show how a file would be parsed, chunked and prefixed. Nothing is written.",
        epilog=options.examples("upwell explain report.pdf", "upwell explain report.pdf --json"),
    )(explain)


def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to look at.")],
    embedder: options.Embedder = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    if not file.is_file():
        raise Misconfigured(
            f"{file}: {'is not a file' if file.exists() else 'no such file'}; name the document to explain"
        )
    settings = settings_of(lake, config, embedder)
    from upwell import wiring

    answer = wiring.explain(file, settings)
    emit(answer, None if as_json else view(answer, str(file)))


def view(answer: Mapping[str, Any], label: str) -> "Tree":
    """A tree: the document's facts, its blocks, its chunks with tokens, what is left out and why, its children."""
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(name(label), style="bold"))
    facts = ("status", "reason", "media_type", "title", "language", "pages", "parser", "chunker", "prefixer")
    for field in facts:
        if answer.get(field) is not None:
            tree.add(Text(f"{field}: {snippet(str(answer[field]), 200)}"))
    blocks, chunks, dropped = (answer.get(part) or () for part in ("blocks", "chunks", "dropped"))
    branch = tree.add(Text(f"{len(blocks)} blocks", style="bold"))
    for block in blocks:
        branch.add(Text(block_line(block)))
    branch = tree.add(Text(f"{len(chunks)} chunks", style="bold"))
    for chunk in chunks:
        node = branch.add(Text(chunk_line(chunk)))
        node.add(Text(snippet(chunk.get("text") or "", 160), style="dim"))
    branch = tree.add(Text(f"left out: {sum(left_out(dropped).values())} characters", style="bold"))
    for reason, characters in left_out(dropped).items():
        branch.add(Text(f"{name(reason)}: {characters} characters"))
    for child in answer.get("children") or ():
        tree.children.append(view(child, f"inside: {child.get('name') or 'unnamed'}"))
    return tree


def block_line(block: Mapping[str, Any]) -> str:
    """`heading 2 · p. 3 · Parental leave`."""
    kind = f"{block['kind']} {block['level']}" if block.get("level") is not None else str(block["kind"])
    page = f"p. {block['page']}" if block.get("page") else ""
    return " · ".join(part for part in (kind, page, snippet(block.get("text") or "", 100)) if part)


def chunk_line(chunk: Mapping[str, Any]) -> str:
    """`212 tokens · p. 3 · Time off > Parental leave`."""
    page = f"p. {chunk['page']}" if chunk.get("page") else ""
    path = snippet(" > ".join(chunk.get("heading_path") or ()), 100)
    return " · ".join(part for part in (f"{chunk.get('tokens')} tokens", page, path) if part)


def left_out(dropped: Any) -> Counter[str]:
    """Characters by reason, the most first."""
    counts: Counter[str] = Counter()
    for drop in dropped:
        counts[str(drop["reason"])] += sum(span["end"] - span["start"] for span in drop.get("spans") or ())
    return Counter(dict(counts.most_common()))
