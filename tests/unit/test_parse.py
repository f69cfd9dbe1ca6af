"""Each parser on small documents: kinds, paths, tables, titles, and a status for whatever cannot be read."""

import io
import zipfile
from email.message import EmailMessage

import pytest

from upwell.parse import media
from upwell.parse.detect import detect
from upwell.parse.letters.encoding import decode
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.naming import part_name
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus


def read(text, name, limits=DEFAULT_LIMITS):
    return parse(text.encode() if isinstance(text, str) else text, name, None, limits)


def kinds(parsed):
    return [(block.kind.value, block.text) for block in parsed.blocks]


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        ("naïve".encode(), "utf-8", "naïve"),
        (b"\xef\xbb\xbfa\r\nb", "utf-8", "a\nb"),
        ("häuser".encode("utf-16"), "utf-16", "häuser"),
        ("häuser und bäume".encode("utf-16-le"), "utf-16-le", "häuser und bäume"),
        ("名前,値段\n東京,百円".encode("cp932"), "cp932", "名前,値段\n東京,百円"),
        ("“Grüße” – 5 €".encode("cp1252"), "cp1252", "“Grüße” – 5 €"),
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
    ],
)
def test_encoding_is_found_by_the_bytes(data, encoding, text):
    """BOMs, UTF-8, UTF-16 without a BOM, Shift_JIS and the Western ones."""
    assert decode(data) == (text, encoding)


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"%PDF-1.7\n", "a.txt", media.PDF),
        (b"<!doctype html><p>x", "a.txt", media.HTML),
        (b"plain words", "a.docx", media.PLAIN),
        (b"\x89PNG\r\n\x1a\n....", "a.pdf", "image/png"),
        (b"\x00\x01\x02\x03" * 50, "a.md", media.BINARY),
        (b"From: a@b.c\nSubject: s\n\nhello", "a", media.EML),
        (b'{"nbformat": 4, "cells": []}', "a.json", media.NOTEBOOK),
        (b'{"a": 1}', "a", media.JSON),
        (b"def f(): pass", "a.py", "text/x-python"),
        (b"# words", "README.md", media.MARKDOWN),
    ],
)
def test_content_wins_over_the_name(data, name, expected):
    """Magic bytes first; names only tell kinds of text apart."""
    assert detect(data, name) == expected


def test_markdown_has_structure():
    """Front matter, headings, nested lists, tables, code, quotes, images, links."""
    parsed = read(
        "---\ntitle: The Guide\nweight: 3\n---\n\n# One\n\nText with a [link](http://x) and `code`.\n\n- a\n  - b\n\n"
        "| h | i |\n|---|---|\n| 1 | 2 |\n\n```go\nx := 1\n```\n\n> said\n\n![alt words](p.png)\n\n{{< short code >}}\n",
        "a.md",
    )
    assert parsed.title == "The Guide"
    assert kinds(parsed) == [
        ("title", "The Guide"),
        ("page_furniture", "title: The Guide\nweight: 3"),
        ("heading", "One"),
        ("paragraph", "Text with a link and code."),
        ("list_item", "a"),
        ("list_item", "b"),
        ("table", "h | i\n1 | 2"),
        ("code", "x := 1"),
        ("quote", "said"),
        ("figure", "alt words"),
        ("paragraph", "{{< short code >}}"),
    ]
    assert [b.level for b in parsed.blocks if b.kind is Kind.LIST_ITEM] == [1, 2]
    assert parsed.blocks[3].links == ("http://x",)
    assert parsed.blocks[3].heading_path == ("One",)
    assert parsed.blocks[1].left_out == "front_matter"


def test_html_keeps_the_content_only():
    """Navigation and hidden nodes are furniture with their reasons; spans of tables are kept."""
    parsed = read(
        "<html lang=en><title>T</title><nav>menu</nav><h1>Head</h1><p>Body <b>bold</b> words.</p><p hidden>secret</p>"
        "<table><tr><th colspan=2>wide</th></tr><tr><td>1</td><td>2</td></tr></table><pre>a\n b</pre><ul><li>item</ul>"
        "<script>no()</script><footer>foot</footer>",
        "a.html",
    )
    assert [(b.text, b.left_out) for b in parsed.blocks if b.kind is Kind.PAGE_FURNITURE] == [
        ("menu", "navigation"),
        ("secret", "hidden"),
        ("foot", "boilerplate"),
    ]
    table = next(b.table for b in parsed.blocks if b.table)
    assert (table.rows, table.cols, table.cells[0].col_span) == (2, 2, 2)
    assert ("code", "a\n b") in kinds(parsed)
    assert ("list_item", "item") in kinds(parsed)
    assert "no()" not in str(kinds(parsed))


def test_python_is_parted_by_function_and_class():
    """Each function and class is a block under its path of names."""
    parsed = read(
        "import os\n\nclass A:\n    x = 1\n\n    def f(self):\n        return 1\n\n\ndef g():\n    return 2\n", "a.py"
    )
    assert [b.heading_path for b in parsed.blocks] == [(), ("A",), ("A", "f"), ("g",)]
    assert parsed.language == "python"


