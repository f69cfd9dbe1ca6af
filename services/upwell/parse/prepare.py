"""Parse, chunk and prefix: what the sandboxed child does with a document, as one pure function."""

import hashlib

from msgspec.structs import replace

from upwell.chunk.document import chunk_document
from upwell.chunk.policy import DEFAULT_POLICY, ChunkPolicy
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import DEFAULT_POLICY as DEFAULT_READING
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.ports import Tokenizer
from upwell.prefix.document import prefix_document
from upwell.records import ParsedDocument, PreparedDocument


def prepare_document(
    data: bytes,
    name: str,
    media_type: str | None,
    *,
    tokenizer: Tokenizer,
    model_fingerprint: str,
    policy: ChunkPolicy = DEFAULT_POLICY,
    limits: Limits = DEFAULT_LIMITS,
    reading: ParsePolicy = DEFAULT_READING,
) -> PreparedDocument:
    """Everything of a version but its vectors. Never raises for a bad document: that is a status."""
    parsed = parse(data, name, media_type, limits, reading)
    prepared = prepare_parsed(parsed, tokenizer, model_fingerprint, policy)
    return replace(prepared, content_sha256=hashlib.sha256(data).hexdigest())


def prepare_parsed(
    parsed: ParsedDocument, tokenizer: Tokenizer, model_fingerprint: str, policy: ChunkPolicy = DEFAULT_POLICY
) -> PreparedDocument:
    """Chunk and prefix what was parsed, children included: the two stages of the distributed lake in a row."""
    chunked = chunk_document(parsed, tokenizer, policy)
    return prefix_document(chunked, tokenizer, model_fingerprint, policy.within(tokenizer.max_tokens).prefix_tokens)
