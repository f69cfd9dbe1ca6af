"""Mail of too many parts is refused before anybody makes an object of each."""

import time

import pytest

from hostile import deep_multipart_mail, many_alternatives_mail, many_parts_mail
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import ParseStatus


@pytest.mark.parametrize(
    "data", [many_parts_mail(100_000), many_alternatives_mail(100_000), deep_multipart_mail(3_000)]
)
def test_too_many_parts_are_too_large_at_once(data):
    """A hundred thousand parts would take a minute and more to parse; counting them takes none."""
    started = time.monotonic()
    parsed = parse(data, "a.eml", None, DEFAULT_LIMITS)
    assert (parsed.status, bool(parsed.reason)) == (ParseStatus.TOO_LARGE, True)
    assert time.monotonic() - started < 5


def test_lines_that_look_like_boundaries_are_words():
    """A mail about a patch has thousands of lines that begin with dashes."""
    data = b"From: a@b.c\nSubject: patch\n\n" + b"--- a/file\n+++ b/file\n-- old\n" * 5_000
    parsed = parse(data, "a.eml", None, DEFAULT_LIMITS)
    assert parsed.status is ParseStatus.OK
    assert sum(block.text.count("+++") for block in parsed.blocks) == 5_000
