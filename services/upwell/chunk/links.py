"""Where a document's own text points to, as written: what the lake can later find from the other end."""

import re
from collections.abc import Sequence
from itertools import islice

from upwell.records import Block, Kind

MOST_LINKS = 500
LONGEST_LINK = 2_000

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


def links_of(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The links to pages and to files beside the document (http, https and relative ones), in the order of the text.

    Each once, at most 500, none over 2,000 characters; not those of menus and footers, nor to a place in the document.
    """
    found = dict.fromkeys(
        link
        for block in blocks
        if block.kind is not Kind.PAGE_FURNITURE
        for link in map(str.strip, block.links)
        if _points_elsewhere(link)
    )
    return tuple(islice(found, MOST_LINKS))


def _points_elsewhere(link: str) -> bool:
    if not link or len(link) > LONGEST_LINK or link.startswith(("#", "//")) or _CONTROL.search(link.replace(" ", "")):
        return False
    scheme = _SCHEME.match(link)
    return scheme is None or scheme[1].lower() in {"http", "https"}
