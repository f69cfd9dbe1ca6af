"""PDF pages with tables whose cells are known: of each kind that people draw, filled from a seed."""

import io
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    PageTemplate,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
)

Grid = dict[tuple[int, int], str]
Made = tuple[list[Flowable], list[Grid]]
PROSE = ParagraphStyle("prose", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=8)
CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=9, leading=11)
NAMES = [
    "Austria",
    "Belgium",
    "Bulgaria",
    "Croatia",
    "Cyprus",
    "Denmark",
    "Estonia",
    "Finland",
    "France",
    "Germany",
    "Greece",
    "Hungary",
    "Ireland",
    "Italy",
    "Latvia",
    "Lithuania",
    "Luxembourg",
    "Malta",
    "Netherlands",
    "Poland",
    "Portugal",
    "Romania",
    "Slovakia",
    "Slovenia",
    "Spain",
    "Sweden",
]
WORDS = [
    "annual",
    "report",
    "of",
    "the",
    "committee",
    "on",
    "water",
    "quality",
    "and",
    "energy",
    "use",
    "in",
    "rural",
    "areas",
    "with",
    "special",
    "regard",
    "to",
    "small",
    "farms,",
    "their",
    "costs",
    "and",
    "the",
    "measures",
    "that",
    "members",
    "agreed",
    "upon",
    "during",
    "earlier",
    "sessions",
    "about",
    "transport",
]
HEADS = ["Region", "Area", "Volume", "Share", "Total", "Cost", "Units", "Growth", "Index", "Rate"]
BOOKTABS = [
    ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
    ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
    ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
]


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize()


def prose(rng: random.Random, sentences: int = 4) -> Paragraph:
    return Paragraph(" ".join(sentence(rng, rng.randint(8, 16)) + "." for _ in range(sentences)), PROSE)


def number(rng: random.Random) -> str:
    kind = rng.randrange(4)
    if kind == 0:
        return str(rng.randint(1, 999))
    if kind == 1:
        return f"{rng.randint(1000, 999999):,}"
    return f"{rng.random() * 100:.1f}" + ("%" if kind == 2 else "")


def figures(rng: random.Random, rows: int, cols: int, *, empty: float = 0.0) -> list[list[str]]:
    """A header, names in the first column, numbers in the others."""
    names = rng.sample(NAMES, rows)
    heads = ["Country", *rng.sample(HEADS, cols - 1)]
    return [heads] + [[name, *("" if rng.random() < empty else number(rng) for _ in heads[1:])] for name in names]


def cells(rows: list[list[str]]) -> Grid:
    return {(r, c): text for r, row in enumerate(rows) for c, text in enumerate(row)}


def right() -> tuple[Any, ...]:
    return ("ALIGN", (1, 0), (-1, -1), "RIGHT")


def full_grid(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(4, 12), rng.randint(3, 6), empty=0.1)
    return [Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black), right()])], [cells(rows)]


def grid_of_two_columns(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(4, 9), 2)
    return [Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.grey), right()])], [cells(rows)]


def booktabs(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(4, 12), rng.randint(3, 6))
    return [Table(rows, style=[*BOOKTABS, right()])], [cells(rows)]


def booktabs_of_words(rng: random.Random) -> Made:
    rows = [["Name", "Kind", "Remark"]] + [
        [rng.choice(NAMES), rng.choice(HEADS), sentence(rng, rng.randint(2, 4))] for _ in range(rng.randint(4, 8))
    ]
    return [Table(rows, style=BOOKTABS)], [cells(rows)]


