"""More kinds of tables, as reports and statistics have them: for the same tests as those of `table_pages`."""

import random
from collections.abc import Callable
from typing import Any

from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, Paragraph, Table

from table_pages import (
    BOOKTABS,
    CELL,
    NAMES,
    Made,
    booktabs,
    cells,
    clean,
    figures,
    number,
    right,
    sentence,
)


def header_of_two_lines(rng: random.Random) -> Made:
    """Header cells that break, the others at the bottom beside them; no rules."""
    rows = figures(rng, rng.randint(5, 9), 4)
    rows[0] = ["Country", "Share of\nthe total", "Growth", "Cost of\neach unit"]
    style = [right(), ("VALIGN", (0, 0), (-1, 0), "BOTTOM"), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
    return [Table(rows, colWidths=[100, 70, 70, 70], style=style)], [clean(rows)]


def spans_without_rules(rng: random.Random) -> Made:
    """Headings over two columns each, said by their place alone."""
    body = figures(rng, rng.randint(4, 8), 5)[1:]
    rows = [["", "Men", "", "Women", ""], ["Country", "Number", "Share", "Number", "Share"], *body]
    style = [
        ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black), ("LINEBELOW", (0, 1), (-1, 1), 0.5, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black), ("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)),
        ("ALIGN", (1, 0), (-1, -1), "CENTER"),
    ]  # fmt: skip
    return [Table(rows, colWidths=[90, 60, 60, 60, 60], style=style)], [cells(rows) | {(0, 2): "Men", (0, 4): "Women"}]


def spaced_groups(rng: random.Random) -> Made:
    """Rows close together, with a gap after every third."""
    rows = figures(rng, 9, 4)
    style = [*BOOKTABS, right(), ("TOPPADDING", (0, 0), (-1, -1), 1), ("BOTTOMPADDING", (0, 0), (-1, -1), 1)]
    style += [("BOTTOMPADDING", (0, i), (-1, i), 8) for i in (3, 6)]
    return [Table(rows, style=style)], [cells(rows)]


def indented(rng: random.Random) -> Made:
    """Headings of groups in the first column alone, their members indented below."""
    rows = [["Item", "2019", "2020", "2021"]]
    style: list[Any] = [*BOOKTABS, right()]
    for group in ("Revenue", "Expenses", "Assets"):
        rows.append([group, "", "", ""])
        for _ in range(3):
            style.append(("LEFTPADDING", (0, len(rows)), (0, len(rows)), 18))
            rows.append([sentence(rng, 2), number(rng), number(rng), number(rng)])
    return [Table(rows, colWidths=[160, 60, 60, 60], style=style)], [cells(rows)]


def indented_borderless(rng: random.Random) -> Made:
    flow, truth = indented(rng)
    rows = [[truth[0][r, c] for c in range(4)] for r in range(13)]
    style = [right(), *(("LEFTPADDING", (0, r), (0, r), 18) for r in range(1, 13) if rows[r][1])]
    return [Table(rows, colWidths=[160, 60, 60, 60], style=style)], truth if flow else []


def notes_below(rng: random.Random) -> Made:
    flow, truth = booktabs(rng)
    note = ParagraphStyle("note", fontName="Helvetica", fontSize=7, leading=9)
    return [*flow, Paragraph("Source: " + sentence(rng, 8) + ".", note)], truth


def side_by_side(rng: random.Random) -> Made:
    """Two grids beside each other."""
    both = [figures(rng, 5, 2) for _ in range(2)]
    grids = [Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black), right()]) for rows in both]
    return [Table([grids], colWidths=[200, 200])], [cells(rows) for rows in both]


def thin_boxes(rng: random.Random) -> Made:
    """Rules that are filled boxes, each piece of a cell's edge one."""
    rows = figures(rng, rng.randint(4, 8), 4)
    return [_Boxes(rows)], [cells(rows)]


class _Boxes(Flowable):  # type: ignore[misc]
    def __init__(self, rows: list[list[str]]) -> None:
        super().__init__()
        self.rows, self.width, self.height = rows, 320, 16 * len(rows)

    def wrap(self, *_: float) -> tuple[float, float]:
        return self.width, self.height

    def draw(self) -> None:
        self.canv.setFont("Times-Roman", 9)
        for r, row in enumerate(self.rows):
            y = self.height - 16 * (r + 1)
            for c, text in enumerate(row):
                x = 80 * c
                self.canv.drawString(x + 4, y + 5, text)
                for box in ((x, y, 80, 0.6), (x, y + 16, 80, 0.6), (x, y, 0.6, 16), (x + 80, y, 0.6, 16)):
                    self.canv.rect(*box, stroke=0, fill=1)


