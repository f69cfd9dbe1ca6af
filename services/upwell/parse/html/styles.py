"""Which elements a page's own style sheet hides for good: by a class or an id, with no other rule that shows them."""

import re
from collections.abc import Iterator
from typing import Any

from upwell.parse.html.tags import HIDDEN_STYLE

SIMPLE = re.compile(r"[a-zA-Z0-9]{0,20}([.#][\w-]{1,100})")
NAME = re.compile(r"[.#][\w-]{1,100}")
SHOWS = re.compile(
    r"display\s*:\s*(?!none)\w|visibility\s*:\s*visible|opacity\s*:\s*(?:1|0?\.[1-9])|left\s*:\s*(?:0|auto)",
    re.IGNORECASE,
)
LONGEST_SHEET = 500_000


def hidden_by_sheet(root: Any) -> list[Any]:
    """The elements, in order. Rules inside @media and the like count as showing only."""
    sheet = _without_comments("\n".join(style.text or "" for style in root.iter("style"))[:LONGEST_SHEET])
    hidden: set[str] = set()
    shown: set[str] = set()
    for selectors, declarations, nested in _rules(sheet):
        if SHOWS.search(declarations):
            shown.update(NAME.findall(selectors))
        elif not nested and HIDDEN_STYLE.search(declarations):
            hidden.update(found[1] for part in selectors.split(",") if (found := SIMPLE.fullmatch(part.strip())))
    names = hidden - shown
    return [e for e in root.iter() if isinstance(e.tag, str) and not names.isdisjoint(_names(e))] if names else []


def _names(element: Any) -> Iterator[str]:
    if found := element.get("id"):
        yield f"#{found}"
    for name in (element.get("class") or "").split():
        yield f".{name}"


def _without_comments(sheet: str) -> str:
    """Linear, as a pattern would not be for a comment that never ends."""
    first, *others = sheet.split("/*")
    return "".join([first, *(rest for part in others if (rest := part.partition("*/")[2]))])


def _rules(sheet: str) -> Iterator[tuple[str, str, bool]]:
    """Selectors, declarations, and whether an at-rule stands around them."""
    depth = 0
    for part in sheet.split("}"):
        *around, selectors, declarations = ["", *part.split("{")] if "{" in part else ["", "", ""]
        depth += max(0, len(around) - 1)
        if selectors:
            yield selectors, declarations, depth > 0 or "@" in selectors
        elif depth:
            depth -= 1
