"""Outlook messages: the mail that they are, with what they carry as children."""

import struct

import pytest

from compound_files import compound, msg
from upwell.parse import media
from upwell.parse.failures import Unparsable
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.mail.msg import code_page_name
from upwell.parse.route import parse
from upwell.parse.rtf.compressed import BEGINNING, decompressed
from upwell.records import ParseStatus

PADDING = " Enough words to be told from a stub, each of them plain."


def read(limits=DEFAULT_LIMITS, **fields):
    return parse(compound(msg(**fields)), "a.msg", None, limits)


def words(parsed):
    return "\n".join(block.text for block in parsed.blocks)


def test_fields_body_and_attachments():
    """Names outside ASCII, two kinds of recipients, the time sent, an attachment with its name."""
    parsed = read(
        subject="Größe",
        body="Hello there." + PADDING,
        sent=133_500_000_000_000_000,
        people=[("Böb", "bob@x.example", 1), ("Cy", "cy@x.example", 2)],
        attachments=[("наброски.txt", b"some notes")],
    )
    assert (parsed.status, parsed.media_type, parsed.title) == (ParseStatus.OK, media.MSG, "Größe")
    text = words(parsed)
    for part in ("Ana Núñez <ana@x.example>", "Böb <bob@x.example>", "Cy <cy@x.example>", "2024", "Hello there."):
        assert part in text
    assert [(c.name, words(c)) for c in parsed.children] == [("наброски.txt", "some notes")]


def test_html_wins_over_what_is_made_from_it():
    """Of an HTML body and a plain one the first is read, in its own code page."""
    parsed = read(html="<p>Café</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>".encode())
    assert "Café" in words(parsed)
    assert any(block.table for block in parsed.blocks)
    assert "made from it" not in words(read(html=b"<p>" + PADDING.encode() + b" rich</p>", body="made from it"))


def test_an_attached_message_is_a_child_with_children_of_its_own():
    """The storage of a message inside a message becomes a mail; past the depth of children it ends."""
    inner = lambda prefix: msg(  # noqa: E731
        subject="Inner", body="deep words" + PADDING, prefix=prefix, header=24, attachments=[("x.txt", b"leaf")]
    )
    parsed = read(subject="Outer", body="see below" + PADDING, attachments=[("Inner", inner)])
    (child,) = parsed.children
    assert (child.name, child.title) == ("Inner.eml", "Inner")
    assert words(child.children[0]) == "leaf"
    shallow = read(subject="Outer", body=PADDING, attachments=[("Inner", inner)], limits=Limits(child_depth=0))
    assert shallow.children[0].status is ParseStatus.TOO_LARGE


def test_a_body_of_compressed_rtf_is_read():
    """Stored and compressed; references into the ring of common words."""
    stored = rb"{\rtf1 Only rich words.\par}"
    data = struct.pack("<IIII", len(stored) + 12, len(stored), 0x414C454D, 0) + stored
    assert "Only rich words." in words(read(subject="s", rtf=data))
    at = BEGINNING.index(b"Times")
    packed = bytes([0b00000010]) + b"x" + struct.pack(">H", at << 4 | 3) + b"y"
    compressed = struct.pack("<IIII", 0, 7, 0x75465A4C, 0) + packed
    assert decompressed(compressed, DEFAULT_LIMITS) == b"xTimesy"


def test_a_body_that_claims_too_much_is_refused():
    """The size is the sender's word; it is believed only within the limit."""
    with pytest.raises(Unparsable):
        decompressed(struct.pack("<IIII", 0, 2**31, 0x75465A4C, 0), DEFAULT_LIMITS)


@pytest.mark.parametrize("cut", [600, 3000, 9000])
def test_a_cut_message_is_corrupt(cut):
    """Wherever the file ends, the status says so."""
    data = compound(msg(subject="s", body=PADDING * 40, attachments=[("a.bin", bytes(9000))]))
    assert parse(data[:cut], "a.msg", None, DEFAULT_LIMITS).status in {ParseStatus.CORRUPT, ParseStatus.UNSUPPORTED}


def test_code_pages_have_pythons_names():
    """Windows numbers that Python spells in another way."""
    assert [code_page_name(n) for n in (1252, 65001, 28605, 932)] == ["cp1252", "utf-8", "iso-8859-15", "cp932"]
