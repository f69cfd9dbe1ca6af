"""The page of `upwell explain --html`, as markup."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from upwell.explain.boxes import grouped_boxes
from upwell.explain.markup import Html, element, snippet, text
from upwell.explain.page import page
from upwell.explain.panel import tree
from upwell.explain.reading import table
from upwell.parse import media
from upwell.parse.drawn import Drawing, Drawings

NOTHING = Drawings()
PNG = b"\x89PNG"


def answer(blocks=(), chunks=(), dropped=(), **more):
    return {"status": "ok", "blocks": list(blocks), "chunks": list(chunks), "dropped": list(dropped), **more}


def block(words, kind="paragraph", path=(), **more):
    return {"kind": kind, "text": words, "heading_path": list(path), **more}


class Outline(HTMLParser):
    """Tags as they open and close; void ones do not count."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in {"img", "meta", "link", "input", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_words_are_escaped_wherever_they_stand():
    assert element("p", "<b>&'\"", title='"><script>') == (
        '<p title="&quot;&gt;&lt;script&gt;">&lt;b&gt;&amp;&#x27;&quot;</p>'
    )


def test_markup_that_was_made_here_is_not_escaped_again():
    assert element("p", element("b", "x"), Html("<i>y</i>")) == "<p><b>x</b><i>y</i></p>"


def test_attributes_that_are_none_or_false_are_left_out():
    assert element("td", rowspan=None, hidden=False, open=True, data_block=3, class_="x") == (
        '<td open data-block="3" class="x"></td>'
    )


@pytest.mark.parametrize("hidden", ["\x00", "\x1b", "\x85", "\u202e", "\u2066", "\ufeff", "\ud800"])
def test_what_cannot_be_seen_is_shown(hidden):
    assert text(f"a{hidden}b\n") == "a\ufffdb\n"


@pytest.mark.parametrize(
    ("words", "cut"), [("a  b\nc", "a b c"), ("x" * 20, "x" * 9 + "…"), ("a" + " " * 90 + "b", "a…")]
)
def test_a_snippet_is_one_short_line(words, cut):
    assert snippet(words, 10) == cut


def test_the_tree_nests_what_stands_under_a_heading():
    blocks = [
        block("Pay", "heading", level=1),
        block("a", path=["Pay"]),
        block("When", "heading", ["Pay"], level=2),
        block("b", path=["Pay", "When"]),
        block("Leave", "heading", level=1),
        block("stray", path=["Never", "Seen", "At", "All"]),
    ]
    shape = re.sub(r'<button[^>]*data-block="(\d)".*?</button>', r"\1", tree(blocks)).replace(' class="tree"', "")
    assert shape == ("<ol><li>0<ol><li>1</li><li>2<ol><li>3</li></ol></li></ol></li><li>4<ol><li>5</li></ol></li></ol>")


def test_a_table_keeps_its_spans_and_header_cells():
    cells = [
        {"row": 0, "col": 0, "text": "Both", "header": True, "row_span": 1, "col_span": 2},
        {"row": 2, "col": 1, "text": "x < y", "header": False, "row_span": 1, "col_span": 1},
    ]
    drawn = table({"rows": 3, "cols": 2, "cells": cells})
    assert '<th colspan="2" dir="auto">Both</th>' in drawn
    assert '<tr></tr><tr><td dir="auto">x &lt; y</td></tr>' in drawn
    assert "3 rows, 2 columns" in drawn


def test_a_huge_table_is_cut_and_says_so():
    cells = [{"row": n, "col": 0, "text": "x"} for n in range(5000)]
    assert "3000 cells not shown" in table({"rows": 5000, "cols": 1, "cells": cells})


def test_boxes_of_one_column_are_drawn_as_one():
    left, below, right = (70, 100, 290, 200), (72, 210, 280, 400), (310, 100, 520, 300)
    assert grouped_boxes([left, below, right]) == [(70, 100, 290, 400), right]
    assert grouped_boxes([]) == []


def test_a_new_column_above_starts_a_new_box():
    """The words go on at the head of the next column, which overlaps the last one a little."""
    low, high = (70, 500, 300, 700), (200, 50, 500, 120)
    assert grouped_boxes([low, high]) == [low, high]


