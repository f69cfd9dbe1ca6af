"""Parse, chunk and prefix: what the sandboxed child does with a document, as one pure function."""

import hashlib

from msgspec.structs import replace

from upwell.chunk.chunker import chunk_blocks
from upwell.chunk.measure import Measure
from upwell.chunk.policy import DEFAULT_POLICY, ChunkPolicy
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.route import parse
from upwell.ports import Tokenizer
from upwell.prefix.structural import PREFIXER, structural_prefix
from upwell.records import Chunk, Draft, ParsedDocument, ParseStatus, PreparedDocument, stable_hash


def prepare_document(
    data: bytes,
    name: str,
    media_type: str | None,
    *,
    tokenizer: Tokenizer,
    model_fingerprint: str,
    policy: ChunkPolicy = DEFAULT_POLICY,
    limits: Limits = DEFAULT_LIMITS,
) -> PreparedDocument:
    """Everything of a version but its vectors. Never raises for a bad document: that is a status."""
    parsed = parse(data, name, media_type, limits)
    prepared = prepare_parsed(parsed, tokenizer, model_fingerprint, policy)
    return replace(prepared, content_sha256=hashlib.sha256(data).hexdigest())


def prepare_parsed(
    parsed: ParsedDocument, tokenizer: Tokenizer, model_fingerprint: str, policy: ChunkPolicy = DEFAULT_POLICY
) -> PreparedDocument:
    """Chunk and prefix what was parsed, children included."""
    policy = policy.within(tokenizer.max_tokens)
    measure = Measure(parsed.blocks, tokenizer, policy.characters_per_token)
    chunking = chunk_blocks(parsed.blocks, measure, policy)
    return PreparedDocument(
        status=parsed.status,
        chunks=_keyed(chunking.drafts, parsed.title, measure, model_fingerprint, policy.prefix_tokens),
        dropped=chunking.dropped,
        reason=parsed.reason,
        title=parsed.title,
        media_type=parsed.media_type,
        language=parsed.language,
        pages=parsed.pages,
        parser=parsed.parser,
        chunker=policy.fingerprint,
        prefixer=PREFIXER,
        name=parsed.name,
        children=tuple(prepare_parsed(child, tokenizer, model_fingerprint, policy) for child in parsed.children),
    )


def _keyed(
    drafts: tuple[Draft, ...], title: str | None, measure: Measure, model_fingerprint: str, prefix_tokens: int
) -> tuple[Chunk, ...]:
    """Chunks with their prefixes and keys. Equal ones of a document are told apart by their occurrence number."""
    seen: dict[tuple[str, str], int] = {}
    counts: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in counts:
            counts[text] = measure.count(text)
        return counts[text]

    chunks: list[Chunk] = []
    for draft in drafts:
        shows = draft.shows_title or (bool(draft.chunk.heading_path) and title == draft.chunk.heading_path[0])
        prefix = structural_prefix(None if shows else title, draft.headings, draft.caption, count, prefix_tokens)
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


def failed(status: ParseStatus, reason: str, media_type: str = "application/octet-stream") -> PreparedDocument:
    """A document that ended without being parsed."""
    return PreparedDocument(status=status, reason=reason, media_type=media_type)
