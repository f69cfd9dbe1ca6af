"""How PDFs end that are damaged, locked, endless or empty, and what they carry inside."""

import zlib

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from pdfs import LOREM, Drawn, body
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
HELLO = b"BT /F 12 Tf 72 700 Td (hello world) Tj ET"


def built(*objects):
    """A PDF of these objects, numbered from 1, the first its catalog."""
    out, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    xref = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + xref + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))


def stream(content, entries=b""):
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def page(content, entries=b"/MediaBox [0 0 600 800]", more=(), resources=b"/Font << /F 4 0 R >>"):
    """One page; objects of `more` are numbered from 6."""
    entries += b" /Resources << %s >>" % resources
    return built(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R %s >>" % entries,
        FONT,
        stream(content),
        *more,
    )


def read(data, limits=DEFAULT_LIMITS):
    return parse(data, "a.pdf", None, limits)


def test_locked_and_open_encryption():
    """A user's password locks it; an owner's alone does not."""
    for user, expected in (("secret", ParseStatus.ENCRYPTED), ("", ParseStatus.OK)):
        pdf = Drawn()
        pdf.canvas._doc.encrypt = StandardEncryption(user, ownerPassword="other", strength=128)
        pdf.line("words", 60, 100)
        assert pdf.read().status is expected


@pytest.mark.parametrize("data", [b"%PDF-1.7\nnothing more", b"%PDF-1.7\n" + bytes(range(256)) * 9, page(HELLO)[:120]])
def test_what_is_no_pdf_is_corrupt(data):
    """The magic alone, noise behind it, an end before the first page."""
    assert read(data).status is ParseStatus.CORRUPT


def test_no_pages_and_no_text():
    """No pages is damage; a blank page is empty; one whose end is cut off is not taken for blank."""
    assert read(built(b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>")).status is (
        ParseStatus.CORRUPT
    )
    assert read(page(b"")).status is ParseStatus.EMPTY
    whole = page(b"")
    assert read(whole[: whole.index(b"xref")]).status is ParseStatus.CORRUPT


def test_a_lost_table_of_objects_is_found_again():
    """Readers rebuild it; so do we."""
    data = page(HELLO)
    at = data.index(b"startxref")
    assert body(read(data[:at] + b"startxref\n7\n%%EOF")) == "hello world"


def test_too_many_pages():
    """Said without reading them."""
    data = built(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count 10000 >>" % b" ".join(b"%d 0 R" % i for i in range(3, 10_003)),
        *[b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] >>"] * 10_000,
    )
    parsed = read(data)
    assert parsed.status is ParseStatus.TOO_LARGE
    assert "10000 pages" in parsed.reason


def test_loops_end():
    """A form that draws itself, a font whose letters are set in it, pages that are their own parents."""
    form = stream(
        b"/X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /X 6 0 R >> >>"
    )
    assert body(
        read(page(HELLO + b" /X Do", resources=b"/Font << /F 4 0 R >> /XObject << /X 6 0 R >>", more=[form]))
    ) == ("hello world")
    cycle = built(b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>")
    assert read(cycle).status in {ParseStatus.CORRUPT, ParseStatus.EMPTY}


def test_pages_of_no_sensible_size_are_read():
    """As if they were letter paper."""
    for box in (b"0 0 0 0", b"0 0 1e12 1e12", b"600 800 0 0"):
        assert "hello" in body(read(page(HELLO, b"/MediaBox [%s]" % box)))


def test_too_many_letters_on_a_page():
    """More than a page for people holds."""
    letters = b"BT /F 1 Tf %s ET" % b"".join(b"1 0 0 1 5 %d Tm (%s) Tj " % (i % 800, b"a" * 900) for i in range(120))
    assert read(page(letters)).status is ParseStatus.TOO_LARGE


def test_a_turned_page_has_boxes_of_the_page_as_it_shows():
    """/Rotate 90: the text runs down the paper, and upright on the page."""
    words = b"BT /F 12 Tf 0 1 -1 0 100 50 Tm (hello world) Tj ET"
    (block,) = read(page(words, b"/MediaBox [0 0 600 800] /Rotate 90")).blocks
    assert block.text == "hello world"
    x0, y0, x1, y1 = block.bbox
    assert 45 < x0 < 55
    assert x1 - x0 > y1 - y0
    assert 85 < y0 < y1 < 110


def test_the_shown_part_of_a_page_counts():
    """Boxes are measured from the corner of its crop box."""
    (block,) = read(page(HELLO, b"/MediaBox [0 0 600 800] /CropBox [50 100 550 750]")).blocks
    assert 20 < block.bbox[0] < 25
    assert 35 < block.bbox[1] < 50


def test_attached_files_are_children():
    """Of the document and of places on its pages."""
    pinned = [
        b"<< /Type /Annot /Subtype /FileAttachment /Rect [10 10 30 30] /FS 7 0 R >>",
        b"<< /Type /Filespec /F (notes.txt) /UF (notes.txt) /EF << /F 8 0 R >> >>",
        stream(zlib.compress(b"words of the note"), b"/Type /EmbeddedFile /Filter /FlateDecode"),
    ]
    parsed = read(page(HELLO, b"/MediaBox [0 0 600 800] /Annots [6 0 R]", more=pinned))
    assert [(c.name, body(c)) for c in parsed.children] == [("notes.txt", "words of the note")]


def test_values_in_forms_and_text_boxes_are_read():
    """What a page shows of its annotations is text of the page."""
    box = [
        b"<< /Type /Annot /Subtype /FreeText /Rect [72 600 300 640] /Contents (filled in) /F 4 /AP << /N 7 0 R >> >>",
        stream(
            b"BT /F 12 Tf 5 10 Td (filled in) Tj ET",
            b"/Type /XObject /Subtype /Form /BBox [0 0 228 40] /Resources << /Font << /F 4 0 R >> >>",
        ),
    ]
    parsed = read(page(HELLO, b"/MediaBox [0 0 600 800] /Annots [6 0 R]", more=box))
    assert "filled in" in body(parsed)


def test_pages_that_cannot_be_read_are_named():
    """The others are read."""
    data = built(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 6 0 R] /Count 2 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R /Resources << /Font << /F 4 0 R >> >> >>",
        FONT,
        stream(HELLO),
        b"42",
    )
    parsed = read(data)
    assert (parsed.status, parsed.pages) == (ParseStatus.OK, 2)
    assert "cannot be read: 2" in parsed.reason


def test_a_mixed_page_of_words_and_pictures_keeps_both():
    """A picture is a figure where it stands between paragraphs; paper under the whole page is none."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    pdf.canvas.setFillGray(0.5)
    pdf.line("Figure 1: A harbour", 60, 320, 9)
    pdf.prose("After it " + LOREM + ".", 60, 360, 470)
    assert y < 200
    assert [b.kind for b in pdf.read().blocks] == [Kind.PARAGRAPH, Kind.CAPTION, Kind.PARAGRAPH]
