"""A chunked document with its children, prefixed and keyed: the prefix stage as one pure function."""

from collections.abc import Callable

from msgspec.structs import replace

from upwell.ports import Tokenizer
from upwell.prefix.structural import PREFIXER, structural_prefix
from upwell.records import Chunk, ChunkedDocument, Draft, PreparedDocument, stable_hash


def prefix_document(
    chunked: ChunkedDocument, tokenizer: Tokenizer, model_fingerprint: str, prefix_tokens: int
) -> PreparedDocument:
    """Chunks with their prefixes (at most `prefix_tokens` of the embedder's tokens) and keys, children included."""
    return PreparedDocument(
        status=chunked.status,
        chunks=_keyed(chunked, _counting(tokenizer), model_fingerprint, prefix_tokens),
        dropped=chunked.dropped,
        reason=chunked.reason,
        title=chunked.title,
        media_type=chunked.media_type,
        language=chunked.language,
        pages=chunked.pages,
        parser=chunked.parser,
        choice=chunked.choice,
        chunker=chunked.chunker,
        prefixer=PREFIXER,
        links=chunked.links,
        name=chunked.name,
        children=tuple(
            prefix_document(child, tokenizer, model_fingerprint, prefix_tokens) for child in chunked.children
        ),
    )


def _keyed(
    chunked: ChunkedDocument, count: Callable[[str], int], model_fingerprint: str, prefix_tokens: int
) -> tuple[Chunk, ...]:
    """Equal chunks of a document are told apart by their occurrence number."""
    seen: dict[tuple[str, str], int] = {}
    chunks: list[Chunk] = []
    for draft in chunked.drafts:
        prefix = _prefix(draft, chunked.title, count, prefix_tokens)
        text = draft.chunk.text
        occurrence = seen.get((prefix, text), 0)
        seen[prefix, text] = occurrence + 1
        chunks.append(
            replace(
                draft.chunk,
                chunk_key=stable_hash(prefix, text, occurrence),
                prefix=prefix,
                embed_key=stable_hash(model_fingerprint, prefix, text),
            )
        )
    return tuple(chunks)


def _prefix(draft: Draft, title: str | None, count: Callable[[str], int], prefix_tokens: int) -> str:
    shows = draft.shows_title or (bool(draft.chunk.heading_path) and title == draft.chunk.heading_path[0])
    return structural_prefix(None if shows else title, draft.headings, draft.caption, count, prefix_tokens)


def _counting(tokenizer: Tokenizer) -> Callable[[str], int]:
    """Counts each text once: many chunks of a section share their prefix."""
    counts: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in counts:
            counts[text] = len(tokenizer.starts(text))
        return counts[text]

    return count
