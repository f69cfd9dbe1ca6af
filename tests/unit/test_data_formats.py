"""JSON, notebooks, XML, captions, delimited and reStructured text: their words under the names that lead to them."""

import json

import pytest

from upwell.parse.data.delimited import find_delimiter
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus

LONG = "words that say at some length what this is all about, and then some more of them; " * 8


def read(text, name):
    return parse(text.encode(), name, None, DEFAULT_LIMITS)


def kinds(text, name):
    return [(b.kind.value, b.text) for b in read(text, name).blocks]


def test_json_has_headings_as_deep_as_there_is_much_to_say():
    """A long object below is parted by its names; a short one is lines with their paths."""
    value = {
        "info": {"title": "Trees"},
        "paths": {"/trees": {"get": {"a": LONG}, "put": {"b": LONG}}, "/x": {"get": {"c": 1}}},
    }
    blocks = read(json.dumps(value), "a.json").blocks
    assert read(json.dumps(value), "a.json").title == "Trees"
    assert [b.heading_path for b in blocks if b.text.startswith("a: ")] == [("paths", "/trees", "get")]
    assert [(b.heading_path, b.text) for b in blocks][-1] == (("paths", "/x"), "get.c: 1")


def test_json_lists_go_item_by_item():
    """Short values in one line, objects by themselves, long ones under their names."""
    value = {
        "tags": ["a", "b"],
        "trees": [{"name": "larch", "m": 40}, {"name": "birch", "about": [{"x": LONG}, {"x": LONG}]}],
    }
    assert ("paragraph", "a, b") in kinds(json.dumps(value), "a.json")
    assert ("list_item", "name: larch\nm: 40") in kinds(json.dumps(value), "a.json")
    assert ("heading", "birch") in kinds(json.dumps(value), "a.json")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_json_lines_are_items(name):
    """Also under the name of plain JSON; a broken line stays as it is."""
    assert kinds('{"a": 1}\n{"a": 2}\n{"a": 3}\n{broken\n', name) == [
        ("list_item", "a: 1"),
        ("list_item", "a: 2"),
        ("list_item", "a: 3"),
        ("list_item", "{broken"),
    ]
    assert read("words\nmore words\n", "a.jsonl").status is ParseStatus.CORRUPT


def test_notebooks_have_their_outputs_words():
    """Streams without terminal codes, results, tables of data frames, errors by name."""

    def code(source, *outputs):
        return {"cell_type": "code", "source": source, "outputs": list(outputs)}

    cells = [
        {"cell_type": "markdown", "source": ["# Larches\n", "text"]},
        code("print(1)", {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n"]}),
        code(
            "df",
            {
                "output_type": "execute_result",
                "data": {"text/html": ["<table><tr><th>a<tr><td>1</table>"], "text/plain": ["a\n1"]},
            },
        ),
        code("x", {"output_type": "error", "ename": "NameError", "evalue": "no x", "traceback": ["…"]}),
        {"cell_type": "raw", "source": "raw words"},
    ]
    notebook = {"nbformat": 4, "metadata": {"kernelspec": {"language": "R"}}, "cells": cells}
    parsed = read(json.dumps(notebook), "a.ipynb")
    assert parsed.title == "Larches"
    assert [(b.kind.value, b.text, b.language) for b in parsed.blocks] == [
        ("heading", "Larches", None),
        ("paragraph", "text", None),
        ("code", "print(1)", "r"),
        ("code", "red", None),
        ("code", "df", "r"),
        ("table", "a\n1", None),
        ("code", "x", "r"),
        ("code", "NameError: no x", None),
        ("paragraph", "raw words", None),
    ]


def test_xml_data_is_lines_and_xml_prose_is_paragraphs():
    """Records by the names of their elements; marked words inside a sentence do not part it."""
    xml = (
        "<book><title>Trees</title><chapter><title>Larch</title><para>A <em>golden</em> tree.</para>"
        '<facts id="1"><height>40</height><age>300</age></facts></chapter></book>'
    )
    parsed = read(xml, "a.xml")
    assert parsed.title == "Trees"
    assert [(b.kind.value, b.text, b.heading_path) for b in parsed.blocks] == [
        ("heading", "Trees", ()),
        ("heading", "Larch", ("Trees",)),
        ("paragraph", "A golden tree.", ("Trees", "Larch")),
        ("paragraph", "id: 1\nheight: 40\nage: 300", ("Trees", "Larch")),
    ]


def test_html_inside_a_feed_is_read_as_html():
    """Feeds carry their articles as escaped markup."""
    xml = "<rss><channel><title>Feed</title><item><title>Post</title><description>&lt;p&gt;Gold &lt;b&gt;larch&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>"
    assert ("paragraph", "Gold larch") in kinds(xml, "a.xml")


def test_xml_entities_are_not_read():
    """Neither outer files nor a billion laughs."""
    laughs = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><r><x>before</x><y>&b;</y></r>'
    assert "haha" not in str(kinds(laughs, "a.xml"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>One\n\n00:02.000 --> 00:03.000\n<v Ana>two.\n\n01:00:09.000 --> 01:00:10.000\nLater\n",
            "a.vtt",
        ),
        (
            "1\n00:00:01,000 --> 00:00:02,000\n<i>One</i>\n\n2\n00:00:02,000 --> 00:00:03,000\ntwo.\n\n3\n01:00:09,000 --> 01:00:10,000\n{\\an8}Later\n",
            "a.srt",
        ),
    ],
)
def test_captions_are_paragraphs_with_times(text, name):
    """What follows without a pause, from one speaker, is one paragraph."""
    said = [words.replace("Ana: ", "") for _, words in kinds(text, name)]
    assert said == ["[00:00:01] One two.", "[01:00:09] Later"]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,1;4,2\n", ";"),
        ("a\tb c, d\n1\t2, 3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("sep=;\na;b\n", ";"),
        ('"a;x",b\n"c",d\n', ","),
        ("one\ntwo\n", ","),
    ],
)
def test_the_delimiter_is_the_steady_one(text, delimiter):
    """A comma may belong to a number."""
    assert find_delimiter(text) == delimiter


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("name,m\nlarch,40\n", True),
        ("larch,40\nbirch,30\n", False),
        ("kind,2019,2020\nlarch,1,2\n", True),
        ("a,b\nc,d\n", True),
    ],
)
def test_a_first_row_of_figures_is_no_header(text, header):
    """Years apart: they head columns."""
    table = read(text, "a.csv").blocks[0].table
    assert {c.header for c in table.cells if c.row == 0} == {header}