def wide(rng: random.Random) -> Made:
    rows = figures(rng, 8, 8)
    style = [right(), ("FONTSIZE", (0, 0), (-1, -1), 7), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)]
    return [Table(rows, colWidths=52, style=style)], [cells(rows)]


def words_in_two_columns(rng: random.Random) -> Made:
    rows = [["Term", "Meaning"]] + [[rng.choice(NAMES), sentence(rng, rng.randint(2, 4))] for _ in range(7)]
    style = [("LINEBELOW", (0, 0), (-1, 0), 1, colors.black), ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
             ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black)]  # fmt: skip
    return [Table(rows, colWidths=[110, 200], style=style)], [cells(rows)]


def currency(rng: random.Random) -> Made:
    """Signs of the currency at the left of each column's first row, sums in brackets."""
    rows = [["Account", "2021", "2020"]]
    rows += [[sentence(rng, 2), f"$ {rng.randint(100, 9999):,}", f"$ {rng.randint(100, 9999):,}"]]
    rows += [[sentence(rng, 2), f"{rng.randint(100, 9999):,}", f"({rng.randint(100, 9999):,})"] for _ in range(6)]
    return [Table(rows, colWidths=[150, 70, 70], style=[right()])], [cells(rows)]


def grid_with_title(rng: random.Random) -> Made:
    """A first row over all columns, then two header rows of which the first spans."""
    body = figures(rng, 6, 5)[1:]
    rows = [
        ["Costs by country and year", "", "", "", ""],
        ["Country", "2020", "", "2021", ""],
        ["", "N", "%", "N", "%"],
        *body,
    ]
    style = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("SPAN", (0, 0), (-1, 0)), ("SPAN", (0, 1), (0, 2)),
             ("SPAN", (1, 1), (2, 1)), ("SPAN", (3, 1), (4, 1)), ("ALIGN", (0, 0), (-1, -1), "CENTER")]  # fmt: skip
    truth = cells(rows) | {(0, c): rows[0][0] for c in range(5)} | {(2, 0): "Country", (1, 2): "2020", (1, 4): "2021"}
    return [Table(rows, style=style)], [truth]


def ratings(rng: random.Random) -> Made:
    """Many columns of single marks."""
    rows = [["Feature", "A", "B", "C", "D"]]
    rows += [[sentence(rng, 3), *(rng.choice(["yes", "no", "\u2013"]) for _ in range(4))] for _ in range(8)]
    style = [("LINEBELOW", (0, 0), (-1, -1), 0.3, colors.grey), ("ALIGN", (1, 0), (-1, -1), "CENTER")]
    return [Table(rows, colWidths=[150, 40, 40, 40, 40], style=style)], [cells(rows)]


def leaders(rng: random.Random) -> Made:
    rows = [["State", "Persons", "Share", "Rank"]]
    rows += [
        [f"{name} {'.' * rng.randint(12, 30)}", number(rng), number(rng), str(i + 1)]
        for i, name in enumerate(rng.sample(NAMES, 10))
    ]
    return [Table(rows, style=[*BOOKTABS, right()])], [cells(rows)]


def wrapped_labels(rng: random.Random, valign: str = "BOTTOM", style: tuple[Any, ...] = tuple(BOOKTABS)) -> Made:
    """Labels that hang over two lines, figures beside their last or first."""
    data: list[list[Any]] = [["Category", "2001", "2002", "2003"]]
    truth = [list(data[0])]
    hanging = ParagraphStyle("hanging", parent=CELL, leftIndent=10, firstLineIndent=-10)
    for _ in range(8):
        label, values = sentence(rng, rng.randint(2, 9)), [number(rng) for _ in range(3)]
        truth.append([label, *values])
        data.append([Paragraph(label, hanging), *values])
    close = [("TOPPADDING", (0, 0), (-1, -1), 2), ("BOTTOMPADDING", (0, 0), (-1, -1), 2)]
    whole = [*style, *close, right(), ("VALIGN", (0, 0), (-1, -1), valign)]
    return [Table(data, colWidths=[120, 60, 60, 60], style=whole)], [cells(truth)]


def wrapped_labels_at_the_top(rng: random.Random) -> Made:
    return wrapped_labels(rng, "TOP")


def wrapped_labels_without_rules(rng: random.Random) -> Made:
    return wrapped_labels(rng, style=())


def shaded_columns(rng: random.Random) -> Made:
    rows = figures(rng, 8, 5)
    style = [("BACKGROUND", (k, 0), (k, -1), colors.lightgrey) for k in (1, 3)]
    return [Table(rows, style=[*style, right(), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)])], [cells(rows)]


