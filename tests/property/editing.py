"""Random edits of single paragraphs, and which chunks they change."""

from collections import Counter

from msgspec.structs import replace

from upwell.records import Kind

NEW = [
    "This sentence is new and says a little more.",
    "Nobody may read the report before it is signed.",
    "An index is built for each shop every night.",
]
SHORTEST = 60


def edited(rng, text):
    """The text with a word replaced, a sentence put in or added, or its end cut off."""
    words = text.split(" ")
    kind = rng.randrange(5)
    if kind == 0:
        return f"{text} {rng.choice(NEW)}"
    if kind == 1:
        return " ".join(words[: -(-len(words) * 2 // 3)])
    at = rng.randrange(len(words))
    if kind == 2:
        return " ".join([*words[:at], rng.choice(NEW), *words[at:]])
    words[at] = "zymurgy"
    return " ".join(words)


def paragraphs(parsed):
    """Numbers of the blocks of words that are long enough to edit."""
    kinds = {Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE}
    return [i for i, block in enumerate(parsed.blocks) if block.kind in kinds and len(block.text) >= SHORTEST]


def with_edit(rng, parsed, number):
    """The document with block `number` edited."""
    blocks = list(parsed.blocks)
    blocks[number] = replace(blocks[number], text=edited(rng, blocks[number].text))
    return replace(parsed, blocks=tuple(blocks))


def gone(before, after):
    """Places in `before` of the chunks that are not in `after`."""
    kept = Counter(chunk.chunk_key for chunk in after)
    places = []
    for place, chunk in enumerate(before):
        if kept[chunk.chunk_key]:
            kept[chunk.chunk_key] -= 1
        else:
            places.append(place)
    return places


def is_local(before, after, number):
    """Whether what changed is the chunks that hold words of block `number`, and at most one more on each side.

    Held to both: the old chunks that are gone, and the new ones that were not there.
    """
    return _is_around(before, gone(before, after), number) and _is_around(after, gone(after, before), number)


def _is_around(chunks, changed, number):
    holders = [i for i, chunk in enumerate(chunks) if any(span.block == number for span in chunk.spans)]
    if not changed:
        return True
    return bool(holders) and holders[0] - 1 <= changed[0] and changed[-1] <= holders[-1] + 1
