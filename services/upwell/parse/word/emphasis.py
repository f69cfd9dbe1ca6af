"""Headings of documents whose writers used no styles: short lines in bold and larger type between the paragraphs."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.word.runs import Inline
from upwell.parse.word.styles import Styles
from upwell.records import Block, Kind

LONGEST = 100  # characters
DEEPEST = 6
SENTENCE_ENDS = (".", ",", ";", ":", "!", "\u2026", "\u3002")
BODY = frozenset({Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.TABLE, Kind.QUOTE, Kind.CODE, Kind.FORMULA})


class Emphasis:
    """What the paragraphs of a document look like, by the numbers of their blocks. Sizes are in half points."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._letters: Counter[int] = Counter()
        self._bold: dict[int, int] = {}

    def note(self, number: int, block: Block, inline: Inline, style: str | None) -> None:
        """Block `number` was made of `inline` in a paragraph of this style."""
        usual = self._styles.size(style)
        sizes = Counter({usual if size is None else size: letters for size, letters in inline.sizes.items()})
        self._letters += sizes
        bold = inline.bold if not self._styles.bold(style) else inline.bold + inline.unsaid
        short = len(block.text) <= LONGEST and "\n" not in block.text and not block.text.endswith(SENTENCE_ENDS)
        if block.kind is Kind.PARAGRAPH and short and len(sizes) == 1 and bold == inline.letters:
            self._bold[number] = next(iter(sizes))

    def with_headings(self, blocks: Sequence[Block], limits: Limits) -> list[Block]:
        """The blocks, such lines as headings by their size; as they are where the document has headings itself."""
        levels = {} if any(block.kind is Kind.HEADING for block in blocks) else self._levels(blocks)
        if not levels:
            return list(blocks)
        outline = Outline(limits.characters)
        for number, block in enumerate(blocks):
            if number in levels:
                outline.heading(block.text, levels[number])
                last = outline.blocks[-1]
                outline.blocks[-1] = replace(last, links=block.links)
            else:
                outline.take(block)
        return outline.blocks

    def _levels(self, blocks: Sequence[Block]) -> dict[int, int]:
        body = max(self._letters, key=lambda size: self._letters[size], default=0)
        found: dict[int, int] = {}
        below: int | None = None  # the size of the line of this look right below, 0 for a paragraph of the body
        for number in range(len(blocks) - 1, -1, -1):
            size = self._bold.get(number, 0)
            if size > body:
                if below is not None and below < size:
                    found[number] = size
                below = size
            elif blocks[number].kind in BODY:
                below = 0
        ranks = {size: rank for rank, size in enumerate(sorted(set(found.values()), reverse=True), start=1)}
        return {number: min(ranks[size], DEEPEST) for number, size in found.items()}
