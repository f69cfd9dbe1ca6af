"""AsciiDoc's blocks: sections, lists, fences, captions; what is not shown is counted out with its reason."""

import pytest

from upwell.parse import media
from upwell.parse.asciidoc.document import parse_asciidoc
from upwell.parse.failures import Unparsable
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.route import parse
from upwell.records import Kind


def read(text):
    return parse_asciidoc(text, DEFAULT_LIMITS)


def kinds(text):
    return [(block.kind, block.text) for block in read(text).blocks]


def levels(text):
    return [(block.level, block.text) for block in read(text).blocks if block.kind is Kind.LIST_ITEM]


def left_out(text):
    return [(block.left_out, block.text) for block in read(text).blocks if block.kind is Kind.PAGE_FURNITURE]


@pytest.mark.parametrize("name", ["a.adoc", "a.asciidoc", "a.asc"])
def test_asciidoc_is_read_by_its_own_reader(name):
    """By each of its names."""
    parsed = parse(b"= T\n\nWords.\n", name, None, DEFAULT_LIMITS)
    assert (parsed.parser, parsed.media_type, parsed.title) == ("asciidoc/1", media.ASCIIDOC, "T")


def test_a_header_says_title_authors_and_revision():
    """They have names, too; comments and definitions between them are counted out."""
    text = (
        "// c\n= The *{what}*\nAda Love_Joy King <a@b.c>; Bo\n// d\nv1.2, 2024-01-02: Last\n:what: Pump\n"
        ":description: All about it.\n\n{author} {firstname} {lastname} {email} {author_2} {revnumber} {revdate} {revremark}"
    )
    parsed = read(text)
    assert parsed.title == "The Pump"
    assert [(b.kind, b.text) for b in parsed.blocks if b.kind is not Kind.PAGE_FURNITURE] == [
        (Kind.TITLE, "The Pump"),
        (Kind.PARAGRAPH, "Ada Love_Joy King <a@b.c>; Bo\nv1.2, 2024-01-02: Last"),
        (Kind.PARAGRAPH, "All about it."),
        (Kind.PARAGRAPH, "Ada Love Joy King Ada King a@b.c Bo 1.2 2024-01-02 Last"),
    ]
    assert [why for why, _ in left_out(text)] == ["comment", "comment", "substitution"]


def test_sections_nest_and_the_title_is_above_them():
    """By equals signs, by number signs, by lines below, with signs behind; not inside of blocks."""
    text = "= T\n\n== A\n\n=== B ===\n\n## C\n\nD D\n~~~\n\n====\n== E\n\n[discrete]\n== F\n====\n\n= G\n"
    found = [(b.level, b.text, b.heading_path) for b in read(text).blocks if b.kind is Kind.HEADING]
    assert found == [
        (2, "A", ()),
        (3, "B", ("A",)),
        (2, "C", ()),
        (3, "D D", ("C",)),
        (2, "F", ()),
        (1, "G", ()),
    ]
    assert (Kind.PARAGRAPH, "E") in kinds(text)


def test_a_document_without_a_header_has_its_first_section_as_title():
    """And levels may be moved by an attribute."""
    parsed = read("Words.\n\n:leveloffset: +1\n\n== A\n\n= B\n")
    assert parsed.title == "A"
    assert [b.level for b in parsed.blocks if b.kind is Kind.HEADING] == [3, 2]