def ruled_rows(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(4, 12), rng.randint(3, 6), empty=0.15)
    style = [("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey), ("LINEABOVE", (0, 0), (-1, 0), 0.4, colors.grey)]
    return [Table(rows, style=[*style, right()])], [cells(rows)]


def ruled_columns(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(5, 10), rng.randint(3, 5))
    style = [("BOX", (0, 0), (-1, -1), 0.5, colors.black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)]
    return [Table(rows, style=[*style, ("INNERGRID", (0, 0), (-1, 0), 0.5, colors.black),
                               ("LINEAFTER", (0, 0), (-2, -1), 0.5, colors.black), right()])], [cells(rows)]  # fmt: skip


def borderless(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(5, 12), rng.randint(3, 6))
    return [Table(rows, style=[right(), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")])], [cells(rows)]


def borderless_sparse(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(6, 12), rng.randint(4, 6), empty=0.35)
    return [Table(rows, colWidths=80, style=[("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")])], [cells(rows)]


def borderless_two_columns(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(5, 10), 2)
    return [Table(rows, colWidths=[140, 80], style=[right()])], [cells(rows)]


def shaded(rng: random.Random) -> Made:
    rows = figures(rng, rng.randint(5, 12), rng.randint(3, 6))
    style = [
        ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#224466")),
        ("TEXTCOLOR", (0, 0), (-1, 0), colors.white),
        ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, colors.HexColor("#eeeeee")]),
    ]
    return [Table(rows, style=[*style, right()])], [cells(rows)]


def wrapped(rng: random.Random, style: list[Any], rows: int = 6, valign: str = "TOP") -> Made:
    data: list[list[Any]] = [["Measure", "Description", "Cost"]]
    truth = [["Measure", "Description", "Cost"]]
    for _ in range(rows):
        row = [sentence(rng, rng.randint(1, 4)), sentence(rng, rng.randint(3, 16)), number(rng)]
        truth.append(row)
        data.append([Paragraph(row[0], CELL), Paragraph(row[1], CELL), row[2]])
    table = Table(data, colWidths=[90, 190, 60], style=[*style, ("VALIGN", (0, 0), (-1, -1), valign)])
    return [table], [cells(truth)]


def wrapped_grid(rng: random.Random) -> Made:
    return wrapped(rng, [("GRID", (0, 0), (-1, -1), 0.5, colors.black)])


def wrapped_middle(rng: random.Random) -> Made:
    return wrapped(rng, [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black)], valign="MIDDLE")


def wrapped_booktabs(rng: random.Random) -> Made:
    return wrapped(rng, BOOKTABS)


def wrapped_borderless(rng: random.Random) -> Made:
    return wrapped(rng, [("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")])


def spans_grid(rng: random.Random) -> Made:
    body = figures(rng, rng.randint(4, 8), 5)[1:]
    rows = [["Country", "2020", "", "2021", ""], ["", "N", "Share", "N", "Share"], *body]
    style = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)),
        ("ALIGN", (1, 0), (-1, -1), "CENTER"), ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
    ]  # fmt: skip
    truth = cells(rows) | {(1, 0): "Country", (0, 2): "2020", (0, 4): "2021"}
    return [Table(rows, style=style)], [truth]


def spans_booktabs(rng: random.Random) -> Made:
    body = figures(rng, rng.randint(4, 8), 5)[1:]
    rows = [["", "Before", "", "After", ""], ["Country", "Cost", "Share", "Cost", "Share"], *body]
    style = [
        ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black), ("LINEBELOW", (0, 1), (-1, 1), 0.5, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black), ("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)),
        ("LINEBELOW", (1, 0), (2, 0), 0.4, colors.black), ("LINEBELOW", (3, 0), (4, 0), 0.4, colors.black),
        ("ALIGN", (1, 0), (-1, -1), "CENTER"),
    ]  # fmt: skip
    return [Table(rows, colWidths=[90, 60, 60, 60, 60], style=style)], [
        cells(rows) | {(0, 2): "Before", (0, 4): "After"}
    ]


def section_rows(rng: random.Random) -> Made:
    head, *body = figures(rng, 8, 4)
    rows = [head, ["First group of members", "", "", ""], *body[:4], ["Second group", "", "", ""], *body[4:]]
    style = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("SPAN", (0, 1), (-1, 1)),
        ("SPAN", (0, 6), (-1, 6)),
        right(),
    ]
    truth = cells(rows) | {(r, c): rows[r][0] for r in (1, 6) for c in range(4)}
    return [Table(rows, style=style)], [truth]


def row_groups(rng: random.Random) -> Made:
    body = [["", rng.choice(HEADS), number(rng), number(rng)] for _ in range(8)]
    for i in range(0, 8, 2):
        body[i][0] = NAMES[i]
    rows = [["Country", "Kind", "Cost", "Share"], *body]
    style = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]
    style += [("SPAN", (0, i), (0, i + 1)) for i in range(1, 9, 2)]
    truth = cells(rows) | {(i + 1, 0): rows[i][0] for i in range(1, 9, 2)}
    return [Table(rows, style=style)], [truth]


def statement(rng: random.Random) -> Made:
    """A financial statement: sums under short rules."""
    rows = [["EUR thousand", "2021", "2020"]]
    rows += [[sentence(rng, 3), f"{rng.randint(100, 9999):,}", f"({rng.randint(100, 9999):,})"] for _ in range(6)]
    rows += [["Total", f"{rng.randint(10000, 99999):,}", f"{rng.randint(10000, 99999):,}"]]
    style = [
        ("LINEABOVE", (1, -1), (-1, -1), 0.5, colors.black),
        ("LINEBELOW", (1, 0), (-1, 0), 0.5, colors.black),
        right(),
    ]
    return [Table(rows, colWidths=[200, 70, 70], style=style)], [cells(rows)]


