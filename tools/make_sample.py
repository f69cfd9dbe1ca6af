"""Write the binary documents of the sample company (services/upwell/sample). The same bytes on every run.

    python tools/make_sample.py            write them
    python tools/make_sample.py --check    exit with status 1 if a committed file differs

Needs reportlab beside Upwell's own dependencies (the group `dev`). The texts are ours, under the project's licence.
"""

import io
import re
import sys
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

from docx import Document
from openpyxl import Workbook
from openpyxl.styles import Font
from pptx import Presentation
from sample_markup import pieces_of
from sample_pdf import kiln_guide, pay_review
from sample_texts import BUDGET, DELIVERIES, FORECAST, ONBOARDING, SAFETY, SALARY_BANDS, STATEMENT_OF_WORK

SAMPLE = Path(__file__).parent.parent / "services" / "upwell" / "sample"
EPOCH = (2026, 1, 5, 9, 0, 0)
STAMP = b"2026-01-05T09:00:00Z"


def word(text: str) -> bytes:
    """A DOCX, from the markup that sample_texts describes."""
    document = Document()
    for piece in pieces_of(text):
        if isinstance(piece, list):
            _word_table(document, piece)
        elif match := re.match(r"(#+) (.*)", piece):
            level = len(match[1])
            document.add_heading(match[2], level=0 if level == 1 else level - 1)
        elif piece.startswith("- "):
            document.add_paragraph(piece[2:], style="List Bullet")
        elif match := re.match(r"\d+\. (.*)", piece):
            document.add_paragraph(match[1], style="List Number")
        else:
            document.add_paragraph(piece)
    return _saved(document.save)


def _word_table(document: object, rows: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def slides(pages: list[tuple[str, list[str]]]) -> bytes:
    """A PPTX: a title slide, then a title with bullets for each page."""
    deck = Presentation()
    for number, (title, lines) in enumerate(pages):
        slide = deck.slides.add_slide(deck.slide_layouts[0 if number == 0 else 1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(lines)
    return _saved(deck.save)


def workbook(sheets: dict[str, list[list[object]]]) -> bytes:
    """An XLSX: one sheet a table, the first row in bold."""
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for column, _ in enumerate(rows[0]):
            letter = chr(ord("A") + column)
            sheet.column_dimensions[letter].width = 4 + max(len(str(row[column])) for row in rows)
    return _saved(book.save)


def mail() -> bytes:
    """An e-mail with a CSV attached."""
    message = EmailMessage()
    message["From"] = "Brightwater Hinges <orders@brightwater.example>"
    message["To"] = "sales desk <sales@harborandpine.example>"
    message["Subject"] = "Delay of the brass hinges for the Pier House"
    message["Date"] = "Mon, 13 Apr 2026 16:42:00 +0200"
    message["Message-ID"] = "<delay-4471@brightwater.example>"
    message.set_content(
        "Dear sales desk,\n\n"
        "the foundry has lost a furnace, and so the brass hinges of order 4471 leave us two weeks late: on 4 May\n"
        "instead of 20 April. The new dates of all open orders are in the table attached.\n\n"
        "We take three percent off the price of the late ones, and we are sorry.\n\n"
        "Brightwater Hinges\n"
    )
    message.add_attachment(DELIVERIES.encode(), maintype="text", subtype="csv", filename="delivery-dates.csv")
    message.set_boundary("=_harbor_and_pine")
    return message.as_bytes()


def _saved(save: Callable[[io.BytesIO], None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return _settled(buffer.getvalue())


def _settled(archive: bytes) -> bytes:
    """The same ZIP with fixed times, in the archive's entries and in the document's own properties."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", rb"\g<1>" + STAMP, data)
                data = data.replace(b"python-docx", b"Harbor &amp; Pine").replace(b"openpyxl", b"Harbor &amp; Pine")
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            new.writestr(entry, data)
    return out.getvalue()


def documents() -> dict[str, bytes]:
    """Every generated file of the sample, by its path below the folder."""
    return {
        "handbook/safety.docx": word(SAFETY),
        "handbook/onboarding.pptx": slides(ONBOARDING),
        "people/salary-bands.xlsx": workbook(SALARY_BANDS),
        "people/pay-review-2026.pdf": pay_review(),
        "finance/budget-2026.xlsx": workbook(BUDGET),
        "finance/forecast-q3.xlsx": workbook(FORECAST),
        "projects/pier-house/statement-of-work.docx": word(STATEMENT_OF_WORK),
        "workshop/kiln-guide.pdf": kiln_guide(),
        "mail/delayed-hinges.eml": mail(),
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = [path for path, data in documents().items() if not _holds(SAMPLE / path, data, check=check)]
    for path in stale:
        print(f"{path} differs; run python tools/make_sample.py", file=sys.stderr)
    return 1 if stale else 0


def _holds(path: Path, data: bytes, *, check: bool) -> bool:
    if not check:
        path.write_bytes(data)
    return path.is_file() and path.read_bytes() == data


if __name__ == "__main__":
    sys.exit(main())
