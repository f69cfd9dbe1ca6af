"""The page of `upwell explain --html` in a real browser: its boxes lie over the words, its lists and boxes belong
together, and no document can run a script in it or make it ask for anything."""

import io
import json
import zipfile

import pypdfium2
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from upwell.explain import FAILURES, Explainer, page

pytestmark = pytest.mark.integration

HOSTILE = (
    "<script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "</style></script><script>window.owned = 1</script>",
    '"\' onclick="window.owned = 1" x=\'',
    "<svg onload=window.owned=1><a href='javascript:window.owned=1'>x</a></svg>",
    "<img src=https://example.com/x.png><link rel=stylesheet href=https://example.com/x.css>",
    "<meta http-equiv=refresh content='0;url=https://example.com/'>",
    "<base href=https://example.com/>",
)


@pytest.fixture(scope="module")
def explainer():
    made = Explainer("hash")
    yield made
    made.close()


def turned(data, degrees, crop):
    """The same PDF with its pages turned clockwise and cut to a box."""
    document, file = pypdfium2.PdfDocument(data), io.BytesIO()
    for sheet in document:
        sheet.set_rotation(degrees)
        if crop:
            sheet.set_cropbox(*crop)
    document.save(file)
    document.close()
    return file.getvalue()


def pdf(pages=2):
    """On each page a large headline, a paragraph, and a ruled table, black on white."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4)
    for number in range(1, pages + 1):
        canvas.setFont("Helvetica-Bold", 22)
        canvas.drawString(100, 700, f"Harvest report {number}")
        canvas.setFont("Helvetica", 11)
        for line in range(6):
            canvas.drawString(
                100, 650 - 14 * line, f"Line {line} tells of apples, pears and quinces of field {number}."
            )
        for row in range(4):
            for col in range(3):
                canvas.drawString(106 + 100 * col, 506 - 20 * row, f"cell {row}.{col}")
        canvas.grid([100 + 100 * col for col in range(4)], [520 - 20 * row for row in range(5)])
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def written(explainer, folder, files):
    """The page of these files, by their names and bytes."""
    shown = []
    for name, data in files.items():
        path = folder / name
        path.write_bytes(data)
        shown.append((name, explainer.explain(path), explainer.draw(path)))
    target = folder / "page.html"
    target.write_bytes(page(shown).encode(errors="replace"))
    return target, [answer for _, answer, _ in shown]


def marked(tab, what):
    """The numbers of the blocks or chunks that are chosen, by where they are marked."""
    return {
        place: sorted(map(int, tab.run(f"[...document.querySelectorAll('{selector}')].map(e => e.dataset.{what})")))
        for place, selector in (
            ("box", f".boxes .on[data-{what}]"),
            ("words", f".reading .on[data-{what}]"),
            ("list", f".panel .item.on[data-{what}]"),
        )
    }


DARK_OUTSIDE = """
(() => {
  const [img, svg] = document.querySelectorAll(".sheet .paper > *");
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [img.naturalWidth, img.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(img, 0, 0);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  const paper = img.getBoundingClientRect(), scale = img.naturalWidth / paper.width;
  const boxes = [...svg.querySelectorAll(".of-blocks rect")].map((rect) => {
    const b = rect.getBoundingClientRect();
    return [b.left, b.top, b.right, b.bottom].map((v, i) => (v - (i % 2 ? paper.top : paper.left)) * scale);
  });
  const hits = boxes.map(() => 0);
  let outside = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at] > 100) continue;
    const x = (at / 4) % canvas.width, y = Math.floor(at / 4 / canvas.width), slack = 4;
    const held = boxes.flatMap(([l, t, r, b], n) =>
      x >= l - slack && x <= r + slack && y >= t - slack && y <= b + slack ? [n] : []);
    held.forEach((n) => { hits[n] += 1; });
    if (!held.length) outside += 1;
  }
  return { outside, hits, aspect: paper.width / paper.height };
})()
"""


def test_the_page_loads_without_complaints_and_asks_for_nothing(tab, explainer, tmp_path):
    target, _ = written(explainer, tmp_path, {"harvest.pdf": pdf(), "notes.md": b"# Notes\n\n- one\n- two\n"})
    tab.open(target)
    assert tab.complaints() == []
    first, *others = tab.requests()
    assert first == target.as_uri()
    assert others
    assert all(url.startswith("data:image/png;base64,") for url in others)
    assert tab.run("document.title") == "2 documents explained"


@pytest.mark.parametrize(
    ("degrees", "crop", "aspect"),
    [
        (0, None, A4[0] / A4[1]),
        (0, (60, 380, 560, 780), 500 / 400),
        (90, None, A4[1] / A4[0]),
        (180, None, A4[0] / A4[1]),
        (270, (60, 380, 560, 780), 400 / 500),
    ],
    ids=["upright", "cropped", "turned right", "upside down", "turned left and cropped"],
)
def test_boxes_lie_over_the_words_that_are_drawn(tab, explainer, tmp_path, degrees, crop, aspect):  # noqa: PLR0917
    """Nearly every dark pixel of the picture is inside a block's box, and each box holds some."""
    target, _ = written(explainer, tmp_path, {"harvest.pdf": turned(pdf(1), degrees, crop)})
    tab.open(target)
    seen = tab.run(DARK_OUTSIDE)
    assert len(seen["hits"]) >= 3
    assert min(seen["hits"]) > 100
    assert seen["outside"] < sum(seen["hits"]) / 50
    assert seen["aspect"] == pytest.approx(aspect, rel=0.01)


