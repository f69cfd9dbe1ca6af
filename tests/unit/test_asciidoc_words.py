"""AsciiDoc inside its words: names, links, notes, marks; what is escaped or passed stays as it is written."""

import pytest

from upwell.parse.asciidoc.document import parse_asciidoc
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.records import Kind


def blocks(text):
    return parse_asciidoc(text, DEFAULT_LIMITS).blocks


def said(text):
    return blocks(text)[0].text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *bold* b", "a bold b"),
        ("*bold*", "bold"),
        ("b**ol**d", "bold"),
        ("_it_ and `mono` and #high#", "it and mono and high"),
        ("_*both*_", "both"),
        ("[.red]#role# and [.x]*y*", "role and y"),
        ("H~2~O, x^2^", "H2O, x2"),
        ("\"`double`\" and '`single`'", "\u201cdouble\u201d and \u2018single\u2019"),
        ("snake_case_name and 2*3*4 and a # b # c", "snake_case_name and 2*3*4 and a # b # c"),
        ("* is a star*", "is a star*"),
        (r"\*not* and \_this_", "*not* and _this_"),
        ("*never closed", "*never closed"),
        ("`+*literal*+` and +{nbsp}+ and ++a__b__c++", "*literal* and {nbsp} and a__b__c"),
        ("C++ and C++ again", "C++ and C++ again"),
        ("pass:[*raw*] and pass:q[<u>x</u>] and +++<b>y</b>+++", "*raw* and x and y"),
        ("stem:[x_1 * y_1] latexmath:[\\alpha]", "x_1 * y_1 \\alpha"),
        ("&#167; &sect; &amp; \\&amp;", "\u00a7 \u00a7 & &amp;"),
        ("kbd:[Ctrl+C] btn:[OK] menu:File[Save > As]", "Ctrl+C OK File > Save > As"),
        ("an icon:tags[] icon", "an  icon"),
        ("an [[here]]anchor and anchor:there[] another", "an anchor and  another"),
        (r"\[[here]] and \((x))", "[[here]] and ((x))"),
        ("a ((term)) and indexterm2:[shown]", "a term and shown"),
        ("a << b >> c", "a << b >> c"),
        (r"*a\* b*", r"a\* b"),
        (r"\+a+ and \pass:[b]", "+a+ and pass:[b]"),
        ("std::vector[0] stays", "std::vector[0] stays"),
    ],
)
def test_marks_and_macros_leave_their_words(text, expected):
    """Pairs of marks go, what has no partner stays."""
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "links"),
    [
        ("see https://a.b/c_d_e.", "see https://a.b/c_d_e.", ("https://a.b/c_d_e",)),
        ("(https://a.b/c) <https://d.e>", "(https://a.b/c) https://d.e", ("https://a.b/c", "https://d.e")),
        ("https://a.b[the *site*^]", "the site", ("https://a.b",)),
        ('https://a.b["x, y",window=_blank]', "x, y", ("https://a.b",)),
        ("https://a.b[]", "https://a.b", ("https://a.b",)),
        ("link:c/d.pdf[the file] link:e.txt[]", "the file e.txt", ("c/d.pdf", "e.txt")),
        ("link:++a b.txt++[x]", "x", ("a b.txt",)),
        ("mailto:a@b.c[Ada] and mailto:d@e.f[]", "Ada and d@e.f", ("mailto:a@b.c", "mailto:d@e.f")),
        ("xref:other.adoc#place[there] xref:more#x[m]", "there m", ("other.adoc#place", "more.adoc#x")),
        ("<<other.adoc#,all>>", "all", ("other.adoc",)),
        ("<<id,words>> <<none>>", "words [none]", ("#id", "#none")),
        ("an image:a/b.png[pump, 10] here", "an pump here", ("a/b.png",)),
        (r"\https://a.b and \link:c[d]", "https://a.b and link:c[d]", ()),
        ("https://a.b[open", "https://a.b[open", ()),
    ],
)
def test_links_are_collected_and_their_words_shown(text, expected, links):
    """With brackets or without; an escaped one is no link."""
    block = blocks(text)[0]
    assert (block.text, block.links) == (expected, links)


def test_a_reference_says_the_title_of_its_place():
    """By an id before a heading, by the heading's own id, by its words, by a label of the id's own."""
    text = "[[a]]\n== The *first*\n\n[#b]\n.Listing\n----\nx\n----\n\n[[c,See]]\n\n<<a>>, <<_the_first>>, <<b>>, <<c>>, xref:a[], <<_listing>>\n"
    assert blocks(text)[-1].text == "The first, The first, Listing, See, The first, [_listing]"


def test_notes_stand_behind_the_words_that_have_them():
    """Numbered over the document; one with a name may be meant again."""
    text = "Onefootnote:[With https://a.b[a link] in *it*.] and twofootnote:n[Two.].\n\nAgainfootnote:n[] footnoteref:[m,Three].\n"
    assert [(b.kind, b.text) for b in blocks(text)] == [
        (Kind.PARAGRAPH, "One[1] and two[2]."),
        (Kind.FOOTNOTE, "[1] With a link in it."),
        (Kind.FOOTNOTE, "[2] Two."),
        (Kind.PARAGRAPH, "Again[2] [3]."),
        (Kind.FOOTNOTE, "[3] Three"),
    ]


def test_hidden_index_terms_are_counted_out():
    """In both forms."""
    shown, hidden = blocks("Text(((pump,valve))) indexterm:[knife, fork].")
    assert shown.text == "Text ."
    assert (hidden.kind, hidden.left_out, hidden.text) == (Kind.PAGE_FURNITURE, "hidden", "knife, fork\npump,valve")


def test_names_stand_for_what_the_document_defines():
    """From where it does so, until it takes it back; what nobody defines stays, and so does what is escaped."""
    text = (
        "{late}\n\n:late: now\n:url: https://a.b\n:long: one \\\n  two\n:two: {late}{sp}{late}\n:raw: pass:q[*x*]\n\n"
        "{late} {LATE} {url}[site] {long} {two} {raw} {none} \\{late}\n\n:!late:\n\n{late}\n"
    )
    found = [b for b in blocks(text) if b.kind is Kind.PARAGRAPH]
    assert [b.text for b in found] == ["{late}", "now now site one two now now x {none} {late}", "{late}"]
    assert found[1].links == ("https://a.b",)
    assert [b.left_out for b in blocks(text) if b.kind is Kind.PAGE_FURNITURE] == ["substitution"] * 2


def test_characters_that_mean_something_can_be_named():
    """They are no marks where they are put in."""
    text = "{asterisk}a{asterisk} {startsb}{endsb} {lt}b{gt} {amp} C{plus}{plus} a{nbsp}b{zwsp} {two-colons} {vbar} {empty}."
    assert said(text) == "*a* [] <b> & C++ a\u00a0b\u200b :: | ."


def test_counters_count():
    """Each use one more; the silent one shows nothing."""
    assert said("{counter:x} {counter:x} {counter2:x}{x} {counter:y:7}") == "1 2 3 7"


def test_no_name_comes_from_outside(monkeypatch):
    """Neither the environment nor a folder's attributes are asked."""
    monkeypatch.setenv("PUMP", "secret")
    assert said("{PUMP} {env-PUMP} {docfile} {user-home}") == "{PUMP} {env-PUMP} {docfile} {user-home}"
