"""The same generated content as a file of every format: what a law about documents is to hold for."""

import csv
import io
import json
import zipfile
from email.message import EmailMessage
from html import escape
from typing import NamedTuple

from hypothesis import strategies as st

WORDS = ["ledger", "Übergröße", "vault", "tea.", "naïve", "3.14", "漢字。", "مرحبا", "end?", "a-b", "snow!", "x"]


class Part(NamedTuple):
    """A heading, a paragraph, a list item, a table or code, with a word that stands nowhere else (`mark`)."""

    kind: str
    text: str
    mark: str
    rows: int = 0


@st.composite
def contents(draw, most=10, longest=120):
    """Parts in any order; each text has at least its mark and another word."""
    kinds = draw(st.lists(st.sampled_from("hpplltc"), min_size=1, max_size=most))
    parts = []
    for number, kind in enumerate(kinds):
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6 if kind in "ht" else longest))
        mark = f"mark{number}q"
        parts.append(Part(kind, " ".join(["A", mark, *words, "it is"]), mark, draw(st.integers(2, 40))))
    return parts


def table(part):
    return [["name", "value"], *([f"{part.text} {row}", str(row)] for row in range(part.rows))]


def markdown(parts):
    done = []
    for part in parts:
        if part.kind == "t":
            rows = [f"| {' | '.join(row)} |" for row in table(part)]
            done.append("\n".join([rows[0], "|---|---|", *rows[1:]]))
        elif part.kind == "c":
            done.append(f"```python\n{code_of(part)}\n```")
        else:
            done.append({"h": "## ", "p": "", "l": "- "}[part.kind] + part.text)
    return "\n\n".join(done).encode()


ASCIIDOC = {
    "h": ("== {}", "=== {} ===", "[discrete]\n== {}"),
    "p": (
        "{}", "NOTE: {}", "====\n.Title\n{}\n====", "[quote, Ada]\n____\n{}\n____", "////\n{}\n////", "// {}",
        "ifdef::nothing[]\n{}\nendif::[]", ":name: {}", "[verse]\n{}", "****\n--\n{}", "Notedfootnote:[{}].",
        ".{}", " {}", "> {}", "image::a.png[{}]", "++++\n<p>{}</p>\n++++", "x (((hidden {})))",
    ),
    "l": ("* {}", "** {}", ". {}", "term:: {}", "{}::", "- item\n+\n{}", "<1> {}", "term::\n  {}"),
    "c": ("[source,python]\n----\n{}\n----", "....\n{}\n....", "```python\n{}\n```", "[stem]\n++++\n{}\n++++"),
}  # fmt: skip


def asciidoc(parts):
    """Each kind of part in one of the ways that there are to write it, in turns; some are in no chunk."""
    done = ["Some words are shown."]
    for number, part in enumerate(parts):
        if part.kind == "t":
            bar, fence, start = ("|", "|===", "|") if number % 2 else (",", ",===", "")
            lines = [f"{start}{bar.join(row)}" for row in table(part)]
            done.append("\n".join([fence, *lines, fence]))
        else:
            ways = ASCIIDOC[part.kind]
            said = code_of(part) if part.kind == "c" else part.text
            done.append(ways[(number * 7 + len(part.text)) % len(ways)].format(said))
    return "\n\n".join(done).encode()


def code_of(part):
    lines = [f"    total = total + {n}  # step" for n in range(part.rows)]
    return "\n".join([f"def f_{part.mark}(total):", f'    """{part.text}"""', *lines, "    return total"])


def text(parts):
    return "\n\n".join(part.text for part in parts).encode()


def code(parts):
    return "\n\n\n".join(code_of(part) for part in parts).encode()


def html(parts):
    tags = {"h": "h2", "p": "p", "l": "li", "c": "pre"}
    body = []
    for part in parts:
        if part.kind == "t":
            rows = "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table(part)
            )
            body.append(f"<table>{rows}</table>")
        elif part.kind == "l":
            body.append(f"<ul><li>{escape(part.text)}</li></ul>")
        else:
            body.append(f"<{tags[part.kind]}>{escape(part.text)}</{tags[part.kind]}>")
    return f"<html><head><meta charset=utf-8><title>t</title></head><body>{''.join(body)}</body></html>".encode()


