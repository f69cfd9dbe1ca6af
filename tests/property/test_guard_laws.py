"""The law of the guard: whatever stage, reject and log raise, in whatever order, each record ends in outputs, in dead
letters, or unacknowledged; and after an unacknowledged one nothing of its session is acknowledged."""

import asyncio
import logging

from hypothesis import given, settings
from hypothesis import strategies as st

from guarding import COPIED, FAILED, World, taken
from upwell.runtime.stream import topics

NAMES = st.sampled_from([None, "retry", "reject", "defect", "exit"])
ANY = st.one_of(NAMES, st.just("misconfigured"))
SENDS = ANY.filter(lambda name: name != "exit")  # a coroutine that raises SystemExit ends the loop, as it should
VALUES = st.sampled_from([b"", b"", b"", b"\xff", None])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(VALUES, min_size=1, max_size=5),
    st.lists(ANY, max_size=15),
    st.lists(ANY, max_size=8),
    st.lists(SENDS, max_size=15),
)
def test_each_record_ends_or_is_not_acknowledged(values, handle, reject, send):
    """`done` is said only of tombstones and of records that led to something acknowledged; nothing else escapes."""
    logging.getLogger("upwell").setLevel(logging.CRITICAL)

    async def run():
        world = World(handle=handle, reject=reject, send=send)
        refused = False
        try:
            for n, value in enumerate(values):
                before = len(world.sent)
                done = await asyncio.wait_for(world.guard(taken(n, value=value)), 10)
                led_to = [sent.topic for sent in world.sent[before:]]
                assert not (done and refused)
                if not done:
                    refused = True
                elif value is None:
                    assert led_to == []
                else:
                    assert led_to in ([COPIED], [FAILED], [topics.DEAD])
                    assert value == b"" or led_to == [topics.DEAD]
            assert refused == bool(world.ended)
        finally:
            world.hand.close()

    asyncio.run(run())
