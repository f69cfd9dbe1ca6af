"""The attributes of an AsciiDoc document: what `:name: value` defines and `{name}` stands for. Nothing from outside it.

https://docs.asciidoctor.org/asciidoc/latest/attributes/
"""

import re
from collections.abc import Sequence
from types import MappingProxyType

from upwell.parse.failures import too_large

CHARACTERS = MappingProxyType(
    {
        "blank": "", "empty": "", "sp": " ", "nbsp": "\u00a0", "zwsp": "\u200b", "wj": "\u2060", "apos": "'",
        "quot": '"', "lsquo": "\u2018", "rsquo": "\u2019", "ldquo": "\u201c", "rdquo": "\u201d", "deg": "\u00b0",
        "plus": "+", "brvbar": "\u00a6", "vbar": "|", "amp": "&", "lt": "<", "gt": ">", "startsb": "[", "endsb": "]",
        "caret": "^", "asterisk": "*", "tilde": "~", "backslash": "\\", "backtick": "`", "two-colons": "::",
        "two-semicolons": ";;", "cpp": "C++", "cxx": "C++", "pp": "++",
    }
)  # fmt: skip
MARKS = frozenset("+|<>[]^*~\\`")
"""What of these would mean something where it is put: it goes in when the words around it have been read."""
ENTRY = re.compile(r":(!?)(\w[\w-]*)(!?):(?:[ \t]+(.*))?$")
REFERENCE = re.compile(r"(\\?)\{(?:(counter2?):)?(\w[\w-]*)(?::(\d{1,9}))?\}")
PASSED = re.compile(r"pass:[a-z,]*\[(.*)\]")
WRAPPED = re.compile(r"(?: \+)? \\$")
LONGEST_COUNTER = 12


class Attributes:
    """Names and values in the order of the document; `characters` is what all that they add to it may be."""

    def __init__(self, characters: int) -> None:
        self._values: dict[str, str] = {}
        self._left = characters

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values or name in CHARACTERS

    def spend(self, characters: int) -> None:
        """Count what the document does not hold itself. Raises `too_large` when it is more than it may be."""
        self._left -= characters
        if self._left < 0:
            raise too_large("its names stand for more text than a document may hold")

    def get(self, name: str) -> str | None:
        """The value; None where the document gives none."""
        value = self._values.get(name.lower(), CHARACTERS.get(name))
        if value:
            self.spend(len(value))
        return value

    def set(self, name: str, value: str | None) -> None:
        """Give the name a value, or None to take it away."""
        if value is None:
            self._values.pop(name.lower(), None)
        else:
            self._values[name.lower()] = value

    def entry(self, lines: Sequence[str], at: int) -> int:
        """Take the entry that begins at this line, and the lines that it goes on over; how many they are, or 0."""
        found = ENTRY.match(lines[at].rstrip()) if lines[at].startswith(":") else None
        if found is None:
            return 0
        parts, end = [found.group(4) or ""], at + 1
        while WRAPPED.search(parts[-1]) and end < len(lines):
            parts[-1] = parts[-1].removesuffix("\\").rstrip().removesuffix(" +")
            parts.append(lines[end].strip())
            end += 1
        value = " ".join(part for part in parts if part).strip()
        passed = PASSED.fullmatch(value)
        unset = bool(found.group(1) or found.group(3))
        self.set(found.group(2), None if unset else self.filled(passed.group(1) if passed else value))
        return end - at

    def filled(self, text: str) -> str:
        """The text with what its names stand for; those that the document does not define stay."""
        return REFERENCE.sub(self._said, text) if "{" in text else text

    def _said(self, found: re.Match[str]) -> str:
        value = None if found.group(1) else self.stood_for(found)
        return found.group() if value is None else value

    def stood_for(self, found: re.Match[str]) -> str | None:
        """What a match of REFERENCE stands for; a counter counts."""
        if found.group(2) is None:
            return self.get(found.group(3)) if found.group(4) is None else None
        name = found.group(3)
        before = self._values.get(name.lower(), "")
        counts = before.isascii() and before.isdigit() and len(before) < LONGEST_COUNTER
        self.set(name, str(int(before) + 1) if counts else found.group(4) or "1")
        return "" if found.group(2) == "counter2" else self.get(name)
