"""How a document was parsed, chunked and prefixed, as one JSON object: what `upwell explain` shows."""

from typing import Any

import msgspec

from upwell.records import Block, Chunk, ParsedDocument, PreparedDocument


def explanation(parsed: ParsedDocument, prepared: PreparedDocument) -> dict[str, Any]:
    """The whole document: status, blocks with table cells, chunks, what was dropped and why, children alike."""
    children = zip(parsed.children, prepared.children, strict=False)
    return {
        "name": parsed.name,
        "status": parsed.status,
        "reason": parsed.reason,
        "media_type": parsed.media_type,
        "language": parsed.language,
        "encoding": parsed.encoding,
        "title": parsed.title,
        "pages": parsed.pages,
        "parser": parsed.parser,
        "choice": parsed.choice,
        "chunker": prepared.chunker,
        "prefixer": prepared.prefixer,
        "blocks": [_block(block) for block in parsed.blocks],
        "chunks": [_chunk(chunk) for chunk in prepared.chunks],
        "dropped": [
            {"reason": dropped.reason, "spans": [msgspec.structs.asdict(span) for span in dropped.spans]}
            for dropped in prepared.dropped
        ],
        "children": [explanation(child, chunked) for child, chunked in children],
    }


def unparsed(parsed: ParsedDocument) -> dict[str, Any]:
    """The same object for a document that has no blocks."""
    return explanation(parsed, PreparedDocument(status=parsed.status))


def _block(block: Block) -> dict[str, Any]:
    shown = {**msgspec.structs.asdict(block), "table": None}
    if block.table is not None:
        cells = [msgspec.structs.asdict(cell) for cell in block.table.cells]
        shown["table"] = {"rows": block.table.rows, "cols": block.table.cols, "cells": cells}
    return shown


def _chunk(chunk: Chunk) -> dict[str, Any]:
    return {**msgspec.structs.asdict(chunk), "spans": [msgspec.structs.asdict(span) for span in chunk.spans]}