@pytest.mark.parametrize(
    ("text", "words", "header"),
    [
        ("Sales\nMade 2026-03-01\n\nRegion,Q1,Q2\nNorth,1,2\nSouth,3,4\n", ["Sales", "Made 2026-03-01"], "Region"),
        ("Sales;;;\nBy:;Mara;;\nRegion;Q1;Q2;Q3\nNorth;1;2;3\n", ["Sales", "By:; Mara"], "Region"),
        ("# made by hand\n,Q1,Q2\nNorth,1,2\n", ["# made by hand"], ""),
        ("Region,Q1,Q2\nNorth,,\nSouth,3,4\n", [], "Region"),
        ("a,b,,\nc,,,\nd,e,f,\n", [], "a"),
        ("Name,Note\nOnly,\n", [], "Name"),
        (",2024,,2025,\nKind,plan,real,plan,real\nWages,1,2,3,4\n", [], ""),
        ("One\nTwo\n", [], "One"),
    ],
)
def test_lines_above_a_table_are_words(text, words, header):
    """A report's title and date are no row of it; a table that is full from its first row on keeps that."""
    *above, table = read(text, "a.csv").blocks
    assert [(b.kind, b.text) for b in above] == [(Kind.PARAGRAPH, said) for said in words]
    assert table.table.cells[0].text == header
    assert table.table.cells[0].header


def test_restructured_text_has_structure():
    """Sections by their rules, lists, literal blocks, directives, roles and links."""
    text = (
        "=====\nTrees\n=====\n\nSee :ref:`the larch <larch>` and `docs <http://x.y>`_, ``code``, *so*.\n\nLarch\n-----\n\n"
        "- one\n  goes on\n- two\n\nRun::\n\n    make all\n\n.. code-block:: python\n   :linenos:\n\n   x = 1\n\n"
        ".. note:: Mind it.\n\n.. image:: a.png\n   :alt: A larch\n\n.. a comment\n\n.. _target: http://x\n"
    )
    assert kinds(text, "a.rst") == [
        ("heading", "Trees"),
        ("paragraph", "See the larch and docs, code, so."),
        ("heading", "Larch"),
        ("list_item", "one\ngoes on"),
        ("list_item", "two"),
        ("paragraph", "Run:"),
        ("code", "make all"),
        ("code", "x = 1"),
        ("paragraph", "Mind it."),
        ("figure", "A larch"),
        ("page_furniture", "a comment"),
        ("page_furniture", "_target: http://x"),
    ]
    assert read(text, "a.rst").blocks[1].links == ("http://x.y",)
