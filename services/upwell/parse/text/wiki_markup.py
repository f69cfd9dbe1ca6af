"""Headings as wikis write them (`== Title ==`) in a text that is otherwise Markdown or plain: made ATX headings.

MediaWiki, Creole, DokuWiki and AsciiDoc share the form: as many signs before as after, on a line by itself; exports for
language models set spaces between the signs. https://www.mediawiki.org/wiki/Help:Formatting
"""

import re

HEADING = re.compile(r"[ \t]*(=(?: =){1,5}|={1,6})[ \t]+(\S.*?)[ \t]+\1[ \t]*")
MARKDOWN_HEADING = re.compile(r"(?m)^ {0,3}(?:#{1,6}(?:[ \t]|$)|```|~~~)")
FEWEST_HEADINGS = 2
# Nobody wraps lines this late: a longer line is a paragraph that is not wrapped at all.
LONGEST_WRAPPED_LINE = 240


def with_markdown_headings(text: str) -> str:
    """The text with its wiki headings as Markdown has them, and its unwrapped lines apart.

    Unchanged where it has fewer than two of them, or headings or fences of Markdown's own. Line by line: the time is
    linear in the text.
    """
    if "=" not in text or MARKDOWN_HEADING.search(text):
        return text
    lines = text.split("\n")
    found = [HEADING.fullmatch(line) if len(line) <= LONGEST_WRAPPED_LINE else None for line in lines]
    if sum(heading is not None for heading in found) < FEWEST_HEADINGS:
        return text
    return "\n".join(
        f"\n{'#' * heading[1].count('=')} {heading[2]}\n" if heading else _apart(line)
        for line, heading in zip(lines, found, strict=True)
    )


def _apart(line: str) -> str:
    return f"{line.strip()}\n" if len(line) > LONGEST_WRAPPED_LINE else line