def test_lines_are_one_paragraph_but_where_one_is_broken():
    """By a plus sign at its end, or all of them by an option."""
    assert kinds("a\nb +\nc\n\n[%hardbreaks]\nd\ne\n") == [(Kind.PARAGRAPH, "a b\nc"), (Kind.PARAGRAPH, "d\ne")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* a\n** b\n*** c\n* d\n", [(1, "a"), (2, "b"), (3, "c"), (1, "d")]),
        ("* a\n- b\n- c\n* d\n", [(1, "a"), (2, "b"), (2, "c"), (1, "d")]),
        (". a\n.. b\n* c\n. d\n", [(1, "a"), (2, "b"), (3, "c"), (1, "d")]),
        ("1. a\n2. b\na. c\nA. d\ni) e\n", [(1, "a"), (1, "b"), (2, "a. c"), (3, "A. d"), (4, "i) e")]),
        ("* a\n  * b\n    1. c\n  * d\n* e\n", [(1, "a"), (2, "b"), (3, "c"), (2, "d"), (1, "e")]),
        ("* a\n * b\n* c\n", [(1, "a"), (1, "b"), (1, "c")]),
        ("* a\n\n\n* b\n\n//-\n\n. c\n", [(1, "a"), (1, "b"), (1, "c")]),
        ("* a\n** b\n// c\n** d\n", [(1, "a"), (2, "b"), (2, "d")]),
        ("* a\n\n[]\n. b\n", [(1, "a"), (1, "b")]),
        ("* a\nPara\n\nEnd.\n\n. b\n", [(1, "a Para"), (1, "b")]),
        ("* [x] a\n* [ ] b\n", [(1, "[x] a"), (1, "[ ] b")]),
        (
            "A:: one\nB:::\n  two\n  three\nC::\nD::\n\nfour\n",
            [(1, "A: one"), (2, "B: two three"), (1, "C"), (1, "D: four")],
        ),
        ("A:: one\n* b\nC::\n", [(1, "A: one"), (2, "b"), (1, "C")]),
        ("* a\n\n.Title\n. b\n\n[x]\n* c\n", [(1, "a"), (1, "b"), (1, "c")]),
        ("Why?:: So.\n", [(1, "Why? So.")]),
        ("<1> one\n<.> two\n", [(1, "<1> one"), (1, "<.> two")]),
    ],
)
def test_lists_nest(text, expected):
    """By their signs, and by indentation where the sign is the same."""
    assert levels(text) == expected


def test_what_is_attached_to_an_item_does_not_end_its_list():
    """A paragraph, code, a block with a list in it."""
    text = "* a\n+\nmore\n+\n----\ncode\n----\n+\n--\n. b\n--\n** c\n\n literal\n\n* d\n\nEnd.\n\n** e\n"
    assert levels(text) == [(1, "a"), (2, "b"), (2, "c"), (1, "d"), (1, "e")]
    assert [text for kind, text in kinds(text) if kind is not Kind.LIST_ITEM] == ["more", "code", "literal", "End."]


@pytest.mark.parametrize(
    ("text", "kind", "said", "language"),
    [
        ("----\n*a*\n\n  b\n----\n", Kind.CODE, "*a*\n\n  b", None),
        ("....\n<a>\n....\n", Kind.CODE, "<a>", None),
        (" a\n   b\n", Kind.CODE, "a\n  b", None),
        ("```ruby\na\n```\n", Kind.CODE, "a", "ruby"),
        ("[source,Python]\n----\na <1>\n----\n", Kind.CODE, "a <1>", "python"),
        ("[,java]\n----\na\n----\n", Kind.CODE, "a", "java"),
        ("[source#x%linenums,go]\na = b\n// c\n", Kind.CODE, "a = b\n// c", "go"),
        ('[source,yaml,subs="attributes+"]\n----\nv: {plus}\n----\n', Kind.CODE, "v: +", "yaml"),
        ("[source]\n--\na\n--\n", Kind.CODE, "a", None),
        ("[literal]\na *b*\n", Kind.CODE, "a *b*", None),
        ("[mermaid]\n....\ngraph\n....\n", Kind.CODE, "graph", "mermaid"),
        ("[stem]\n++++\nx_1 < y\n++++\n", Kind.FORMULA, "x_1 < y", None),
        ("[latexmath]\n\\alpha\n", Kind.FORMULA, "\\alpha", None),
        ("++++\n<p>a <b>b</b></p>\n++++\n", Kind.PARAGRAPH, "a b", None),
        ("[quote]\n*a*\nb\n", Kind.QUOTE, "a b", None),
        ("> a\n> b\n", Kind.QUOTE, "a b", None),
        ("____\n*a*\n____\n", Kind.QUOTE, "a", None),
        ("[verse]\n____\na\n\n *b*\n____\n", Kind.QUOTE, "a\n\n b", None),
        ("NOTE: *a*\n", Kind.PARAGRAPH, "NOTE: a", None),
        ("[TIP]\na\n", Kind.PARAGRAPH, "TIP: a", None),
        ("[CAUTION]\n====\na\n====\n", Kind.PARAGRAPH, "CAUTION: a", None),
        ("****\na\n****\n", Kind.PARAGRAPH, "a", None),
        ("image::a b.png[The *pump*,300]\n", Kind.FIGURE, "The pump", None),
    ],
)
def test_blocks_are_what_their_fences_and_styles_say(text, kind, said, language):
    """And text goes on after them."""
    first, *_, last = read(f"{text}\nAfter.\n").blocks
    assert (first.kind, first.text, first.language) == (kind, said, language)
    assert last.text == "After."


