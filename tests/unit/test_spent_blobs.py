"""A message that went by the blob store leaves it once its event has ended, and not before."""

import asyncio
import logging

import pytest

from guarding import FAILED, World
from stream_samples import event, memory_blobs, messages
from upwell.errors import Rejected
from upwell.messages import Change, Embedded
from upwell.records import BlobRef
from upwell.runtime.stream import codec, topics
from upwell.runtime.stream.envelope import Taken, Wire

CHANGES = topics.laned("changes", "live")


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL, logger="upwell")


def large(topic, message, blobs):
    """A record whose message lies in a blob, and the blob's name."""
    value, headers = codec.encode(message, limit_bytes=1, blobs=blobs)
    record = Taken(
        topic=topic, partition=0, offset=0, key=topics.key_of(message.event.key), value=value, headers=headers
    )
    ref = codec.blob_of(value, headers)
    assert isinstance(ref, BlobRef)
    return record, ref


def is_there(blobs, ref):
    try:
        return bool(blobs.get(ref))
    except Rejected:
        return False


def embedded():
    return next(message for message in messages() if isinstance(message, Embedded))


@pytest.mark.parametrize(
    ("told", "spent"), [({}, True), ({"handle": ["reject"]}, False), ({"handle": ["misconfigured"]}, False)]
)
def test_the_blob_goes_when_all_it_led_to_is_acknowledged(told, spent):
    """What was given up or let go may be delivered again, or be looked at."""

    async def run():
        world = World(**told)
        blobs = world.blobs
        record, ref = large(FAILED, embedded(), blobs)
        try:
            await asyncio.wait_for(world.guard(record), 10)
        finally:
            world.hand.close()
        assert is_there(blobs, ref) is not spent

    asyncio.run(run())


def test_only_what_upsert_takes_is_removed():
    """Another consumer, the ledger, reads the same record of `changes`."""
    blobs = memory_blobs()
    wire = Wire(blobs, 1_000_000, lambda: 5)
    record, ref = large(CHANGES, Change(event=event()), blobs)
    assert wire.spend(record) is None
    assert is_there(blobs, ref)
