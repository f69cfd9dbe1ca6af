"""What `upwell explain` draws on a terminal."""

import io

import pytest
from rich.console import Console

from upwell.cli import explain_view

HEADING = {"kind": "heading", "level": 1, "page": 1, "bbox": [72, 90, 300, 104.4], "text": "Pay", "heading_path": []}
TEXT = {"kind": "paragraph", "text": "Raises come in March.", "heading_path": ["Pay"]}
DEEPER = {"kind": "heading", "level": 2, "text": "When", "heading_path": ["Pay"]}
SEEN = {"kind": "paragraph", "text": "Scanned words", "heading_path": ["Pay", "When"], "confidence": 0.876}
NEXT = {"kind": "heading", "level": 1, "text": "Leave", "heading_path": []}
FURNITURE = {"kind": "page_furniture", "text": "Page 1", "heading_path": ["Leave"], "left_out": "page_furniture"}


def drawn(answer):
    page = io.StringIO()
    Console(file=page, width=120, markup=False, highlight=False).print(explain_view.view(answer, "a.pdf"))
    return page.getvalue()


def depth(text, words):
    return next(line.index(words) for line in text.splitlines() if words in line)


def test_the_head_says_why_a_document_ended_as_it_did_and_why_its_parser_was_chosen():
    text = drawn(
        {
            "status": "needs_ocr",
            "reason": "pictures",
            "parser": "pdf/1",
            "choice": "pdf/1: the better",
            "pages": 0,
            "chunker": "layout/1",
        }
    )
    for line in ("status: needs_ocr (pictures)", "parser: pdf/1 (the better)", "pages: 0"):
        assert line in text
    assert "coverage" not in text
    assert "chunker" not in text, "nothing was cut"


def test_blocks_stand_under_their_headings():
    text = drawn({"status": "ok", "blocks": [HEADING, TEXT, DEEPER, SEEN, NEXT, FURNITURE]})
    levels = [depth(text, words) for words in ("0 heading", "1 paragraph", "3 paragraph")]
    assert levels == sorted(set(levels)), "each a step further in"
    assert depth(text, "2 heading") == depth(text, "1 paragraph")
    assert depth(text, "4 heading") == depth(text, "0 heading")
    assert "0 heading 1 · p. 1 [72 90 300 104] · Pay" in text
    assert "3 paragraph · 88% sure · Scanned words" in text
    assert "5 page_furniture · left out: page_furniture · Page 1" in text


def test_a_block_whose_headings_are_not_blocks_is_shown_all_the_same():
    text = drawn({"status": "ok", "blocks": [{**TEXT, "heading_path": ["Never", "Seen"]}]})
    assert "0 paragraph · Raises come in March." in text


def test_a_table_is_drawn_small():
    cells = [{"row": r, "col": c, "text": f"cell {r}.{c}", "header": r == 0} for r in range(30) for c in range(9)]
    text = drawn(
        {"status": "ok", "blocks": [{"kind": "table", "text": "x", "table": {"rows": 30, "cols": 9, "cells": cells}}]}
    )
    assert "cell 4.5" in text
    assert "cell 5.0" not in text
    assert "cell 0.6" not in text
    assert "30 rows, 9 columns" in text


@pytest.mark.parametrize(
    ("blocks", "held"), [([], ""), ([3], " · block 3"), ([3, 4, 4, 6], " · blocks 3-6")], ids=["none", "one", "several"]
)
def test_a_chunk_says_its_tokens_place_blocks_and_path(blocks, held):
    spans = [{"block": at, "start": 0, "end": 1} for at in blocks]
    chunk = {"tokens": 5, "page": 2, "bbox": [1, 2, 3, 4], "heading_path": ["Pay", "When"], "spans": spans}
    assert explain_view.chunk_line(chunk, 7) == f"chunk 7 · 5 tokens · p. 2 [1 2 3 4]{held} · Pay > When"


def test_a_chunk_that_goes_on_over_a_page_names_both():
    spans = [{"block": at, "start": 0, "end": 1} for at in (0, 1, 2)]
    blocks = [{"page": 2}, {"page": 3}, {}]
    chunk = {"tokens": 5, "page": 2, "bbox": [1, 2, 3, 4], "spans": spans}
    assert explain_view.chunk_line(chunk, 0, blocks) == "chunk 0 · 5 tokens · p. 2 [1 2 3 4], p. 3 · blocks 0-2"


def test_what_is_left_out_is_counted_by_reason_with_its_first_words():
    answer = {
        "status": "ok",
        "blocks": [TEXT, FURNITURE, {**FURNITURE, "text": "Page 2"}],
        "chunks": [{"tokens": 4, "spans": [{"block": 0, "start": 0, "end": 20}]}],
        "dropped": [{"reason": "page_furniture", "spans": [{"block": n, "start": 0, "end": 6} for n in (1, 2)]}],
    }
    text = drawn(answer)
    assert "coverage: 33 characters = 20 in chunks + 12 left out + 1 unaccounted" in text
    assert "page_furniture: 12 characters: “Page 1”, “Page 2”" in text


def test_children_are_trees_of_their_own():
    text = drawn({"status": "ok", "blocks": [TEXT], "children": [{"name": "t.csv", "status": "ok", "blocks": [TEXT]}]})
    assert "inside: t.csv" in text
    assert text.count("0 paragraph") == 2
