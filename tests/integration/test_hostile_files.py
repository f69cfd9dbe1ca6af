"""Hostile files stay within limits: memory under a gigabyte, done in time, a word and a reason, neighbours unharmed.

Each is made in code when its test runs and is gone after it. The time limit is shorter than the one in use, so that
what can only be stopped by the clock is stopped sooner; the limits on memory are those in use.
"""

import threading
import time

import psutil
import pytest
from msgspec.structs import replace

import hostile as h
import hostile_pdf as p
from upwell.parse.confined.pool import GRACE_S
from upwell.parse.confined.sandbox import SandboxPreparer
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.records import ParseStatus

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
MIB = h.MIB
MOST_RESIDENT_BYTES = 1_000_000_000
LIMITS = replace(DEFAULT_LIMITS, wall_s=12.0)
ROOM_S = 8.0  # a child must be started again after the clock has ended one, on a machine that does other things too
BOMB = {ParseStatus.TOO_LARGE}
REFUSED = {ParseStatus.TOO_LARGE, ParseStatus.CORRUPT}
ENDED = {ParseStatus.TOO_LARGE, ParseStatus.TIMED_OUT}
ANY = set(ParseStatus)
PARAGRAPH = b"<w:p><w:r><w:t>%s</w:t></w:r></w:p>"
LATEX = b"\\documentclass{article}\\begin{document}"

CASES = {
    "zip bomb": (h.zip_bomb, "a.docx", BOMB),
    "a zip that lies about its size": (h.lying_zip, "a.docx", REFUSED),
    "zips in zips": (h.nested_zip, "a.zip", BOMB),
    "a zip of one long text": (lambda: h.zip_of([("a.txt", b"w " * (8 * MIB))]), "a.zip", BOMB),
    "billion laughs": (lambda: h.xml(b"&a9;", h.LAUGHS), "a.xml", REFUSED),
    "quadratic entities": (lambda: h.xml(b"&q;" * 30_000, h.QUADRATIC), "a.xml", REFUSED),
    "laughs in Word": (lambda: h.docx([PARAGRAPH % b"&a9;"], prolog=h.LAUGHS), "a.docx", REFUSED),
    "quadratic in Word": (lambda: h.docx([PARAGRAPH % (b"&q;" * 30_000)], prolog=h.QUADRATIC), "a.docx", REFUSED),
    "laughs in a sheet": (
        lambda: h.xlsx([h.row(1, [h.text_cell(b"A1", b"&a9;")])], prolog=h.LAUGHS),
        "a.xlsx",
        REFUSED,
    ),
    "a million paragraphs": (lambda: h.docx(PARAGRAPH % b"p" for _ in range(10**6)), "a.docx", ENDED),
    "many paragraphs": (lambda: h.docx(PARAGRAPH % b"p %d" % i for i in range(3 * 10**5)), "a.docx", ENDED),
    "deep tables in Word": (
        lambda: h.docx([h.deep(b"<w:tbl><w:tr><w:tc>", b"</w:tc></w:tr></w:tbl>", 3_000, b"<w:p/>")]),
        "a.docx",
        ANY - {ParseStatus.OK},
    ),
    "a picture of 900 million points in Word": (h.huge_png_docx, "a.docx", ANY),
    "a workbook of 100 MB": (lambda: h.large_xlsx(100 * MIB), "a.xlsx", BOMB),
    "two million cells": (lambda: h.many_rows_xlsx(20_000, 100), "a.xlsx", ENDED),
    "two cells far apart": (h.far_cell_xlsx, "a.xlsx", ANY),
    "10,000 pages": (lambda: p.pages_pdf(10_000), "a.pdf", BOMB),
    "2,000 pages": (lambda: p.pages_pdf(2_000), "a.pdf", ANY),
    "a font that is itself": (p.font_loop_pdf, "a.pdf", ANY),
    "a form that draws itself": (p.form_loop_pdf, "a.pdf", ANY),
    "forms that draw forms": (p.form_bomb_pdf, "a.pdf", ENDED),
    "pages that are their own root": (p.page_loop_pdf, "a.pdf", ANY),
    "references in a ring": (p.reference_loop_pdf, "a.pdf", {ParseStatus.CORRUPT}),
    "a page deflated twice": (lambda: p.inflating_pdf(2, 256 * MIB), "a.pdf", ANY),
    "an image of 144 million points": (lambda: p.huge_image_pdf(12_000), "a.pdf", ANY),
    "a page of 300,000 words": (lambda: p.much_text_pdf(300_000), "a.pdf", ENDED),
    "a page of 20,000 rules": (lambda: p.many_lines_pdf(20_000), "a.pdf", ANY),
    "arrays in arrays": (p.deep_objects_pdf, "a.pdf", ANY),
    "a picture of 2.5 thousand million points": (h.huge_png, "a.png", ANY),
    "100,000 attachments": (lambda: h.many_parts_mail(10**5), "a.eml", BOMB),
    "100,000 alternatives": (lambda: h.many_alternatives_mail(10**5), "a.eml", BOMB),
    "mail in mail": (lambda: h.quine_mail(3_000), "a.eml", BOMB),
    "parts in parts": (lambda: h.deep_multipart_mail(3_000), "a.eml", BOMB),
    "deep HTML": (lambda: h.deep(b"<div>", b"</div>", 10**5), "a.html", BOMB),
    "open tags": (lambda: b"<html>" + b"<b>" * 10**6, "a.html", BOMB),
    "a tag of a million attributes": (
        lambda: b"<html><p %s>x" % b"".join(b"a%d=1 " % i for i in range(10**6)),
        "a.html",
        ANY,
    ),
    "a million paragraphs in HTML": (lambda: b"<html>" + b"<p>x" * 10**6, "a.html", ENDED),
    "spans of 65,534 rows": (lambda: b"<html><table>" + b"<tr><td colspan=1000 rowspan=65534>x" * 1_000, "a.html", ANY),
    "deep JSON": (lambda: h.deep(b"[", b"]", 10**6), "a.json", BOMB),
    "a list of five million": (lambda: b"[" + b"1," * 5 * 10**6 + b"1]", "a.json", ENDED),
    "deep quotes": (lambda: b"> " * 10**5 + b"x", "a.md", ANY),
    "brackets without end": (lambda: b"[" * 200_000, "a.md", ANY),
    "stars without end": (lambda: b"*a_ " * 300_000, "a.md", ANY),
    "200,000 references": (
        lambda: b"".join(b"[a%d]: /x\n" % i for i in range(200_000)) + b"[a1] " * 200_000,
        "a.md",
        ANY,
    ),
    "a table of 3,000 columns": (lambda: b"|a" * 3_000 + b"|\n" + b"|-" * 3_000 + b"|\n" + b"|\n" * 10**5, "a.md", ANY),
    "deep XML": (lambda: h.deep(b"<a>", b"</a>", 10**5), "a.xml", REFUSED),
    "three million elements": (lambda: h.xml(b"<a/>" * 3 * 10**6), "a.xml", ANY),
    "a million columns": (lambda: b",".join(b"c%d" % i for i in range(10**6)) + b"\n" + b"1," * 10**6, "a.csv", ANY),
    "a quote that never ends": (lambda: b'"' + b"a,\n" * 4 * 10**6, "a.csv", ANY),
    "a word of 15 MB": (lambda: b"a" * 15 * MIB, "a.txt", ENDED),
    "four million words": (lambda: b"a " * 2 * MIB, "a.txt", ANY),
    "white space": (lambda: b" \n\t" * MIB + b"x", "a.txt", ANY),
    "full stops": (lambda: b"." * 4 * MIB, "a.txt", ANY),
    "marks upon one letter": (("a" + "\u0301" * 2 * MIB).encode, "a.txt", ANY),
    "comments never closed": (lambda: b"<html>" + b"<!--" * MIB, "a.html", ANY),
    "the start of a page, again and again": (lambda: b"<!-- " * MIB + b"x", "a", ANY),
    "deep brackets in code": (lambda: b"x = " + h.deep(b"(", b")", 10**5), "a.py", ANY),
    "200,000 functions": (lambda: b"def f(): pass\n" * 200_000, "a.py", ANY),
    "deep braces": (lambda: LATEX + h.deep(b"{", b"}", 50_000) + b"\\end{document}", "a.tex", ANY),
    "macros that are each other": (lambda: b"\\def\\a{\\b\\b}\\def\\b{\\a\\a}" + LATEX + b"\\a", "a.tex", ANY),
    "deep groups in RTF": (lambda: b"{\\rtf1 " + b"{" * 10**6, "a.rtf", ANY),
    "names of control characters": (lambda: h.zip_of([("a\x1b[31m\n\u202e.txt", b"words")]), "\x1b]0;x\x07\n.zip", ANY),
}


