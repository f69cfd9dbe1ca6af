"""Tables on a page: from ruling lines where they are drawn, else from lines whose words stand in columns."""

from functools import partial

from msgspec.structs import replace

from upwell.parse.pdf.layout import Look
from upwell.parse.pdf.page import Page
from upwell.parse.pdf.tables.aligned import aligned_tables
from upwell.parse.pdf.tables.build import FoundTable
from upwell.parse.pdf.tables.ruled import Remaining, ruled_tables
from upwell.parse.pdf.tables.rules import Rules
from upwell.parse.pdf.tables.words import words_of

__all__ = ["FoundTable", "find_tables"]


def find_tables(page: Page, look: Look | None = None) -> list[FoundTable]:
    """Ruled tables first; aligned ones among the words that are left. `look` is asked where these leave a doubt.

    A piece of which a part stands outside all tables is not among their pieces: rather read twice than lost.
    """
    rules = Rules(page.horizontal, page.vertical)
    left = Remaining(words_of(page))
    looks = None if look is None else partial(look.regions, page)
    found = ruled_tables(rules, left, page.drawn)
    found.extend(aligned_tables(rules, left, page.drawn, looks))
    outside = frozenset(word.piece for word in left.words)
    return [replace(table, pieces=table.pieces - outside) for table in found]