def tight(rng: random.Random) -> Made:
    """Columns hardly apart, small type."""
    rows = figures(rng, rng.randint(8, 14), 6)
    style = [*BOOKTABS, right(), ("FONTSIZE", (0, 0), (-1, -1), 7), ("LEFTPADDING", (0, 0), (-1, -1), 3),
             ("RIGHTPADDING", (0, 0), (-1, -1), 3), ("TOPPADDING", (0, 0), (-1, -1), 0), ("BOTTOMPADDING", (0, 0), (-1, -1), 0)]  # fmt: skip
    return [Table(rows, style=style)], [cells(rows)]


def two_on_a_page(rng: random.Random) -> Made:
    first, second = booktabs(rng), rng.choice([full_grid, borderless, ruled_rows])(rng)
    return [*first[0], Spacer(1, 20), prose(rng), *second[0]], [*first[1], *second[1]]


def over_pages(rng: random.Random) -> Made:
    names = [f"{rng.choice(NAMES)} {i}" for i in range(90)]
    rows = [["Entry", "Cost", "Share"]] + [[name, number(rng), number(rng)] for name in names]
    style = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), right()]
    return [Table(rows, repeatRows=1, style=style)], [cells(rows)]


def clean(rows: list[list[str]]) -> Grid:
    """Cells with their lines joined."""
    return {at: " ".join(text.split()) for at, text in cells(rows).items()}


KINDS: tuple[Callable[[random.Random], Made], ...] = (
    full_grid, grid_of_two_columns, booktabs, booktabs_of_words, ruled_rows, ruled_columns, borderless,
    borderless_sparse, borderless_two_columns, shaded, wrapped_grid, wrapped_middle, wrapped_booktabs,
    wrapped_borderless, spans_grid, spans_booktabs, section_rows, row_groups, statement, tight, two_on_a_page, over_pages,
)  # fmt: skip


def document(kind: Callable[[random.Random], Made], seed: int, *, columns: int = 1) -> tuple[bytes, list[Grid]]:
    """A PDF with prose, a caption, the table and prose again, and the cells of its tables."""
    rng = random.Random(f"{kind.__name__} {seed}")
    flow, truth = kind(rng)
    if max(thing.wrap(450, 700)[0] for thing in flow if not isinstance(thing, Paragraph | Spacer)) > 225:
        columns = 1
    caption = Paragraph(f"Table {seed + 1}: {sentence(rng, 6)}", PROSE)
    story = [prose(rng), prose(rng), caption, *flow, Spacer(1, 14), prose(rng), prose(rng)]
    out = io.BytesIO()
    if columns == 1:
        SimpleDocTemplate(out, pagesize=A4).build(story)
    else:
        frames = [Frame(50, 60, 240, 720), Frame(310, 60, 240, 720)]
        BaseDocTemplate(out, pagesize=A4, pageTemplates=[PageTemplate(frames=frames)]).build(
            [*story, *(prose(rng) for _ in range(14))]
        )
    return out.getvalue(), truth


def adjacency(grid: Grid) -> Counter[tuple[str, str, str]]:
    """ICDAR 2013: each filled cell with its nearest filled neighbour to the right and below."""
    relations: Counter[tuple[str, str, str]] = Counter()
    rows, cols = max(r for r, _ in grid) + 1, max(c for _, c in grid) + 1
    for (r, c), text in grid.items():
        ways: tuple[tuple[str, Iterator[tuple[int, int]]], ...] = (
            ("right", ((r, k) for k in range(c + 1, cols))),
            ("below", ((k, c) for k in range(r + 1, rows))),
        )
        for way, steps in ways:
            other = next((found for at in steps if (found := grid.get(at))), None)
            if text and other and other != text:
                relations[text, other, way] += 1
    return relations


def f1(want: list[Grid], got: list[Grid]) -> float:
    """Of the relations of all tables together."""
    wanted: Counter[tuple[str, str, str]] = sum((adjacency(g) for g in want), Counter())
    found: Counter[tuple[str, str, str]] = sum((adjacency(g) for g in got), Counter())
    hit = (wanted & found).total()
    return 2 * hit / (wanted.total() + found.total()) if hit else 0.0
