"""A parsed document with its children, cut into drafts of chunks: the chunk stage as one pure function."""

from upwell.chunk.chunker import chunk_blocks
from upwell.chunk.links import links_of
from upwell.chunk.measure import Measure
from upwell.chunk.policy import DEFAULT_POLICY, ChunkPolicy
from upwell.ports import Tokenizer
from upwell.records import ChunkedDocument, ParsedDocument


def chunk_document(
    parsed: ParsedDocument, tokenizer: Tokenizer, policy: ChunkPolicy = DEFAULT_POLICY
) -> ChunkedDocument:
    """Drafts without prefixes or keys, children included. `tokenizer` is the embedder's, and sets the limit.

    Raises Misconfigured for an embedder too small to hold any context.
    """
    policy = policy.within(tokenizer.max_tokens)
    chunking = chunk_blocks(parsed.blocks, Measure(parsed.blocks, tokenizer, policy.characters_per_token), policy)
    return ChunkedDocument(
        status=parsed.status,
        drafts=chunking.drafts,
        dropped=chunking.dropped,
        reason=parsed.reason,
        title=parsed.title,
        media_type=parsed.media_type,
        language=parsed.language,
        pages=parsed.pages,
        parser=parsed.parser,
        choice=parsed.choice,
        chunker=policy.fingerprint,
        links=links_of(parsed.blocks),
        name=parsed.name,
        children=tuple(chunk_document(child, tokenizer, policy) for child in parsed.children),
    )
