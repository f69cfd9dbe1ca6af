"""A document cannot cost more by its shape than by its words: blocks count, and a long heading is not repeated whole."""

import pytest

from upwell.parse.failures import Unparsable
from upwell.parse.outline import BLOCK_COST, Outline
from upwell.records import LONGEST_IN_PATH, Kind, ParseStatus


def test_many_small_blocks_are_too_large():
    """Each takes some of what the document may hold, however little it says."""
    outline = Outline(1_000)
    for _ in range(1_000 // (BLOCK_COST + 1)):
        outline.add(Kind.PARAGRAPH, "x")
    with pytest.raises(Unparsable) as refused:
        outline.add(Kind.PARAGRAPH, "x")
    assert refused.value.status is ParseStatus.TOO_LARGE


def test_a_long_heading_is_whole_once_and_short_in_paths():
    """Ten thousand blocks under a heading of a megabyte would be ten gigabytes on their way out of the child."""
    outline = Outline(10_000_000)
    outline.heading("h" * 1_000_000, 1)
    outline.add(Kind.PARAGRAPH, "words")
    assert len(outline.blocks[0].text) == 1_000_000
    assert outline.blocks[1].heading_path == ("h" * LONGEST_IN_PATH,)
