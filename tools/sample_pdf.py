"""The sample company's PDFs: two columns, a ruled table, running feet; the same bytes on every run."""

import io

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from sample_markup import pieces_of
from sample_texts import KILN_GUIDE, PAY_REVIEW

MARGIN, GUTTER, TITLE_HEIGHT = 18 * mm, 8 * mm, 26 * mm
BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=11.5, leading=15, spaceAfter=7, alignment=4)
HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=13.5, leading=17, spaceBefore=9, spaceAfter=3)
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=20, leading=24)
CAPTION = ParagraphStyle("caption", fontName="Helvetica-Oblique", fontSize=8.5, leading=11, spaceAfter=3)


def two_columns(title: str, foot: str, text: str) -> bytes:
    """A PDF of two columns under a title, from the markup that sample_texts describes."""
    buffer = io.BytesIO()
    width, height = A4
    column = (width - 2 * MARGIN - GUTTER) / 2

    def frames(top: float) -> list[Frame]:
        return [
            Frame(x, MARGIN, column, height - 2 * MARGIN - top, leftPadding=0, rightPadding=0, topPadding=0)
            for x in (MARGIN, MARGIN + column + GUTTER)
        ]

    def furniture(canvas: Canvas, _: BaseDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(MARGIN, 10 * mm, foot)
        canvas.drawRightString(width - MARGIN, 10 * mm, f"Page {canvas.getPageNumber()}")

    banner = Frame(MARGIN, height - MARGIN - TITLE_HEIGHT, width - 2 * MARGIN, TITLE_HEIGHT, leftPadding=0)
    document = BaseDocTemplate(buffer, pagesize=A4, title=title, author="Harbor & Pine", invariant=1)
    document.addPageTemplates(
        [
            PageTemplate("first", [banner, *frames(TITLE_HEIGHT)], onPage=furniture),
            PageTemplate("later", frames(0), onPage=furniture),
        ]
    )
    story: list[Flowable] = [NextPageTemplate("later"), Paragraph(title, TITLE), FrameBreak()]
    for piece in pieces_of(text):
        story.extend(_flowables(piece, column))
    document.build(story)
    return buffer.getvalue()


def _flowables(piece: str | list[list[str]], column: float) -> list[Flowable]:
    if isinstance(piece, list):
        return [_table(piece, column), Spacer(1, 8)]
    if piece == "---":
        return [PageBreak()]
    if piece == ">":
        return [FrameBreak()]
    for mark, style in (("# ", HEADING), ("^ ", CAPTION)):
        if piece.startswith(mark):
            return [Paragraph(piece.removeprefix(mark), style)]
    return [Paragraph(piece, BODY)]


def _table(rows: list[list[str]], column: float) -> Table:
    table = Table(rows, colWidths=[column / len(rows[0])] * len(rows[0]), repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 8),
                ("FONT", (0, 1), (-1, -1), "Helvetica", 8),
                ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
                ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
            ]
        )
    )
    return table


def pay_review() -> bytes:
    """Two pages: how leads and human resources review pay."""
    return two_columns("Pay review 2026", "Harbor & Pine, for leads and human resources", PAY_REVIEW)


def kiln_guide() -> bytes:
    """Two pages: how wood is dried."""
    return two_columns("Kiln guide", "Harbor & Pine, workshop", KILN_GUIDE)
