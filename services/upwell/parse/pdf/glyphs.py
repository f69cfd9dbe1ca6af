"""The characters that a PDF page draws, as words: where each stands, in which font, and which have no known meaning."""

import ctypes
import math
import re
from typing import Any

import msgspec
from msgspec.structs import replace

from upwell.parse.failures import too_large
from upwell.parse.pdf.frame import HALF, QUARTER, THREE_QUARTERS, Frame
from upwell.records import Record

BOLD = re.compile(r"bold|black|heavy|semibold|demi\b|medi\b|-bd\b|cmbx|sfbx", re.IGNORECASE)
ITALIC = re.compile(r"italic|oblique|cmti|cmsl|sfti|-it\b", re.IGNORECASE)
MONO = re.compile(
    r"mono(?!type)|courier|consol|menlo|cmtt|sftt|typewriter|inconsolata|source ?code|fira ?code|terminal|lucidacons"
    r"|nimbusmon",
    re.IGNORECASE,
)
MATH = re.compile(r"cmmi|cmsy|cmex|msam|msbm|math|^symbol|eufm|stix.*(?:math|sym)|mtmi|mtsy|rsfs", re.IGNORECASE)
SYMBOLS = {
    0xF0B7: "\u2022", 0xF0A7: "\u25aa", 0xF06E: "\u25a0", 0xF0D8: "\u27a2", 0xF0FC: "\u2713", 0xF0E0: "\u2192",
    0xF076: "\u2756", 0xF0A8: "\u25fb", 0xF06C: "\u25cf", 0xF0D2: "\u00ae", 0xF0B0: "\u00b0", 0xF0B1: "\u00b1",
}  # fmt: skip
"""What Word's symbol fonts draw at these private code points (Symbol and Wingdings)."""
PRIVATE = range(0xE000, 0xF900)
UNKNOWN = 0xFFFD
MOST_GLYPHS_A_PAGE = 100_000
MOST_WORD_CHARACTERS = 2_000
BOLD_WEIGHT = 600
FIXED_PITCH, ITALIC_FLAG = 1, 64
STROKED = 2
FIRST_PRINTED, LAST_CODE = 0x20, 0x10FFFF
SPACES = frozenset({0x20, 0x0D, 0x0A, 0x09, 0xA0, 0x3000, *range(0x2000, 0x200B), 0x202F})
LINE_BREAK_HYPHENS = frozenset({0x02, 0xFFFE, 0x00AD})
UNDRAWN = frozenset({0x200B, 0x200C, 0x2060, 0xFEFF})


class Font(Record, frozen=True, kw_only=True):
    """What a font's name and flags say of it."""

    bold: bool = False
    italic: bool = False
    mono: bool = False
    math: bool = False


class Word(msgspec.Struct):
    """Characters without white space between them. `spaced`: white space was written before it."""

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    font: Font
    spaced: bool = False
    unknown: int = 0
    letters: list[tuple[str, float, float]] = msgspec.field(default_factory=list)

    @property
    def top(self) -> float:
        return self.baseline - 0.78 * self.size

    @property
    def bottom(self) -> float:
        return self.baseline + 0.22 * self.size


class Style(msgspec.Struct):
    """What all characters of a text object share. `way` leads from the PDF's coordinates to those they are read in."""

    font: Font
    size: float
    turn: int
    way: tuple[float, float, float, float, float, float, float, float]


def page_words(text_page: Any, frame: Frame, number: int) -> dict[int, list[Word]]:
    """Words in the order drawn, by the degrees that the page has to be turned for them to be upright.

    Raises Unparsable (`too_large`) for a page with more characters than a page has.
    """
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # noqa: PLC0415 - a C library, only for PDFs

    count = pdfium.FPDFText_CountChars(text_page)
    if count > MOST_GLYPHS_A_PAGE:
        raise too_large(f"page {number} has too many characters")
    return _Reader(pdfium, text_page, frame).read(max(0, count))