def test_quotations_say_whose_they_are():
    """In attributes, or in their last line."""
    text = '[quote, Ada, Letters]\n____\na\n____\n\n[verse, Bo]\nb\nc\n\n"d\ne"\n-- Cy\n'
    assert kinds(text) == [
        (Kind.QUOTE, "a"),
        (Kind.QUOTE, "-- Ada, Letters"),
        (Kind.QUOTE, "b\nc"),
        (Kind.QUOTE, "-- Bo"),
        (Kind.QUOTE, '"d e"'),
        (Kind.QUOTE, "-- Cy"),
    ]


def test_titles_of_blocks_are_captions_before_them():
    """A picture's may stand in its attributes; where it is and leads are its links."""
    text = ':imagesdir: img\n\n.The *pump*\n[#p]\nimage::p.png[Pump,link=https://a.b,title="Again"]\n\n.Code\n----\nx\n----\n\n[title=Last]\ny'
    assert kinds(text)[1:] == [
        (Kind.CAPTION, "The pump"),
        (Kind.FIGURE, "Pump"),
        (Kind.CAPTION, "Again"),
        (Kind.CAPTION, "Code"),
        (Kind.CODE, "x"),
        (Kind.CAPTION, "Last"),
        (Kind.PARAGRAPH, "y"),
    ]
    assert read(text).blocks[2].links == ("img/p.png", "https://a.b")


def test_blocks_stand_within_blocks():
    """A fence ends all that it holds; what stays open ends with the document."""
    text = "====\n****\n* a\n\n____\nb\n====\n\nc\n\n====\n----\nd\n====\n\ne\n\n--\nf\n"
    assert kinds(text) == [
        (Kind.LIST_ITEM, "a"),
        (Kind.QUOTE, "b"),
        (Kind.PARAGRAPH, "c"),
        (Kind.CODE, "d"),
        (Kind.PARAGRAPH, "e"),
        (Kind.PARAGRAPH, "f"),
    ]


@pytest.mark.parametrize(
    ("text", "why", "said"),
    [
        ("// a\n// b\n", "comment", "a\nb"),
        ("////\na\n\nb\n////\n", "comment", "a\n\nb"),
        ("[comment]\na\nb\n", "comment", "a\nb"),
        ("[comment]\n--\na\n--\n", "comment", "a"),
        (":a: b\n:!c:\n", "substitution", ":a: b\n:!c:"),
        ("include::a.adoc[tags=b]\n", "markup", "include::a.adoc[tags=b]"),
        ("toc::[]\n", "markup", "toc::[]"),
        ("ifdef::a[]\nb\n\nc\nendif::[]\n", "conditional", "b\n\nc"),
        ("ifdef::a[b]\n", "conditional", "b"),
        ("---\na: b\n---\n", "front_matter", "a: b"),
        ("++++\n<!-- a -->\n++++\n", "html_comment", "a"),
        ("[some words of nobody]\n", "markup", "some words of nobody"),
    ],
)
def test_what_is_not_shown_is_counted_out(text, why, said):
    """With the reason, and what comes after is kept."""
    left, kept = read(f"{text}\nAfter.\n").blocks
    assert (left.kind, left.left_out, left.text.strip()) == (Kind.PAGE_FURNITURE, why, said)
    assert kept.text == "After."


