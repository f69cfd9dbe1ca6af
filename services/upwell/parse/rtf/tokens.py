"""RTF as tokens, and its letters by the code pages of its fonts (Rich Text Format specification 1.9.1)."""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import NamedTuple

TOKEN = re.compile(rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)", re.DOTALL)
CHARSETS = MappingProxyType(
    {
        0: "cp1252", 1: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030",
        136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
        204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
    }
)  # fmt: skip
SYMBOL_CHARSET = 2
SPECIAL = MappingProxyType(
    {
        "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ",
        "qmspace": " ", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    }
)  # fmt: skip
SYMBOLS = MappingProxyType({b"~": " ", b"_": "‑", b"{": "{", b"}": "}", b"\\": "\\"})


class Token(NamedTuple):
    """`kind` is one of `{`, `}`, `word`, `byte`, `symbol`, `text`; `word` and `number` are a control word's."""

    kind: str
    data: bytes = b""
    word: str = ""
    number: int | None = None


def tokens(data: bytes) -> Iterator[Token]:
    """The tokens in order; binary bytes are passed over, for they may be anything."""
    at, end = 0, len(data)
    while at < end:
        found = TOKEN.match(data, at)
        if found is None:  # a line end, or a backslash at the very end
            at += 1
            continue
        at = found.end()
        word, number, byte, symbol, brace, text = found.groups()
        if word is not None:
            value = int(number) if number is not None else None
            if word == b"bin":
                at += max(0, value or 0)
            else:
                yield Token("word", word=word.decode(), number=value)
        elif byte is not None:
            yield Token("byte", data=bytes([int(byte, 16)]))
        elif symbol is not None:
            yield Token("symbol", data=symbol)
        elif brace is not None:
            yield Token(brace.decode())
        else:
            yield Token("text", data=text)


class Letters:
    """Gathers bytes until their code page is known to end, and Unicode escapes with what stands in for them."""

    def __init__(self, code_page: str) -> None:
        self.code_page = code_page
        self._bytes = bytearray()
        self._text: list[str] = []
        self._skip = 0

    def add(self, data: bytes) -> None:
        if self._skip:
            passed = min(self._skip, len(data))
            self._skip -= passed
            data = data[passed:]
        self._bytes += data

    def say(self, text: str) -> None:
        """A letter that is no byte; where it stands in for a Unicode escape it is passed over."""
        if self._skip:
            self._skip -= 1
            return
        self._close()
        self._text.append(text)

    def unicode(self, number: int, stand_ins: int) -> None:
        self._close()
        self._text.append(chr(number % 65536))
        self._skip = stand_ins

    def switch(self, code_page: str) -> None:
        """What follows is in another code page."""
        if code_page != self.code_page:
            self._close()
            self.code_page = code_page

    def end_of_stand_ins(self) -> None:
        self._skip = 0

    def take(self) -> str:
        """What was gathered, pairs of half surrogates joined; then nothing is."""
        self._close()
        text, self._text = "".join(self._text), []
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _close(self) -> None:
        if self._bytes:
            self._text.append(_decoded(bytes(self._bytes), self.code_page))
            self._bytes.clear()


def _decoded(data: bytes, code_page: str) -> str:
    try:
        return data.decode(code_page, "replace")
    except LookupError:
        return data.decode("cp1252", "replace")
