"""Tables on a page: from ruling lines where they are drawn, else from lines whose words stand in columns."""

from upwell.parse.pdf.page import Page
from upwell.parse.pdf.tables.aligned import aligned_tables
from upwell.parse.pdf.tables.build import FoundTable
from upwell.parse.pdf.tables.ruled import Remaining, ruled_tables
from upwell.parse.pdf.tables.rules import Rules
from upwell.parse.pdf.tables.words import words_of

__all__ = ["FoundTable", "find_tables"]


def find_tables(page: Page) -> list[FoundTable]:
    """Ruled tables first; aligned ones among the words that are left."""
    rules = Rules(page.horizontal, page.vertical)
    left = Remaining(words_of(page))
    found = ruled_tables(rules, left, page.drawn)
    return [*found, *aligned_tables(rules, left, page.drawn)]
