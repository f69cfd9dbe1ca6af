"""What lines of code say of themselves, in any language: a signature, the end of a block, brackets left open."""

import re
from collections.abc import Sequence

from upwell.chunk.ranges import Range

SIGNATURE = re.compile(r"[:{]\s*(?:#.*|//.*)?$")
SIGNATURE_LINES = 8
CLOSING = re.compile(r"[\s)\]};,]*+(?:end[\s;]*+)?")
BEFORE_SIGNATURE = ("@", "#", "//", "/*", "*", "[")
BRACKETS = re.compile(r"[()\[\]]")


def signature_length(text: str, lines: Sequence[Range]) -> int:
    """How many of the first lines are decorators and a signature; 0 if none begins here."""
    depth = 0
    for number, (a, b) in enumerate(lines[:SIGNATURE_LINES], start=1):
        line = text[a:b].strip()
        depth += opened(line)
        if depth <= 0 and SIGNATURE.search(line):
            return number
        brace_follows = number < len(lines) and text[slice(*lines[number])].strip() == "{"
        if depth <= 0 and not line.startswith(BEFORE_SIGNATURE) and not brace_follows:
            return 0
    return 0


def closes(line: str) -> bool:
    """Whether a line only ends what stands above it: brackets, `end`, or nothing at all."""
    return CLOSING.fullmatch(line) is not None


def indent(line: str) -> int:
    """Characters of white space before its first word."""
    return len(line) - len(line.lstrip())


def opened(line: str) -> int:
    """How many more brackets the line opens than it closes; those in its strings count too, which seldom matters."""
    return sum(1 if bracket in "([" else -1 for bracket in BRACKETS.findall(line))