def test_comments_within_paragraphs_and_tags_within_code_are_counted_out():
    """The words around them stay together."""
    text = "a\n// b\nc\n\n----\nx\n# tag::t[]\n// y\n# end::t[]\n----\n"
    assert [said for kind, said in kinds(text) if kind is not Kind.PAGE_FURNITURE] == ["a c", "x\n// y"]
    assert left_out(text) == [("comment", "b"), ("markup", "# tag::t[]\n# end::t[]")]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("ifdef::on[]", True),
        ("ifdef::off[]", False),
        ("ifdef::env-github[]", False),
        ("ifndef::off[]", True),
        ("ifdef::on,off[]", True),
        ("ifdef::on+off[]", False),
        ("ifndef::on,off[]", False),
        ("ifndef::on+off[]", True),
        ('ifeval::["{on}" == "yes"]', True),
        ('ifeval::["{on}" != "yes"]', False),
        ('ifeval::["{none}" == ""]', True),
        ("ifeval::[{n} >= 3]", True),
        ("ifeval::[{n} < 3]", False),
        ("ifeval::[{n} == abc]", False),
        ("ifeval::[{n} < abc]", False),
        ("ifeval::[\"{none}\" == '']", True),
        ("ifeval::[nonsense]", False),
    ],
)
def test_conditions_are_decided_by_the_document(condition, holds):
    """By what it defines before them, outside of code."""
    text = f":on: yes\n:n: 3\n\n----\n:off:\n----\n\n{condition}\nWords.\nendif::[]\n\nAfter.\n"
    assert ((Kind.PARAGRAPH, "Words.") in kinds(text)) is holds
    assert (("conditional", "Words.") in left_out(text)) is not holds
    assert kinds(text)[-1] == (Kind.PARAGRAPH, "After.")


def test_conditions_nest():
    """What is inside one that does not hold is not asked; an end that is another's ends nothing."""
    text = "ifdef::a[]\nifndef::b[]\nA.\nendif::b[]\nendif::c[]\nB.\nendif::a[]\nC.\n"
    assert kinds(text)[-1] == (Kind.PARAGRAPH, "C.")
    assert left_out(text) == [("conditional", "A.\nB.")]


def test_an_escaped_directive_is_text():
    """Without its backslash, in code too."""
    assert kinds("----\n\\include::a.adoc[]\n----\n\n\\ifdef::a[x]\n")[0] == (Kind.CODE, "include::a.adoc[]")


def test_breaks_are_nothing():
    """Of the page and of the theme."""
    assert kinds("a\n\n'''\n\n<<<\n\n***\n\n---\n\nb\n") == [(Kind.PARAGRAPH, "a"), (Kind.PARAGRAPH, "b")]


@pytest.mark.parametrize(
    "text", ["\n".join("=" * n for n in range(4, 20)), "\n".join(f"{'*' * n} a" for n in range(1, 20))]
)
def test_what_is_nested_beyond_the_limit_is_too_large(text):
    """Blocks and lists."""
    assert parse_asciidoc(f"a\n\n{text}", DEFAULT_LIMITS).blocks
    with pytest.raises(Unparsable, match="nested too deeply"):
        parse_asciidoc(f"a\n\n{text}", Limits(nesting=10))


def test_names_may_not_stand_for_more_than_a_document_holds():
    """Each of them twice the one before."""
    text = "".join(f":a{n + 1}: {{a{n}}}{{a{n}}}\n" for n in range(60))
    with pytest.raises(Unparsable, match="more text than"):
        read(f":a0: pump\n{text}\n{{a60}}\n")
    with pytest.raises(Unparsable, match="more text than"):
        read(f"[[t]]\n== {'a' * 10_000}\n\n{'<<t>> ' * 1000}\n")
