"""What an RTF document defines before its text: the code pages of its fonts, and its paragraph styles."""

from msgspec.structs import replace

from upwell.parse.rtf.flows import Style
from upwell.parse.rtf.tokens import CHARSETS, SYMBOL_CHARSET

PLACES = frozenset({"fonttbl", "stylesheet"})
STYLE_NUMBERS = frozenset({"s", "cs", "ts", "ds"})


class Definitions:
    """The font table and the style sheet, as their groups are read. `page` and `font` are the document's defaults."""

    def __init__(self) -> None:
        self.page, self.font = "cp1252", 0
        self.styles: dict[int, Style] = {}
        self._fonts: dict[int, str] = {}
        self._number, self._style = 0, Style()

    def code_page(self, font: int) -> str:
        """Of the letters in a font: the default one for a font that is not defined, or made of symbols."""
        page = self._fonts.get(font, self.page)
        return self.page if page == "symbol" else page

    def word(self, place: str, word: str, number: int | None) -> None:
        """A control word inside one of the PLACES."""
        value = number or 0
        if place == "fonttbl":
            self._font(word, value)
        elif word in STYLE_NUMBERS:
            # A style of letters may have the number of a paragraph style, and paragraphs ask for theirs alone.
            self._number, self._style = (value if word == "s" else -1 - value), Style()
        elif word == "outlinelevel":
            self._style = replace(self._style, outline_level=value)

    def style_name(self, text: str) -> None:
        """Some of the name of the style that is being defined; a semicolon ends it."""
        self._style = replace(self._style, name=(self._style.name + text).split(";")[0])
        self.styles[self._number] = self._style

    def _font(self, word: str, value: int) -> None:
        if word == "f":
            self._number = value
        elif word == "fcharset":
            self._fonts[self._number] = "symbol" if value == SYMBOL_CHARSET else CHARSETS.get(value, self.page)
        elif word == "cpg" and value:
            self._fonts[self._number] = f"cp{value}"