class _Reader:
    def __init__(self, pdfium: Any, text_page: Any, frame: Frame) -> None:
        self.pdfium, self.text_page = pdfium, text_page
        self.frame = frame
        self.ways = {turn: frame.turned(turn).way() for turn in (0, QUARTER, HALF, THREE_QUARTERS)}
        self.fonts: dict[int, Font] = {}
        self.words: dict[int, list[Word]] = {}
        self.word: Word | None = None
        self.spaced = False
        self.rect, self.matrix, self.name = pdfium.FS_RECTF(), pdfium.FS_MATRIX(), ctypes.create_string_buffer(256)
        self.x, self.y = ctypes.c_double(), ctypes.c_double()

    def read(self, count: int) -> dict[int, list[Word]]:
        """All characters in turn; white space ends a word."""
        unicode, owner, text_page = self.pdfium.FPDFText_GetUnicode, self.pdfium.FPDFText_GetTextObject, self.text_page
        address: int | None = None
        style: Style | None = None
        for i in range(count):
            code = unicode(text_page, i)
            if code in SPACES:
                self.word, self.spaced = None, True
                continue
            if code in UNDRAWN:
                continue
            thing = owner(text_page, i)
            at = ctypes.addressof(thing.contents) if thing else None
            if at != address or style is None:
                address, style = at, self._style(i, thing)
            self._place(i, code, style)
        return self.words

    def _place(self, i: int, code: int, style: Style) -> None:
        """The character on the page, at the end of the word before it where it goes on."""
        pdfium, rect, x, y = self.pdfium, self.rect, self.x, self.y
        if style.size <= 0 or not pdfium.FPDFText_GetLooseCharBox(self.text_page, i, rect):
            return
        pdfium.FPDFText_GetCharOrigin(self.text_page, i, x, y)
        xx, xy, x_at, yx, yy, y_at, width, height = style.way
        left, right, origin_x, origin_y = rect.left, rect.right, x.value, y.value
        low, high = xx * left + xy * rect.bottom + x_at, xx * right + xy * rect.top + x_at
        if low > high:
            low, high = high, low
        baseline = yx * origin_x + yy * origin_y + y_at
        if not (high > 0 and low < width and -style.size < baseline < height + style.size):
            return  # off the page, or nowhere (not a number)
        unknown = code == UNKNOWN or pdfium.FPDFText_HasUnicodeMapError(self.text_page, i) == 1
        text, unknown = _letter(code, unknown=unknown)
        word = self.word
        if word is None or not _goes_on(word, low, high, baseline, style):
            word = Word(text="", x0=low, x1=high, baseline=baseline, size=style.size, font=style.font)
            word.spaced, self.word, self.spaced = self.spaced, word, False
            self.words.setdefault(style.turn, []).append(word)
        word.letters.append((text, low, high))
        word.x0, word.x1 = min(word.x0, low), max(word.x1, high)
        word.unknown += unknown

    def _style(self, i: int, thing: Any) -> Style:
        """Of the text object that this character is in; the size is that on the page."""
        pdfium, matrix = self.pdfium, self.matrix
        size = pdfium.FPDFText_GetFontSize(self.text_page, i)
        turn = 0
        if pdfium.FPDFText_GetMatrix(self.text_page, i, matrix):
            size *= math.hypot(matrix.c, matrix.d)
            turn = _turn(*self.frame.direction(matrix.a, matrix.b))
        if not math.isfinite(size):
            size = 0.0
        font = self._font(thing) if thing else Font()
        if thing and pdfium.FPDFTextObj_GetTextRenderMode(thing) == STROKED and not font.bold:
            font = replace(font, bold=True)  # filled and stroked: a bold without a font of its own
        return Style(font=font, size=abs(size), turn=turn, way=self.ways[turn])

    def _font(self, thing: Any) -> Font:
        font = self.pdfium.FPDFTextObj_GetFont(thing)
        if not font:
            return Font()
        address = ctypes.addressof(font.contents)
        if address not in self.fonts:
            self.pdfium.FPDFFont_GetBaseFontName(font, self.name, len(self.name))
            name = self.name.value.decode("utf-8", "replace").split("+", 1)[-1]
            flags = max(0, self.pdfium.FPDFFont_GetFlags(font))
            self.fonts[address] = Font(
                bold=bool(BOLD.search(name)) or self.pdfium.FPDFFont_GetWeight(font) >= BOLD_WEIGHT,
                italic=bool(ITALIC.search(name)) or bool(flags & ITALIC_FLAG),
                mono=bool(MONO.search(name)) or bool(flags & FIXED_PITCH),
                math=bool(MATH.search(name)),
            )
        return self.fonts[address]


def _turn(dx: float, dy: float) -> int:
    """By how many degrees clockwise text that runs this way (y downwards) has to be turned to be upright."""
    if abs(dx) >= abs(dy):
        return 0 if dx >= 0 else HALF
    return QUARTER if dy < 0 else THREE_QUARTERS


def _goes_on(word: Word, low: float, high: float, baseline: float, style: Style) -> bool:
    """Whether a character belongs to the word before it: the same line, size and weight, and no gap."""
    if abs(baseline - word.baseline) > 0.1 * word.size or abs(style.size - word.size) > 0.05 * word.size:
        return False
    if len(word.letters) >= MOST_WORD_CHARACTERS or style.font != word.font:
        return False
    near = 0.5 * word.size
    return low - word.x1 <= near and word.x0 - high <= near


def _letter(code: int, *, unknown: bool) -> tuple[str, bool]:
    if code in LINE_BREAK_HYPHENS:
        return "-", False
    if code in SYMBOLS:
        return SYMBOLS[code], False
    if code in PRIVATE or code < FIRST_PRINTED or 0xD800 <= code < 0xE000 or code > LAST_CODE:
        return "\ufffd", True
    return chr(code), unknown
