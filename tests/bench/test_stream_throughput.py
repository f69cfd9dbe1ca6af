"""How fast documents go through the workers: everything but the model, and the model's share. Broker, database, store
and every worker are on this machine's cores together.
"""

import os
import time

import pytest
from fleets import lines, measured_fleet, upsert
from test_throughput import passages

from upwell.embed import embedder_of
from upwell.runtime.stream.topics import Line, Role

pytestmark = [pytest.mark.bench, pytest.mark.timeout(2400)]

COPIES = int(os.environ.get("UPWELL_BENCH_COPIES", "3"))


def events_of(folder, copies, lane="live"):
    """Each document `copies` times, no two chunks alike: a title of its own stands in every chunk's prefix."""
    return [
        upsert(f"{copy}/{path.relative_to(folder)}", 1, titled(copy, path), lane=lane)
        for copy in range(copies)
        for path in sorted(folder.rglob("*.md"))
    ]


def titled(copy, path):
    return f"# Copy {copy}\n\n".encode() + path.read_bytes()


def through(fleet, events):
    """(chunks, seconds) of these documents, from the first accepted to the last applied."""
    begun = time.perf_counter()
    fleet.send(events)
    ended = fleet.wait({event.event_id for event in events}, 1800)
    seconds = time.perf_counter() - begun
    assert all(end.fate.outcome == "applied" for end in ended.values())
    return sum(end.embedded + end.reused + end.kept for end in ended.values()), seconds


def test_the_hash_embedder_gets_through_kafka_at_250_chunks_a_second(otel_start, tmp_path, capsys):
    with measured_fleet(tmp_path / "f", lines(Line.LIVE, upserts=4)) as fleet:
        chunks, seconds = through(fleet, events_of(otel_start, COPIES))
    with capsys.disabled():
        print(f"\nthrough Kafka, hash: {chunks} chunks in {seconds:.1f} s, {chunks / seconds:.0f} chunks/s")
    assert chunks / seconds >= 250


def test_wall_time_through_kafka_is_at_most_1_25_of_the_pure_model_time(otel_start, tmp_path, capsys):
    """Two embed processes of one thread each: one computes while the other sends."""
    fleet_lines = [*lines(Line.LIVE, upserts=2), (Role.EMBED, Line.LIVE)]
    with measured_fleet(tmp_path / "f", fleet_lines, embedder="minilm", threads="1") as fleet:
        chunks, seconds = through(fleet, events_of(otel_start, 1))
    embedder = embedder_of("minilm")
    same = tmp_path / "same"
    for path in otel_start.rglob("*.md"):
        (same / path.relative_to(otel_start)).parent.mkdir(parents=True, exist_ok=True)
        (same / path.relative_to(otel_start)).write_bytes(titled(0, path))
    documents = passages(same, embedder.fingerprint)
    embedder.embed(documents[0])
    start = time.perf_counter()
    for texts in documents:
        embedder.embed(texts)
    pure = time.perf_counter() - start
    with capsys.disabled():
        print(
            f"\nthrough Kafka, minilm: {chunks} chunks, wall {seconds:.1f} s, pure {pure:.1f} s, {seconds / pure:.3f}"
        )
    assert seconds <= 1.25 * pure