class Neighbours(threading.Thread):
    """Sends small honest documents through the same pool, all the while, and remembers how they ended."""

    def __init__(self, preparer):
        super().__init__(daemon=True)
        self.preparer, self.ended, self.over = preparer, [], threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            started = time.monotonic()
            status = self.preparer.prepare(b"# Honest\n\nSome words.\n", "honest.md").status
            self.ended.append((status, time.monotonic() - started))


class Residents(threading.Thread):
    """The highest resident memory of any child of this process since the last `take`."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.over, self.process = 0, threading.Event(), psutil.Process()

    def run(self):
        while not self.over.wait(0.02):
            for child in self.process.children():
                try:
                    self.peak = max(self.peak, child.memory_info().rss)
                except psutil.Error:
                    continue

    def take(self):
        peak, self.peak = self.peak, 0
        return peak


@pytest.fixture(scope="module")
def preparer():
    made = SandboxPreparer("hash", "fp", workers=2, limits=LIMITS)
    made.warm()
    yield made
    made.close()


@pytest.fixture(scope="module")
def neighbours(preparer):
    made = Neighbours(preparer)
    made.start()
    yield made
    made.over.set()
    made.join(30)


@pytest.fixture(scope="module")
def residents():
    made = Residents()
    made.start()
    yield made
    made.over.set()
    made.join(30)


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_file_stays_within_limits(case, preparer, neighbours, residents):
    """One status with its reason, in time and in memory; what is read beside it is read as ever."""
    make, name, expected = CASES[case]
    data = make()
    residents.take()
    del neighbours.ended[:]
    started = time.monotonic()
    prepared = preparer.prepare(data, name)
    seconds, peak = time.monotonic() - started, residents.take()
    assert prepared.status in expected, prepared.reason
    assert prepared.status is ParseStatus.OK or (prepared.reason and "\n" not in prepared.reason)
    assert peak < MOST_RESIDENT_BYTES
    assert seconds < LIMITS.wall_s + GRACE_S + ROOM_S
    assert {status for status, _ in neighbours.ended} <= {ParseStatus.OK}


def test_the_neighbours_were_read_all_the_while(preparer, neighbours, residents):
    """The measure itself works: children are seen, and honest documents do get through."""
    seen = len(neighbours.ended)
    deadline = time.monotonic() + 30
    while len(neighbours.ended) <= seen + 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(neighbours.ended) > seen + 2
    assert residents.take() > 10 * MIB
