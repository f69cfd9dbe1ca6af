"""Words of documents made safe for a terminal: a title can hold escape sequences, and a file name can too."""

import re

# C0 without tab and newline, DEL, C1 (which holds CSI and OSC in one character), marks and overrides of direction,
# line and paragraph separators, lone surrogates.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def safe(text: str) -> str:
    """`text` with every character that a terminal would obey made visible; tabs and newlines stay."""
    return UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def safe_line(text: str) -> str:
    """The same on one line: runs of white space become one blank, and newlines are shown."""
    return re.sub(r"\s+", " ", safe(text.strip())).strip()


def name(text: str) -> str:
    """A name on one line, unshortened: newlines and tabs inside are made visible too."""
    return safe(text).replace("\n", "␊").replace("\t", "␉")


UNREADABLE = "(an unreadable message)"
"""Stands for the document of a message that nobody could read: it names none."""


def snippet(text: str, limit: int) -> str:
    """The first `limit` characters of `text` on one line, `…` where it is cut."""
    line = safe_line(text)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "�"