def white_grid(rng: random.Random) -> Made:
    rows = figures(rng, 8, 4)
    style = [
        ("BACKGROUND", (0, 0), (-1, -1), colors.HexColor("#dde8f0")),
        ("GRID", (0, 0), (-1, -1), 1.5, colors.white),
    ]
    return [Table(rows, style=[*style, right()])], [cells(rows)]


def words_without_rules(rng: random.Random) -> Made:
    """Three columns of words that wrap."""
    truth = [["Programme", "Objective", "Responsible body"]]
    truth += [[sentence(rng, rng.randint(1, 3)), sentence(rng, rng.randint(4, 12)), sentence(rng, rng.randint(2, 6))]
              for _ in range(6)]  # fmt: skip
    data = [truth[0], *([Paragraph(text, CELL) for text in row] for row in truth[1:])]
    style = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
    return [Table(data, colWidths=[90, 160, 120], style=style)], [cells(truth)]


def words_under_rules(rng: random.Random) -> Made:
    """A rule above each row, none below the last; cells of a row stand at half its height."""
    _, truth = words_without_rules(rng)
    data: list[list[Any]] = [[truth[0][r, c] for c in range(3)] for r in range(7)]
    data = [data[0], *([Paragraph(text, CELL) for text in row] for row in data[1:])]
    style = [("VALIGN", (0, 0), (-1, -1), "MIDDLE"), ("LINEABOVE", (0, 0), (-1, -1), 0.5, colors.black)]
    return [Table(data, colWidths=[90, 160, 120], style=style)], truth


def small_type(rng: random.Random) -> Made:
    rows = figures(rng, 20, 8)
    style = [("FONTSIZE", (0, 0), (-1, -1), 6), ("LEADING", (0, 0), (-1, -1), 6.5), ("TOPPADDING", (0, 0), (-1, -1), 0),
             ("BOTTOMPADDING", (0, 0), (-1, -1), 0), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)]  # fmt: skip
    return [Table(rows, rowHeights=7.2, style=[*style, right()])], [cells(rows)]


def three_header_rows(rng: random.Random) -> Made:
    """Headings over headings, the rules below them end to end."""
    body = figures(rng, 6, 7)[1:]
    rows = [["Country", "Total", "", "", "", "", ""], ["", "Men", "", "", "Women", "", ""], ["", *"abcabc"], *body]
    style = [
        *BOOKTABS[::2], ("SPAN", (1, 0), (6, 0)), ("SPAN", (1, 1), (3, 1)), ("SPAN", (4, 1), (6, 1)),
        ("SPAN", (0, 0), (0, 2)), ("ALIGN", (1, 0), (-1, -1), "CENTER"), ("VALIGN", (0, 0), (0, 2), "MIDDLE"),
        ("LINEBELOW", (1, 0), (6, 0), 0.4, colors.black), ("LINEBELOW", (1, 1), (3, 1), 0.4, colors.black),
        ("LINEBELOW", (4, 1), (6, 1), 0.4, colors.black), ("LINEBELOW", (0, 2), (-1, 2), 0.5, colors.black),
    ]  # fmt: skip
    spans = {(0, c): "Total" for c in range(1, 7)} | {(r, 0): "Country" for r in (1, 2)}
    spans |= {(1, c): "Men" for c in (1, 2, 3)} | {(1, c): "Women" for c in (4, 5, 6)}
    return [Table(rows, style=style)], [cells(rows) | spans]


def header_of_three_lines(rng: random.Random) -> Made:
    rows = figures(rng, 7, 5)
    rows[0] = ["Region\nof origin", "Number of\npersons\nregistered", "Share\n(%)", "Change", "Index\n2000 = 100"]
    style = [*BOOKTABS[:2], right(), ("VALIGN", (0, 0), (-1, 0), "BOTTOM")]
    return [Table(rows, colWidths=[90, 80, 60, 60, 80], style=style)], [clean(rows)]


def open_grid(rng: random.Random) -> Made:
    rows = figures(rng, 7, 4)
    return [Table(rows, style=[right(), ("INNERGRID", (0, 0), (-1, -1), 0.5, colors.black)])], [cells(rows)]


MORE_KINDS: tuple[Callable[[random.Random], Made], ...] = (
    header_of_two_lines, spans_without_rules, spaced_groups, indented, indented_borderless, notes_below, side_by_side,
    thin_boxes, wide, words_in_two_columns, currency, grid_with_title, ratings, leaders, wrapped_labels,
    wrapped_labels_at_the_top, wrapped_labels_without_rules, shaded_columns, white_grid, words_without_rules,
    words_under_rules, small_type, three_header_rows, header_of_three_lines, open_grid,
)  # fmt: skip
