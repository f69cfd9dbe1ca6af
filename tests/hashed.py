"""The hash embedder of tests: made once, for that takes longer than to fill a small lake."""

import copy
import functools

from upwell.embed import HASH, embedder_of

MADE = functools.cache(embedder_of)


def hash_embedder():
    """One of its own for whoever watches what it is asked; tables and tokenizer, which nothing changes, are shared."""
    return copy.copy(MADE(HASH))