def test_mail_has_fields_body_and_children():
    """The subject is the title; an attachment is a child with its name."""
    mail = (
        'From: Ana <a@x.y>\nTo: b@x.y\nSubject: Lunch\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n'
        "--B\nContent-Type: text/plain\n\nAt noon?\n\n> earlier words\n\n"
        '--B\nContent-Type: text/plain\nContent-Disposition: attachment; filename="menu.txt"\n\nsoup\n--B--\n'
    )
    parsed = read(mail, "a.eml")
    assert parsed.title == "Lunch"
    assert ("paragraph", "At noon?") in kinds(parsed)
    assert ("quote", "> earlier words") in kinds(parsed)
    assert [(c.name, c.blocks[0].text) for c in parsed.children] == [("menu.txt", "soup")]


def test_a_forwarded_message_is_one_child_with_children_of_its_own():
    """Its words and its attachments are its own, not those of the mail that carries it."""
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "c@x.y", "Old words"
    inner.set_content("inner body")
    inner.add_attachment(b"deep", maintype="text", subtype="plain", filename="deep.txt")
    outer = EmailMessage()
    outer["From"], outer["Subject"] = "a@x.y", "Fwd"
    outer.set_content("outer body")
    outer.add_attachment(inner)
    parsed = read(outer.as_bytes(), "a.eml")
    assert ("paragraph", "inner body") not in kinds(parsed)
    (child,) = parsed.children
    assert (child.name, child.title, child.media_type) == ("message-1.eml", "Old words", media.EML)
    assert ("paragraph", "inner body") in kinds(child)
    assert [(c.name, c.blocks[0].text) for c in child.children] == [("deep.txt", "deep")]


def test_a_signature_is_no_document():
    """It has no words, and is refused by nobody."""
    signed = EmailMessage()
    signed["From"], signed["Subject"] = "a@x.y", "Signed"
    signed.set_content("body")
    signed.add_attachment(bytes(300), maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    (child,) = read(signed.as_bytes(), "a.eml").children
    assert (child.name, child.status, child.media_type) == (
        "smime.p7s",
        ParseStatus.EMPTY,
        "application/pkcs7-signature",
    )


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("cafe\u0301.md", "café.md"),
        ("a/b\\c\nd", "a_b_c_d"),
        ("..", "attachment-7"),
        ("", "attachment-7"),
        (None, "attachment-7"),
        ("bad\udcff.txt", "bad?.txt"),
        ("x" * 300 + ".docx", "x" * 195 + ".docx"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_parts_name_is_fit_for_a_doc_id(given, name):
    """Valid text on one line without separators, however its sender spelled it."""
    assert part_name(given, 7) == name


def test_data_formats_are_read():
    """CSV with its own delimiter, JSON by paths, XML without entities, notebooks by cell, captions by voice."""
    assert read("a;b\n1;2\n", "a.csv").blocks[0].text == "a | b\n1 | 2"
    assert ("paragraph", "name: x") in kinds(read('{"name": "x", "deep": {"k": [1, 2]}}', "a.json"))
    assert ("paragraph", "a: x") in kinds(read("<r><a>x</a></r>", "a.xml"))
    notebook = '{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ["# H"]}, {"cell_type": "code", "source": "x=1"}]}'
    assert kinds(read(notebook, "a.ipynb")) == [("heading", "H"), ("code", "x=1")]
    assert ("paragraph", "[00:00:01] Ana: hi there") in kinds(
        read("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>hi\nthere\n", "a.vtt")
    )


@pytest.mark.parametrize(
    ("data", "name", "status"),
    [
        (b"", "a.md", ParseStatus.EMPTY),
        (b"   \n\n ", "a.md", ParseStatus.EMPTY),
        (b"{not json", "a.json", ParseStatus.CORRUPT),
        (b"<a><b></a>", "a.xml", ParseStatus.CORRUPT),
        (b"PK\x03\x04broken", "a.docx", ParseStatus.CORRUPT),
        (b"\x00\x01\x02\x03" * 50, "a.bin", ParseStatus.UNSUPPORTED),
        (b"\x89PNG\r\n\x1a\n....", "a.png", ParseStatus.CORRUPT),
        (b"[" * 100_000, "a.json", ParseStatus.TOO_LARGE),
        (b"x" * 2000, "a.txt", ParseStatus.TOO_LARGE),
        (b"<!DOCTYPE r [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><r>&e;</r>", "a.xml", ParseStatus.EMPTY),
    ],
)
def test_what_cannot_be_read_has_a_status_and_a_reason(data, name, status):
    """Never an exception, never the word error: a status and one line."""
    parsed = parse(data, name, None, Limits(text_bytes=1000 if data.startswith(b"x") else 10**6))
    assert parsed.status is status
    assert parsed.reason
    assert "\n" not in parsed.reason


def test_an_encrypted_archive_is_encrypted():
    """A zip whose members are encrypted says so before anything is unpacked."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", "x")
        archive.writestr("[Content_Types].xml", "x")
    data = bytearray(buffer.getvalue())
    for mark, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(mark) + at] |= 1
    assert read(bytes(data), "a.docx").status is ParseStatus.ENCRYPTED


def test_html_that_is_nested_too_deep_is_refused_and_not_read_in_part():
    """libxml2 stops at 256 levels and keeps nothing of what is below: that must not look like an empty page."""
    deep = b"<html><body>" + b"<div>" * 5000 + b"larch" + b"</div>" * 5000 + b"<p>after</p></body></html>"
    parsed = parse(deep, "deep.html", None, Limits())
    assert (parsed.status, parsed.blocks) == (ParseStatus.TOO_LARGE, ())
    assert "nested" in parsed.reason