def test_a_box_is_where_its_words_were_written(tab, explainer, tmp_path):
    """A headline whose baseline is 700 points above the page's foot and that starts 100 points from its left."""
    target, (answer,) = written(explainer, tmp_path, {"harvest.pdf": pdf()})
    (number,) = (n for n, b in enumerate(answer["blocks"]) if b["text"].startswith("Harvest report 1"))
    tab.open(target)
    left, top, bottom, height = tab.run(
        "(() => { const p = document.querySelector('.paper').getBoundingClientRect(),"
        f" b = document.querySelector('.boxes [data-block=\"{number}\"] rect').getBoundingClientRect();"
        " return [b.left - p.left, b.top - p.top, b.bottom - p.top, p.height]; })()"
    )
    point = height / A4[1]
    assert left / point == pytest.approx(100, abs=4)
    assert top / point < A4[1] - 700 - 10
    assert A4[1] - 700 - 4 < bottom / point < A4[1] - 700 + 10


def test_a_chosen_chunk_marks_its_blocks_everywhere(tab, explainer, tmp_path):
    target, (answer,) = written(explainer, tmp_path, {"harvest.pdf": pdf()})
    held = sorted({span["block"] for span in answer["chunks"][-1]["spans"]})
    last = len(answer["chunks"]) - 1
    tab.open(target)
    tab.click("[role=tab][id$=chunks]")
    tab.click(f"button[data-chunk='{last}']")
    assert marked(tab, "block") == {"box": held, "words": held, "list": held}
    assert marked(tab, "chunk") == {"box": [last], "words": [], "list": [last]}
    assert tab.run("document.querySelector('[role=status]').textContent").startswith(f"Chunk {last}, blocks")
    tab.press("Escape")
    assert marked(tab, "block")["box"] == []


def test_a_chosen_box_marks_its_line_of_the_tree_and_the_chunks_that_hold_it(tab, explainer, tmp_path):
    target, (answer,) = written(explainer, tmp_path, {"harvest.pdf": pdf()})
    number = next(n for n, b in enumerate(answer["blocks"]) if b["kind"] == "table")
    tab.open(target)
    tab.click(f".boxes [data-block='{number}'] rect")
    assert marked(tab, "block") == {"box": [number], "words": [number], "list": [number]}
    holding = [n for n, c in enumerate(answer["chunks"]) if any(s["block"] == number for s in c["spans"])]
    near = tab.run("[...document.querySelectorAll('.panel .near')].map(e => Number(e.dataset.chunk))")
    assert near == holding


def test_the_lists_work_by_keyboard_alone(tab, explainer, tmp_path):
    target, (answer,) = written(explainer, tmp_path, {"notes.md": b"# Notes\n\nFirst words.\n\nSecond words.\n"})
    tab.open(target)
    tab.run("document.querySelector('[role=tab]').focus()")
    tab.press("ArrowRight")
    assert tab.run("document.querySelector('[aria-selected=true]').textContent").startswith("Chunks")
    assert tab.run("[...document.querySelectorAll('[role=tabpanel]')].map(p => p.hidden)") == [True, False, True]
    tab.run("document.querySelector('[role=tab]').click(); document.querySelector('.tree button').focus()")
    tab.press("ArrowDown")
    tab.press("Enter")
    assert marked(tab, "block")["list"] == [1]
    tab.press("End")
    tab.press("Enter")
    assert marked(tab, "block")["list"] == [len(answer["blocks"]) - 1]