def delimited(parts):
    out = io.StringIO()
    csv.writer(out).writerows([["text", "rows"], *([part.text, str(part.rows)] for part in parts)])
    return out.getvalue().encode()


def as_json(parts):
    return json.dumps({"parts": [part._asdict() for part in parts]}, ensure_ascii=False).encode()


def notebook(parts):
    kinds = {"c": "code"}
    cells = [
        {"cell_type": kinds.get(part.kind, "markdown"), "source": [part.text], "metadata": {}, "outputs": []}
        for part in parts
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def xml(parts):
    return f"<doc>{''.join(f'<part>{escape(part.text)}</part>' for part in parts)}</doc>".encode()


def captions(parts):
    cues = [f"00:{n:02}:00.000 --> 00:{n:02}:30.000\n{part.text}" for n, part in enumerate(parts)]
    return "\n\n".join(["WEBVTT", *cues]).encode()


def mail(parts):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Owls"
    message.set_content("\n\n".join(part.text for part in parts[: len(parts) // 2]) or "See attached.")
    message.add_attachment(text(parts[len(parts) // 2 :]), maintype="text", subtype="plain", filename="rest.txt")
    return message.as_bytes()


def archive(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        half = len(parts) // 2
        file.writestr("one.md", markdown(parts[:half]))
        file.writestr("two/two.html", html(parts[half:]))
    return out.getvalue()


def rtf(parts):
    body = "".join(rf"{''.join(c if c.isascii() else _rtf_character(c) for c in part.text)}\par " for part in parts)
    return rf"{{\rtf1\ansi\deff0 {body}}}".encode("ascii")


def _rtf_character(character):
    number = ord(character)
    return rf"\u{number - 65536 if number > 32767 else number}?"


ODF_NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)


def odt(parts):
    tags = {"h": ('text:h text:outline-level="1"', "text:h")}
    body = []
    for part in parts:
        start, end = tags.get(part.kind, ("text:p", "text:p"))
        body.append(f"<{start}>{escape(part.text)}</{end}>")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        file.writestr(
            "content.xml",
            f"<office:document-content {ODF_NAMES}><office:body><office:text>{''.join(body)}</office:text>"
            "</office:body></office:document-content>",
        )
        file.writestr("META-INF/manifest.xml", "<manifest/>")
    return out.getvalue()


def docx(parts):
    from docx import Document

    document = Document()
    for part in parts:
        if part.kind == "t":
            rows = table(part)
            grid = document.add_table(rows=len(rows), cols=2)
            for cells, row in zip(grid.rows, rows, strict=True):
                for cell, words in zip(cells.cells, row, strict=True):
                    cell.text = words
        elif part.kind == "h":
            document.add_heading(part.text, 2)
        else:
            document.add_paragraph(part.text, style="List Bullet" if part.kind == "l" else None)
    return saved(document)


def xlsx(parts):
    from openpyxl import Workbook

    book = Workbook()
    for part in parts:
        sheet = book.create_sheet(part.mark)
        for row in table(part):
            sheet.append(row)
    return saved(book)


def pptx(parts):
    from pptx import Presentation

    deck = Presentation()
    for part in parts:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = part.mark
        slide.placeholders[1].text = part.text
        slide.notes_slide.notes_text_frame.text = "Speak slowly."
    return saved(deck)


def pdf(parts):
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    styles = getSampleStyleSheet()
    story = []
    for part in parts:
        # Its own fonts hold no more than Latin.
        words = part.text.encode("latin-1", "ignore").decode("latin-1")
        if part.kind == "t":
            story.append(Table([[" ".join(cell.split()[:4]) for cell in row] for row in table(part)]))
        else:
            story.append(Paragraph(escape(words), styles["Heading2" if part.kind == "h" else "Normal"]))
    out = io.BytesIO()
    SimpleDocTemplate(out).build(story)
    return out.getvalue()


def saved(document):
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


LIGHT = {
    "a.md": markdown, "a.txt": text, "a.html": html, "a.csv": delimited, "a.json": as_json, "a.ipynb": notebook,
    "a.xml": xml, "a.py": code, "a.vtt": captions, "a.eml": mail, "a.rtf": rtf, "a.zip": archive, "a.odt": odt,
    "a.adoc": asciidoc,
}  # fmt: skip
HEAVY = {"a.docx": docx, "a.xlsx": xlsx, "a.pptx": pptx, "a.pdf": pdf}
