"""L7 for every format: what a file says is in a chunk of it or of its children, or dropped with a reason."""

import re

import pytest
from document_files import HEAVY, LIGHT, contents
from hypothesis import given, settings

from upwell.chunk.policy import DEFAULT_POLICY
from upwell.embed import tokenizer_of
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.prepare import prepare_parsed
from upwell.parse.route import parse
from upwell.records import ParseStatus

TOKENIZER = tokenizer_of("hash")
MARK = re.compile(r"mark\d+q")


def holds(data, name, marks):
    """The document is read; its characters and its children's are accounted for; none of the marks is lost."""
    parsed = parse(data, name, None, DEFAULT_LIMITS)
    assert parsed.status is ParseStatus.OK, parsed.reason
    prepared = prepare_parsed(parsed, TOKENIZER, "fp")
    found = accounted(parsed, prepared)
    assert not marks - found


def accounted(parsed, prepared):
    """The marks in the document's chunks and drops, after the law was held to each block of it."""
    shown = [bytearray(len(block.text)) for block in parsed.blocks]
    for part in (*prepared.chunks, *prepared.dropped):
        for span in part.spans:
            assert 0 <= span.start < span.end <= len(shown[span.block])
            shown[span.block][span.start : span.end] = b"\1" * (span.end - span.start)
    for block, seen in zip(parsed.blocks, shown, strict=True):
        assert not [c for c, s in zip(block.text, seen, strict=True) if not s and not c.isspace()]
    for chunk in prepared.chunks:
        assert chunk.text.strip()
        assert chunk.tokens == len(TOKENIZER.starts(chunk.text))
        both = len(TOKENIZER.starts(f"{chunk.prefix}\n{chunk.text}"))
        assert both + DEFAULT_POLICY.special_tokens <= TOKENIZER.max_tokens
    assert all(dropped.reason for dropped in prepared.dropped)
    found = {mark for block in parsed.blocks for mark in MARK.findall(block.text)}
    for child, ready in zip(parsed.children, prepared.children, strict=True):
        found |= accounted(child, ready)
    return found


@pytest.mark.parametrize("name", sorted(LIGHT))
@settings(max_examples=12, deadline=None)
@given(parts=contents())
def test_texts_mail_and_archives_lose_nothing(name, parts):
    """Every part of a generated file of this format is in a chunk or dropped with a reason."""
    holds(LIGHT[name](parts), name, {part.mark for part in parts})


@pytest.mark.parametrize("name", sorted(HEAVY))
@settings(max_examples=4, deadline=None)
@given(parts=contents(most=5, longest=60))
def test_office_files_and_pdfs_lose_nothing(name, parts):
    """The same of formats that take longer to write and to read."""
    holds(HEAVY[name](parts), name, {part.mark for part in parts})
