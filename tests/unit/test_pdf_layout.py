"""What a page looks like settles what its words leave in doubt, and takes nothing away."""

import io
import random

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from table_pages import CELL, figures, prose
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.pdf import layout
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.layout import Look, LookRegion
from upwell.parse.pdf.page import Page, read_pages
from upwell.parse.pdf.tables import find_tables
from upwell.parse.pdf.tables.looks import looks_so

BOX = (100.0, 100.0, 300.0, 200.0)


def region(kind: str, bbox: tuple[float, float, float, float], confidence: float = 0.9) -> LookRegion:
    return LookRegion(kind=kind, bbox=bbox, confidence=confidence)


def pdf(*flow: object) -> bytes:
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4).build(list(flow))
    return out.getvalue()


def pages_of(data: bytes) -> list[Page]:
    with PdfFile(data, DEFAULT_LIMITS) as file:
        return list(read_pages(file, DEFAULT_LIMITS))


def test_a_table_region_of_the_same_place_makes_it_one() -> None:
    assert looks_so(BOX, [region("table", (95, 95, 310, 205))], otherwise=False)
    assert not looks_so(BOX, [region("table", (95, 95, 310, 205), 0.6)], otherwise=False)


def test_words_all_over_it_make_it_none() -> None:
    assert not looks_so(BOX, [region("text", (90, 90, 310, 210))], otherwise=True)
    assert looks_so(BOX, [region("text", (90, 90, 150, 210))], otherwise=True)


def test_a_figure_or_nothing_leaves_it_as_it_was() -> None:
    """Tables without rules look like figures to the model."""
    for regions in ([], [region("figure", (0, 0, 500, 800), 0.99)]):
        assert looks_so(BOX, regions, otherwise=True)
        assert not looks_so(BOX, regions, otherwise=False)


def test_a_touching_table_region_keeps_words_from_taking_it() -> None:
    both = [region("text", (90, 90, 310, 210)), region("table", (90, 150, 310, 400))]
    assert looks_so(BOX, both, otherwise=True)


class _Asked(Look):
    """Counts what it is asked."""

    def __init__(self) -> None:
        super().__init__(b"", DEFAULT_LIMITS)
        self.asked = 0

    def regions(self, page: Page) -> tuple[LookRegion, ...]:
        self.asked += 1
        return (LookRegion(kind="text", bbox=(0.0, 0.0, page.width, page.height), confidence=0.99),)


def test_only_pages_in_doubt_are_looked_at() -> None:
    """Rules, and columns of figures, leave none."""
    rng = random.Random(1)
    ruled = Table(figures(rng, 5, 4), style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    for flow in ([prose(rng), ruled], [prose(rng), Table(figures(rng, 6, 4))], [prose(rng), prose(rng)]):
        look = _Asked()
        (page,) = pages_of(pdf(*flow))
        find_tables(page, look)
        assert look.asked == 0


def test_a_doubtful_one_that_looks_like_words_is_none() -> None:
    """Three columns of words without a figure: a table unless the page says otherwise."""
    rows = [["Anna", "Riga", "north"], ["Bert", "Oslo", "west"], ["Carla", "Rome", "south"], ["Dora", "Bonn", "east"]]
    (page,) = pages_of(pdf(Table(rows, colWidths=100)))
    assert len(find_tables(page)) == 1
    look = _Asked()
    assert find_tables(page, look) == []
    assert look.asked == 1


@pytest.mark.skipif(not layout.available(), reason="the extra layout is not installed")
def test_the_model_sees_a_table_where_it_stands() -> None:
    """By its own weights, offline; its region holds most of the table."""
    rng = random.Random(2)
    rows = [["Country", "Capital", "River"], *([Paragraph(name, CELL)] * 3 for name in ("Austria", "France", "Spain"))]
    grid = Table(rows, colWidths=120, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    data = pdf(prose(rng), prose(rng), grid, prose(rng))
    (page,) = pages_of(data)
    regions = Look(data, DEFAULT_LIMITS).regions(page)
    (found,) = find_tables(page)
    assert looks_so(found.bbox, regions, otherwise=False)


@pytest.mark.skipif(not layout.available(), reason="the extra layout is not installed")
def test_no_more_pages_are_looked_at_than_the_limits_allow() -> None:
    rng = random.Random(3)
    data = pdf(*(prose(rng) for _ in range(3)))
    (page,) = pages_of(data)
    limits = DEFAULT_LIMITS.__class__(wall_s=1.0)
    assert Look(data, limits).regions(page) == ()
    assert Look(data, DEFAULT_LIMITS).regions(page) != ()