def test_the_page_is_well_formed_and_allows_only_its_own_style_and_script():
    shown = page([("a.md", answer([block("Pay", "heading", level=1), block("x", path=["Pay"])]), NOTHING)])
    outline = Outline(shown)
    assert outline.open == []
    (policy,) = (
        a["content"] for t, a in outline.seen if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; img-src data:;")
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", shown, re.DOTALL)
        assert f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'" in policy
    assert not [a for _, a in outline.seen if "style" in a or any(name.startswith("on") for name in a)]


def test_a_picture_of_a_page_lies_under_its_boxes_on_one_scale():
    blocks = [block("in", page=1, bbox=[10, 20, 110, 40]), block("on another page", page=2, bbox=[0, 0, 5, 5])]
    drawing = Drawing(page=1, width=200, height=300, png=PNG)
    shown = page([("a.pdf", answer(blocks), Drawings(pages=(drawing,), left_out="only the first page is drawn"))])
    assert f'src="data:image/png;base64,{base64.b64encode(PNG).decode()}"' in shown
    assert 'viewBox="0 0 200.00 300.00"' in shown
    assert '<rect x="10.00" y="20.00" width="100.00" height="20.00"></rect>' in shown
    assert shown.count("<rect") == 1
    assert "only the first page is drawn" in shown


def test_a_document_without_pictures_has_sheets_of_its_words_where_its_blocks_say_where_they_lie():
    """Whatever the format measures in: the sheet is as wide as what stands on it, and a little wider."""
    shown = page([("a.pptx", answer([block("<x>", page=1, bbox=[0, 0, 4000, 2000])]), NOTHING)])
    assert 'viewBox="0 0 600.00 300.00"' in shown
    assert '<rect x="0.00" y="0.00" width="571.43" height="285.71"></rect><foreignObject' in shown
    assert '<div class="in-box" dir="auto">&lt;x&gt;</div>' in shown
    assert "<img" not in shown


def test_what_shares_a_box_of_a_sheet_is_written_there_once():
    box = {"page": 1, "bbox": [0, 0, 40, 20]}
    shown = page([("a.pptx", answer([block("one", **box), block("two", **box)]), NOTHING)])
    assert re.findall(r'<div class="in-box"[^>]*>([^<]*)', shown) == ["one\ntwo"]


def test_a_workbook_has_no_sheets_since_its_boxes_count_cells():
    shown = page([("a.xlsx", answer([block("x", page=1, bbox=[0, 0, 3, 7])], media_type=media.XLSX), NOTHING)])
    assert "<svg" not in shown


@pytest.mark.parametrize("bbox", [None, [], [0, 0, None, 5], [5, 5, 5, 5], [0, 0, 0, 0]])
def test_a_box_that_is_none_draws_nothing(bbox):
    assert "<rect" not in page([("a.pptx", answer([block("x", page=1, bbox=bbox)]), NOTHING)])


@pytest.mark.parametrize(("language", "spoken"), [("de", ' lang="de"'), ("python", ""), (None, ""), ('"x', "")])
def test_words_say_their_language_to_who_reads_them_aloud(language, spoken):
    shown = page([("a.md", answer([block("x")], language=language), NOTHING)])
    assert f'<div class="reading"{spoken}>' in shown


def test_what_is_left_out_stands_there_with_its_reason():
    blocks = [block("Page 1 of 2", "page_furniture", left_out="page_furniture")]
    drops = [{"reason": "page_furniture", "spans": [{"block": 0, "start": 0, "end": 11}]}]
    shown = page([("a.md", answer(blocks, dropped=drops), NOTHING)])
    assert "<b>page_furniture</b> 11 characters</summary>" in shown
    assert "11 characters = 0 in chunks + 11 left out + 0 unaccounted" in shown


def test_a_document_that_was_not_read_shows_why():
    shown = page([("a.pdf", {"status": "encrypted", "reason": "needs a password"}, NOTHING)])
    assert '<b class="bad">encrypted</b> needs a password' in shown
    assert "<aside" not in shown


def test_children_are_documents_of_their_own():
    child = answer([block("inner")], name="<t>.csv", children=[answer(name="deep.txt")])
    shown = page([("a.eml", answer([block("outer")], children=[child]), NOTHING)])
    assert shown.count("<article") == 3
    assert '<a href="#d2">a.eml!/&lt;t&gt;.csv!/deep.txt</a>' in shown


def test_a_document_of_very_many_blocks_is_cut_and_says_so():
    shown = page([("a.txt", answer([block("x")] * 4100), NOTHING)])
    assert "only the first 4,000 of 4,100 blocks are shown" in shown
