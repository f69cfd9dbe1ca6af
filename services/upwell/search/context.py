"""From a question to an assembled context: all that the reader may see if it fits, else the best of what matches."""

from collections.abc import Callable

from msgspec.structs import replace

from upwell.assemble import (
    DEFAULT_ASSEMBLY,
    Assembled,
    AssemblyPolicy,
    Counter,
    Piece,
    assemble_best,
    assemble_whole,
    counter_of,
)
from upwell.clock import rfc3339
from upwell.errors import Misconfigured, Retryable
from upwell.ports import Embedder, Registry, Snapshot, Store
from upwell.reading import ContextAnswer
from upwell.records import Record
from upwell.search.answer import check_names, printable, query_words
from upwell.search.gather import Gathering, Moved
from upwell.search.govern import MOST_HITS, Governed, Reading, governed_search
from upwell.search.shown import Shown, chunk_name

MOST_BUDGET = 1_000_000
TRIES = 4
"""How often all is read again because what it was made of, or who reads, changed meanwhile."""


class _Made(Record, frozen=True, kw_only=True):
    """A context that the last snapshot, `moment`, allows; `whole`: it is all that the reader may see."""

    assembled: Assembled
    moment: Snapshot
    whole: bool


def answer_context(
    query: str,
    *,
    budget: int,
    tokenizer: str | None,
    files: bool,
    reading: Reading,
    registry: Registry,
    store: Store,
    embedder: Embedder,
    pipeline: str,
    policy: AssemblyPolicy = DEFAULT_ASSEMBLY,
    refused: Callable[[str, int], None] = lambda _cause, _hits: None,
) -> tuple[ContextAnswer, Shown]:
    """A context of at most `budget` tokens of `tokenizer` (see `assemble.counter_of`; None: the embedder's own), and
    what the audit keeps.

    `files` allows the path of a tokenizer.json: for those who may read the owner's files. `refused` hears how many hits
    the re-check refused, by cause: for operators alone.
    Raises Misconfigured for a query, a budget or a tokenizer that cannot be, Retryable while documents change faster
    than they can be read, and what the embedder, the store and the registry raise.
    """
    asker = reading.asker
    check_names(*asker.principals, *asker.claimed, *reading.sources, asker.tenant)
    if not 1 <= budget <= MOST_BUDGET:
        raise Misconfigured(f"the budget is {budget}: give 1 to {MOST_BUDGET:,} tokens")
    words = query_words(query)
    counter = counter_of(tokenizer, embedder.name, embedder.tokenizer, files=files)
    vectors = embedder.embed_query(words)
    gathering = Gathering(reading, registry, store, pipeline)
    for left in reversed(range(TRIES)):
        found = governed_search(vectors, reading, MOST_HITS, registry=registry, store=store, pipeline=pipeline)
        refused("acl", found.refused_acl)
        refused("superseded", found.refused_superseded)
        try:
            made = _whole(gathering, found, budget, counter) or _best(gathering, found, budget, counter, policy)
        except Moved:
            continue
        same = made.moment.standing == found.standing
        if same or not left:  # who has joined a group meanwhile may see more than was gathered
            made = replace(made, whole=made.whole and same)
            return _answer(query, budget, counter, made), _shown(made, found)
    raise Retryable("the documents are being changed: ask again")


def _whole(gathering: Gathering, found: Governed, budget: int, counter: Counter) -> _Made | None:
    documents = gathering.everything(found, int(budget * counter.thrift))
    assembled = None if documents is None else assemble_whole(gathering.all_pieces(documents), budget, counter)
    if assembled is None:
        return None
    return _Made(assembled=assembled, moment=gathering.last_word(_pieces(assembled), documents), whole=True)


def _best(gathering: Gathering, found: Governed, budget: int, counter: Counter, policy: AssemblyPolicy) -> _Made:
    assembled = assemble_best(gathering.candidates(found, policy), budget, counter, policy)
    return _Made(assembled=assembled, moment=gathering.last_word(_pieces(assembled), None), whole=False)


def _answer(query: str, budget: int, counter: Counter, made: _Made) -> ContextAnswer:
    return ContextAnswer(
        as_of=rfc3339(made.moment.as_of) or "",
        query=printable(query),
        text=made.assembled.text,
        passages=made.assembled.passages,
        tokens=made.assembled.tokens,
        budget=budget,
        tokenizer=counter.name,
        whole=made.whole,
    )


def _shown(made: _Made, found: Governed) -> Shown:
    return Shown(
        standing=made.moment.standing,
        hits=tuple(chunk_name(piece.origin.key, piece.chunk_key) for piece in _pieces(made.assembled)),
        refused=found.refused_acl + found.refused_superseded,
    )


def _pieces(assembled: Assembled) -> list[Piece]:
    return [piece for excerpt in assembled.excerpts for piece in excerpt.pieces]
