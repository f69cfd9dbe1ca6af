"""Headings between equals signs, as wikis and their exports write them."""

import pytest

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.parse.text.wiki_markup import with_markdown_headings


def blocks(text):
    return [(b.kind.value, b.text, b.heading_path) for b in parse(text.encode(), "a.md", None, DEFAULT_LIMITS).blocks]


@pytest.mark.parametrize(("one", "two"), [("=", "=="), ("=", "= ="), ("==", "===")])
def test_wiki_headings_have_their_levels(one, two):
    """One sign stands above two, with or without spaces between the signs; the words under them know both."""
    assert blocks(f" {one} Owls {one} \n Birds of the night . \n {two} Food {two} \n Mice , mostly . \n") == [
        ("heading", "Owls", ()),
        ("paragraph", "Birds of the night .", ("Owls",)),
        ("heading", "Food", ("Owls",)),
        ("paragraph", "Mice , mostly .", ("Owls", "Food")),
    ]


def test_lines_too_long_to_be_wrapped_are_paragraphs_of_their_own():
    """Short lines of a wiki's text are one wrapped paragraph, long ones each their own."""
    long = "A sentence of some words is here . " * 10
    kinds = blocks(f"= A =\n{long}\n{long}\nshort\nlines\n= B =\nwords\n")
    assert [kind for kind, *_ in kinds] == ["heading", "paragraph", "paragraph", "paragraph", "heading", "paragraph"]
    assert kinds[3][1] == "short lines"


@pytest.mark.parametrize(
    "text",
    [
        "a\n== b ==\nc\n",  # one is an accident
        "# Markdown\n\n= a =\n\n= b =\n",
        "```\n= a =\n= b =\n```\n",
        "Title\n=====\n\nwords\n\nOther\n=====\n",
        "x = 1\n= a\nb =\n== c =\n== d =\n",
    ],
)
def test_other_texts_are_left_alone(text):
    """Markdown's own headings, code and underlines, and sums are no wiki headings."""
    assert with_markdown_headings(text) == text
