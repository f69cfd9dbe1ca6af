"""Small PDFs drawn by hand: each line of text where a test wants it, in points from the top left."""

import io
from collections.abc import Sequence

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.route import parse
from upwell.records import Kind, ParsedDocument

WIDTH, HEIGHT = A4
LOREM = (
    "The council met in the old hall and spoke at length about the harbour, its walls and the ships that would come "
    "in spring when the ice had gone and the wind had turned to the south again and all the roads were open "
)


class Drawn:
    """A PDF in the making."""

    def __init__(self, **properties: str) -> None:
        self.file = io.BytesIO()
        self.canvas = Canvas(self.file, pagesize=A4, pageCompression=0)
        if "title" in properties:
            self.canvas.setTitle(properties["title"])

    def line(self, text: str, x: float, y: float, size: float = 10, font: str = "Helvetica") -> None:
        """One line, its baseline `y` points below the page's top."""
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, HEIGHT - y, text)

    def lines(self, texts: Sequence[str], x: float, y: float, size: float = 10, font: str = "Helvetica") -> float:
        """Lines below each other; returns where the next would stand."""
        for text in texts:
            self.line(text, x, y, size, font)
            y += 1.2 * size
        return y

    def prose(self, words: str, x: float, y: float, width: float, size: float = 10) -> float:
        """Words broken to lines of this width."""
        row = ""
        for word in words.split():
            longer = f"{row} {word}".strip()
            if self.canvas.stringWidth(longer, "Helvetica", size) > width:
                self.line(row, x, y, size)
                y, longer = y + 1.2 * size, word
            row = longer
        self.line(row, x, y, size)
        return y + 1.2 * size

    def page(self) -> None:
        self.canvas.showPage()

    def data(self) -> bytes:
        self.canvas.save()
        return self.file.getvalue()

    def read(self, limits: Limits = DEFAULT_LIMITS) -> ParsedDocument:
        return parse(self.data(), "a.pdf", None, limits)


def texts(parsed: ParsedDocument, kind: Kind) -> list[str]:
    """The texts of all blocks of a kind."""
    return [block.text for block in parsed.blocks if block.kind is kind]


def body(parsed: ParsedDocument) -> str:
    """All but the furniture, as one text."""
    return "\n".join(block.text for block in parsed.blocks if block.kind is not Kind.PAGE_FURNITURE)
