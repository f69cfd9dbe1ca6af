"""Chunk and prefix as stages with a wire between them: the same document, byte for byte, as in one go."""

from pathlib import Path

import msgspec
import pytest

import upwell
from upwell.chunk.document import chunk_document
from upwell.chunk.policy import DEFAULT_POLICY
from upwell.embed import tokenizer_of
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.prepare import prepare_parsed
from upwell.parse.route import parse
from upwell.prefix.document import prefix_document
from upwell.records import ENCODER, ChunkedDocument, ParsedDocument

TOKENIZER = tokenizer_of("hash")
SAMPLE = Path(upwell.__file__).parent / "sample"
NAMES = [
    "handbook/travel-and-expenses.md",
    "handbook/remote-work.html",
    "mail/delayed-hinges.eml",
    "workshop/cut_list.py",
    "finance/suppliers.csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_stages_with_a_wire_between_them_make_the_same_document(name):
    """Children included: nothing that the prefix needs is lost on the wire, no key differs."""
    parsed = parse((SAMPLE / name).read_bytes(), name, None, DEFAULT_LIMITS)
    if name.endswith(".eml"):
        inner = parse((SAMPLE / NAMES[0]).read_bytes(), NAMES[0], None, DEFAULT_LIMITS)
        parsed = msgspec.structs.replace(parsed, children=(msgspec.structs.replace(inner, name="inside.md"),))
    received = msgspec.msgpack.decode(ENCODER.encode(parsed), type=ParsedDocument)
    chunked = ENCODER.encode(chunk_document(received, TOKENIZER))
    prefix_tokens = DEFAULT_POLICY.within(TOKENIZER.max_tokens).prefix_tokens
    prepared = prefix_document(msgspec.msgpack.decode(chunked, type=ChunkedDocument), TOKENIZER, "fp", prefix_tokens)
    assert prepared.chunks
    assert ENCODER.encode(prepared) == ENCODER.encode(prepare_parsed(parsed, TOKENIZER, "fp"))
