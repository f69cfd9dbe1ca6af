"""Old binary workbooks: the same sheets as of the newer format; other old office files say what to do."""

import datetime as dt
import io

import pytest
import xlwt

from compound_files import compound
from upwell.parse import media
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import ParseStatus


def saved(book):
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_workbook_is_read_as_it_is_shown():
    """Formats, merged cells, hidden rows and sheets."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Ducks")
    sheet.write_merge(0, 0, 0, 1, "Count")
    for col, word in enumerate(("Year", "Share")):
        sheet.write(1, col, word)
    sheet.write(2, 0, dt.date(2024, 3, 5), xlwt.easyxf(num_format_str="yyyy-mm-dd"))
    sheet.write(2, 1, 0.256, xlwt.easyxf(num_format_str="0.0%"))
    sheet.write(4, 0, "secret")
    sheet.row(4).hidden = True
    book.add_sheet("Off").write(0, 0, "unseen")
    book.get_sheet(1).visibility = 1
    parsed = parse(saved(book), "a.xls", None, DEFAULT_LIMITS)
    assert (parsed.media_type, parsed.pages) == (media.XLS, 2)
    assert [(b.left_out or b.kind.value, b.text) for b in parsed.blocks] == [
        ("heading", "Ducks"),
        ("table", "Count\nYear | Share\n2024-03-05 | 25.6%"),
        ("hidden", "secret"),
        ("hidden", "Off"),
        ("hidden", "unseen"),
    ]
    assert parsed.blocks[1].table.cells[0].col_span == 2


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (compound({"Workbook": b"nothing"}), ParseStatus.CORRUPT),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), ParseStatus.CORRUPT),
        (compound({"WordDocument": b"x"}), ParseStatus.UNSUPPORTED),
        (compound({"PowerPoint Document": b"x"}), ParseStatus.UNSUPPORTED),
    ],
)
def test_what_cannot_be_read_says_why(data, status):
    """Broken workbooks, and formats that nobody here reads."""
    parsed = parse(data, "a", None, DEFAULT_LIMITS)
    assert parsed.status is status
    assert parsed.reason
