"""L1 to L3 for the rows alone: permissions end with their document, whatever the order, against the oracle."""

import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import READERS, events, prepared
from world import content_effects, control_effects

from oracle import bound, newest_content, unknown_since, visible
from upwell.access import admits
from upwell.lake import decide
from upwell.ports import DocumentRow
from upwell.records import Acl, DocKey, Op, ParseStatus

KEY = DocKey(tenant="t", source="s", doc_id="a")
HISTORIES = st.integers(2, 9).flatmap(lambda n: st.tuples(*(events(number, ("a", "b")) for number in range(n))))


def applied(row, event):
    """The row of document `a` after an event, as the publisher takes its decisions."""
    if event.previous_doc_id == "a" and event.doc_id != "a":
        row = decide.moved_away(row, event) or decide.ended(row, event) or row
        row = decide.released(row, event) or row
    if event.doc_id != "a":
        return row
    row = decide.permitted(row, event) or row
    if event.op in {Op.DELETE, Op.ERASE}:
        return decide.buried(row, event) or decide.ended(row, event) or row
    if event.op is Op.UPSERT:
        made = prepared(event)
        order = (event.version, 0, decide.content_hash(event, made), "")
        if made.status is not ParseStatus.CORRUPT and order > decide.order_of(row):
            row = decide.published(row, event, made, "model")
    return row


def row_of(happened):
    row = DocumentRow(key=KEY)
    for event in happened:
        row = applied(row, event)
    return row


def effects_of(happened):
    effects = {effect for event in happened for effect in control_effects(event)}
    effects |= {effect for event in happened if event.op is Op.UPSERT for effect in content_effects(event)}
    return frozenset(effect for doc, effect in effects if doc == "a")


def shuffled(happened, seed):
    rng = random.Random(seed)
    twice = [*happened, *rng.sample(happened, len(happened) // 2)]
    rng.shuffle(twice)
    return twice


def plain(row):
    """Without what tells the order in which events came."""
    return msgspec.structs.replace(row, received_at=None, hold=False)


@settings(max_examples=max(200, settings().max_examples))
@given(HISTORIES, st.integers(0, 2**32))
def test_permissions_end_with_their_document_in_any_order(happened, seed):
    """The row says what the oracle says after each event, and the same row comes of another order."""
    rows = []
    for turn in range(2):
        row, known = DocumentRow(key=KEY), []
        for event in shuffled(happened, seed + turn):
            row = applied(row, event)
            known.append(event)
            check(row, effects_of(known))
        rows.append(plain(row))
    assert rows[0] == rows[1]


def check(row, effects):
    content = newest_content(effects)
    reached = content[1][0] if content else -1
    levels, deny = bound(effects, reached)
    assert row.version == reached
    assert row.acl == Acl(levels=levels, deny=deny)
    assert row.acl_missing_since == unknown_since(effects)
    if content is not None and not row.deleted:
        marked = frozenset({*(effects - {content}), (*content[:2], ("text",), *content[3:])})
        for who in READERS:
            assert admits(row.effective_acl, who) == bool(visible(marked, who))
