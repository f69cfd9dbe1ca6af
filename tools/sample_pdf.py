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

MARGIN, GUTTER, TITLE_HEIGHT = 18 * mm, 8 * mm, 26 * mm
BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=11.5, leading=15, spaceAfter=7, alignment=4)
HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=13.5, leading=17, spaceBefore=9, spaceAfter=3)
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=20, leading=24)
CAPTION = ParagraphStyle("caption", fontName="Helvetica-Oblique", fontSize=8.5, leading=11, spaceAfter=3)


def two_columns(title: str, foot: str, pieces: list[str | list[list[str]]]) -> bytes:
    """A PDF: `# ` starts a heading, `^ ` a caption, `>` the next column, `|` the next page, lists of rows are ruled tables."""
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
    for piece in pieces:
        story.extend(_flowables(piece, column))
    document.build(story)
    return buffer.getvalue()


def _flowables(piece: str | list[list[str]], column: float) -> list[Flowable]:
    if isinstance(piece, list):
        return [_table(piece, column), Spacer(1, 8)]
    if piece == "|":
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


PAY_REVIEW: list[str | list[list[str]]] = [
    "# What the review is for",
    "Once a year every lead looks at each person in the team: what has grown, what is missing, and whether the level in the "
    "contract is still right. The review is a judgement about work, never about character, and it is written so that the "
    "person could read it aloud.",
    "The review is not a bargain. Nobody has to ask for it and nobody gains by asking twice. Who was on parental leave or "
    "sick for long is reviewed on the months that were worked, with no discount for the others.",
    "# Who does what",
    "Leads write one page a person by the second Friday in February. Human resources compares the pages of all teams in one "
    "sitting, so that a strict lead and a mild one end at the same measure. The directors decide in the last week of "
    "February, and leads tell their people before the salary of March arrives.",
    "A lead who reviews a relative hands the page to the lead of another team.",
    ">",
    "# What counts",
    "Four things count, and each alike: the quality of what leaves the bench, reliability in what was promised, help given "
    "to others, and care for tools and wood. Hours at the bench do not count. Speed counts only where it made somebody else "
    "wait.",
    "Write down one example for each of the four. A sentence without an example is struck out when the pages are compared.",
    "# When a level is wrong",
    "A new level is proposed when somebody has done the work of the next one for six months. It needs two examples of work "
    "that the present level does not ask for. The level changes on the first of March, and the salary starts at the minimum "
    "of the new band or rises by five percent, whichever is more.",
    "Nobody falls a level by a review. If the work has become too heavy, talk about another role first.",
    "# How to say no",
    "Say it in the first minute, say why, and say what would change it. Offer the training that leads there. Do not point "
    "at the budget when the reason is the work, nor at the work when the reason is the budget. Write down what was agreed "
    "and send it the same day.",
    "|",
    "# How much a raise is",
    "The raise depends on where the salary stands in its band and on the result of the review. Who is low in the band rises "
    "faster than who is near its maximum. The percentages for 2026 are in the table; together they cost about 46,000 euros.",
    "^ Table 1. Raise in 2026 by result and place in the band",
    [
        ["Result", "Lower third", "Middle third", "Upper third"],
        ["Outstanding", "7.0 %", "5.5 %", "4.0 %"],
        ["Strong", "5.0 %", "4.0 %", "3.0 %"],
        ["Solid", "3.5 %", "2.5 %", "2.0 %"],
        ["Growing", "2.0 %", "1.5 %", "1.0 %"],
    ],
    "A raise that would pass the maximum of the band ends at the maximum. The rest is paid once, with the salary of March.",
    ">",
    "# Keeping it to ourselves",
    "The pages, the results and the bands of others stay with leads and human resources. They are never sent by mail and "
    "never printed in the drawing office. What a person may always see is the own page, the own band and the own place in "
    "it.",
]

KILN_GUIDE: list[str | list[list[str]]] = [
    "# Why we dry slowly",
    "Wood that is dried too fast cracks from the ends and hardens at the surface, and the stress shows only when the board "
    "is cut. A board for a cabin must reach the moisture of a heated room, eight to ten percent; a board that stays outside "
    "on deck stops at fourteen.",
    "The kiln holds nine cubic metres. It is run by two people: one loads and checks, the other signs. The telephone of the "
    "kiln goes home with the one who is on call.",
    "# Loading",
    "Stack boards of one species and one thickness only. Stickers of dry pine, 22 millimetres thick, lie every 40 "
    "centimetres, one exactly above the other. Paint the ends with wax on the day the log is sawn, not on the day it is "
    "loaded. Put weights on the top: two concrete slabs a metre.",
    "Four sample boards go into the pockets of the stack, two near the fan and two far from it. Weigh them before you close "
    "the door and write the weights on the card.",
    ">",
    "# Heating up",
    "Warm the load with the vents closed for six hours, until the core has the temperature of the air. Only then open the "
    "vents by a third. Never pass 45 degrees in the first two days: above it the resin of larch and pine begins to run and "
    "the boards glue themselves to the stickers.",
    "# Watching",
    "Weigh the sample boards each morning and each evening. If the load loses more than the table allows, close the vents by "
    "half and wait a shift. If a sample board cracks, steam the load for two hours at 60 degrees and slow down.",
    "|",
    "# Drying times",
    "The times hold for boards that come in at fifty percent and leave at nine. Boards that have stood in the yard for a "
    "summer take about half as long.",
    "^ Table 1. Drying times and limits",
    [
        ["Species", "Thickness", "Days", "Hottest", "Daily loss"],
        ["Larch", "27 mm", "11", "60 C", "3.5 %"],
        ["Larch", "40 mm", "19", "58 C", "2.4 %"],
        ["Pine", "27 mm", "7", "65 C", "5.0 %"],
        ["Oak", "27 mm", "32", "48 C", "1.6 %"],
        ["Oak", "52 mm", "70", "45 C", "0.8 %"],
        ["Ash", "27 mm", "18", "55 C", "2.8 %"],
    ],
    ">",
    "# Cooling down",
    "Switch off the heat and leave the fans on until the load is within ten degrees of the hall. Oak takes a day, pine a "
    "night. Open the door only then: cold air on warm oak undoes three weeks in an hour.",
    "# When the alarm sounds",
    "The alarm means that the fan stands still or that the air is hotter than 70 degrees. Switch off the heat at the panel "
    "first, then call the one on call. Do not open the door: fresh air feeds a fire. If you smell smoke, press the red "
    "button and leave the hall.",
]