def test_boxes_of_chunks_take_the_place_of_those_of_blocks(tab, explainer, tmp_path):
    target, _ = written(explainer, tmp_path, {"harvest.pdf": pdf(1)})
    tab.open(target)

    def visible():
        return [
            bool(tab.run(f"document.querySelector('.{part} rect').getClientRects().length"))
            for part in ("of-blocks", "of-chunks")
        ]

    assert visible() == [True, False]
    tab.click("input[value=chunks]")
    assert visible() == [False, True]
    tab.click("input[value=none]")
    assert visible() == [False, False]


def test_a_hostile_document_runs_nothing_and_fetches_nothing(tab, explainer, tmp_path):
    """Its words, its name, its cells, its headings, its part's name: all of them are shown, none is obeyed."""
    cells = "\n".join(f'"{words.replace(chr(34), chr(34) * 2)}",x' for words in HOSTILE)
    markdown = "\n\n".join(f"# {words}\n\n    {words}\n\n`{words}`" for words in HOSTILE)
    html = "".join(f"<p>{words.replace('<', '&lt;')}</p>" for words in HOSTILE)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("<img src=x onerror=window.owned=1>.md", markdown)
    target, answers = written(
        explainer,
        tmp_path,
        {
            "<img src=x onerror=window.owned=1>.md": markdown.encode(),
            "cells.csv": f"a,b\n{cells}\n".encode(),
            "page.htm": f"<title>{html}</title><body>{html}".encode(),
            "code.py": "\n".join(f"x = {words!r}" for words in HOSTILE).encode(),
            "packed.zip": packed.getvalue(),
        },
    )
    tab.open(target)
    for button in ("[role=tab][id$=chunks]", "button[data-chunk]", "button[data-block]"):
        tab.run(f"document.querySelectorAll({json.dumps(button)}).forEach(e => e.click())")
    assert tab.run("window.owned") is None
    assert tab.run("document.scripts.length") == 1
    assert tab.run("document.querySelectorAll('img, base, iframe, object, a[href^=javascript]').length") == 0
    assert tab.run("document.querySelectorAll('[onclick], [onload], [onerror]').length") == 0
    assert tab.requests() == [target.as_uri()]
    assert tab.complaints() == []
    shown = tab.run("document.querySelector('.reading').textContent")
    assert any("window.owned" in block["text"] for block in answers[0]["blocks"])
    assert "<script>window.owned = 1</script>" in shown


def test_what_may_not_be_read_is_a_status_of_its_own(explainer, tmp_path):
    """As a file whose parser crashes twice is: the others of a call are shown all the same."""
    answer = explainer.explain(tmp_path)
    assert answer["status"] == "unreadable"
    assert answer["status"] in FAILURES
    assert answer["reason"]
    assert (answer["blocks"], answer["chunks"], answer["dropped"], answer["children"]) == ([], [], [], [])
    assert explainer.draw(tmp_path).left_out.startswith("the pages are not drawn")


def test_the_policy_would_hold_if_words_were_not_escaped(tab, explainer, tmp_path):
    """What an escaping that failed would have let in: a script, a handler, a picture and a fetch from elsewhere."""
    target, _ = written(explainer, tmp_path, {"notes.md": b"# Notes\n"})
    tab.open(target)
    tab.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';"
        " document.body.append(s);"
        " document.body.insertAdjacentHTML('beforeend', '<img src=\"https://example.com/x.png\">'"
        ' + \'<b style="color: red" onclick="window.owned = 1" id=handler>x</b>\');'
        " document.getElementById('handler').click(); })()"
    )
    refused = tab.run("fetch('https://example.com/').then(() => 'let out', () => 'refused')")
    assert refused == "refused"
    assert tab.run("window.owned") is None
    assert len(tab.complaints()) >= 4
    assert tab.run("performance.getEntriesByType('resource').filter(e => e.transferSize > 0).length") == 0


def test_it_reads_in_the_dark_and_on_paper(tab, explainer, tmp_path):
    target, _ = written(explainer, tmp_path, {"harvest.pdf": pdf()})
    tab.open(target)
    light = tab.run("getComputedStyle(document.body).backgroundColor")
    tab.media(scheme="dark")
    assert tab.run("getComputedStyle(document.body).backgroundColor") != light
    tab.media(kind="print")
    assert tab.run("[...document.querySelectorAll('[role=tabpanel]')].every(p => p.getClientRects().length > 0)")
    assert tab.run("document.querySelector('.tools fieldset').getClientRects().length") == 0
    assert tab.printed().startswith(b"%PDF")
