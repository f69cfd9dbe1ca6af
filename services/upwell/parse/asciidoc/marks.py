"""The marks around words in AsciiDoc: bold, italic, mono, highlighted, raised, lowered, quoted. They go in pairs.

https://docs.asciidoctor.org/asciidoc/latest/text/
"""

import re
from collections.abc import Mapping

MARK = re.compile(r"(\\{0,2})((?:\[[^\[\]\n]{0,100}\])?)(\*{1,2}|_{1,2}|`{1,2}|#{1,2})")
RAISED = re.compile(r"(\\?)(?:\^([^\s^]++)\^|~([^\s~]++)~)")
CURVED = re.compile(r"(?<![\w;:}])(['\"])`(?!\s)([^`]++)(?<!\s)`\1(?!\w)")
CURVES = {"'": "\u2018{}\u2019", '"': "\u201c{}\u201d"}
NOT_BEFORE = frozenset(";:}")


def unmarked(text: str) -> str:
    """The words without the marks that have a partner; each is looked at once."""
    if "`" in text:
        text = CURVED.sub(lambda found: CURVES[found.group(1)].format(found.group(2)), text)
    cuts = sorted(_pairs(text))
    if cuts:
        parts, end = [], 0
        for start, stop in cuts:
            parts.append(text[end:start])
            end = stop
        text = "".join([*parts, text[end:]])
    return RAISED.sub(_raised, text) if "^" in text or "~" in text else text


def _raised(found: re.Match[str]) -> str:
    return found.group()[1:] if found.group(1) else found.group(2) or found.group(3)


def _pairs(text: str) -> list[tuple[int, int]]:
    """Where what is to be cut begins and ends."""
    opened: dict[str, re.Match[str]] = {}
    cuts: list[tuple[int, int]] = []
    for found in MARK.finditer(text):
        sign = found.group(3)
        first = opened.get(sign)
        if first is not None and first.end() < found.start(3) and not found.group(2) and _closes(text, found, opened):
            escaped = len(first.group(1))
            cuts.append((first.start(), first.start() + escaped) if escaped else (first.start(), first.end()))
            if not escaped:
                cuts.append((found.start(3), found.end(3)))
            del opened[sign]
        elif _opens(text, found, opened):
            opened[sign] = found
    return cuts


def _opens(text: str, found: re.Match[str], opened: Mapping[str, re.Match[str]]) -> bool:
    if len(found.group(3)) == 2:
        return True
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if before == "_":  # part of a word, unless it is a mark itself
        return bool(after.strip()) and any(mark.end() == found.start() for mark in opened.values())
    return not before.isalnum() and before not in NOT_BEFORE and bool(after.strip())


def _closes(text: str, found: re.Match[str], opened: Mapping[str, re.Match[str]]) -> bool:
    if found.group(1):
        return False
    if len(found.group(3)) == 2:
        return True
    before, after = text[found.start(3) - 1 : found.start(3)], text[found.end() : found.end() + 1]
    if after == "_":
        return bool(before.strip()) and ("_" in opened or "__" in opened)
    return bool(before.strip()) and not after.isalnum()
