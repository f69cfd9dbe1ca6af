"""Beside a document: its blocks as a tree under their headings, its chunks, what is left out and why."""

from collections.abc import Mapping
from typing import Any

from upwell.explain.boxes import chunk_blocks
from upwell.explain.coverage import Coverage
from upwell.explain.markup import Html, element, join, snippet
from upwell.explain.reading import kind_label

WORDS = 110
CHUNK_CHARACTERS = 4_000
MOST_DROPS = 500


def panel(answer: Mapping[str, Any], counted: Coverage, place: str) -> Html:
    """Three tabs of the document `place` (its id in the page)."""
    tabs = (
        ("blocks", f"Blocks ({len(answer['blocks'])})", tree(answer["blocks"])),
        ("chunks", f"Chunks ({len(answer['chunks'])})", chunks(answer)),
        ("drops", f"Left out ({counted.left_out:,})", drops(answer, counted)),
    )
    buttons = [
        element(
            "button",
            label,
            type="button",
            role="tab",
            id=f"{place}-tab-{tab}",
            aria_controls=f"{place}-{tab}",
            aria_selected="true" if tab == "blocks" else "false",
        )
        for tab, label, _ in tabs
    ]
    bodies = [
        element("div", body, role="tabpanel", id=f"{place}-{tab}", aria_labelledby=f"{place}-tab-{tab}", class_=tab)
        for tab, _, body in tabs
    ]
    return element(
        "aside",
        element("div", *buttons, role="tablist", aria_label="What was made of it"),
        *bodies,
        class_="panel",
        aria_label="Blocks, chunks and what is left out",
    )


def tree(blocks: list[Mapping[str, Any]]) -> Html:
    """Nested lists: what stands under a heading is inside its item."""
    if not blocks:
        return element("p", "No blocks.", class_="none")
    lines: list[str] = []
    depth = 0
    for number, block in enumerate(blocks):
        above = min(len(block.get("heading_path") or ()), depth)
        lines.extend("</ol></li>" for _ in range(depth - above))
        depth = above
        if block["kind"] == "heading":
            lines.extend(("<li>", _block_button(number, block), "<ol>"))
            depth += 1
        else:
            lines.append(element("li", _block_button(number, block)))
    lines.extend("</ol></li>" for _ in range(depth))
    return Html(f'<ol class="tree">{"".join(lines)}</ol>')


def chunks(answer: Mapping[str, Any]) -> Html:
    """Each with its tokens, page, blocks, heading path, prefix and words."""
    if not answer["chunks"]:
        return element("p", "No chunks.", class_="none")
    count = len(answer["blocks"])
    return element("ol", *(_chunk(n, chunk, count) for n, chunk in enumerate(answer["chunks"])), class_="list")


def drops(answer: Mapping[str, Any], counted: Coverage) -> Html:
    """By reason: how many characters, and which words."""
    if not counted.dropped:
        return element("p", "Nothing is left out.", class_="none")
    shown: dict[str, list[Html]] = {}
    for drop in answer["dropped"]:
        items = shown.setdefault(str(drop["reason"]), [])
        for span in drop["spans"]:
            if len(items) < MOST_DROPS and span["block"] < len(answer["blocks"]):
                block = answer["blocks"][span["block"]]
                words = snippet((block.get("text") or "")[span["start"] : span["end"]], WORDS)
                items.append(element("li", _button(span["block"], kind_label(block), words or "(white space)")))
    return join(
        element(
            "details",
            element(
                "summary", element("b", reason), f" {characters:,} characters{_places(len(shown.get(reason, ())))}"
            ),
            element("ol", *shown.get(reason, ()), class_="list"),
            open=True,
        )
        for reason, characters in counted.dropped.items()
    )


def _places(count: int) -> str:
    return "" if count < 2 else f" in {count} places"


def _block_button(number: int, block: Mapping[str, Any]) -> Html:
    table = block.get("table")
    words = f"{table['rows']} × {table['cols']}: " if table else ""
    return _button(number, kind_label(block), words + snippet(block.get("text") or "(no words)", WORDS), block)


def _button(number: int, kind: str, words: str, block: Mapping[str, Any] | None = None) -> Html:
    page = f"p. {block['page']}" if block and block.get("page") else ""
    left_out = bool(block and (block.get("left_out") or block["kind"] == "page_furniture"))
    return element(
        "button",
        element("span", str(number), class_="number"),
        element("span", kind, class_=f"kind kind-{block['kind'] if block else 'none'}"),
        element("span", words, class_="words", dir="auto"),
        element("span", page, class_="place") if page else "",
        type="button",
        class_="item out" if left_out else "item",
        data_block=number,
        aria_pressed="false",
    )


def _chunk(number: int, chunk: Mapping[str, Any], count: int) -> Html:
    held = chunk_blocks(chunk, count)
    page = f"p. {chunk['page']}" if chunk.get("page") else ""
    path = " › ".join(chunk.get("heading_path") or ())
    prefix = chunk.get("prefix") or ""
    words = chunk.get("text") or ""
    return element(
        "li",
        element(
            "button",
            element("span", f"c{number}", class_=f"number turn-{number % 4}"),
            element("span", f"{chunk.get('tokens')} tokens", class_="kind"),
            element("span", path, class_="words", dir="auto"),
            element("span", page, class_="place") if page else "",
            type="button",
            class_="item",
            data_chunk=number,
            data_blocks=" ".join(map(str, held)),
            aria_pressed="false",
        ),
        element(
            "div",
            element("p", prefix, class_="prefix", dir="auto") if prefix else "",
            element("p", words[:CHUNK_CHARACTERS], dir="auto"),
            class_="chunk-words",
        ),
    )
