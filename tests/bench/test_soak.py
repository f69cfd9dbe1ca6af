"""The soak: a steady flow through both lanes, and every worker's memory along the way (`make soak MINUTES=20`).

A worker is flat when its median of the last quarter is at most LIMIT above that of the second (the first warms up).
"""

import os
import time
from statistics import median

import psutil
import pytest
from fleets import lines, measured_fleet, upsert
from rich.console import Console
from rich.table import Table
from test_stream_latency import page

from upwell.runtime.stream.topics import Line

pytestmark = [pytest.mark.bench, pytest.mark.timeout(7200)]

MINUTES = float(os.environ.get("UPWELL_SOAK_MINUTES", "2"))
LIMIT = 1.1
SLACK_MB = 8.0
EVERY_S = 0.5
SAMPLE_S = 10.0
DOCUMENTS = 400


def memory_mb(process) -> float:
    """Of a worker and its children, shared pages counted once."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            total += one.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 1e6


def test_the_memory_of_every_worker_stays_flat(tmp_path, capsys):
    samples: dict[str, list[float]] = {}
    with measured_fleet(tmp_path / "f", lines(Line.LIVE, Line.BACKFILL)) as fleet:
        sent = flow(fleet, samples)
        ended = [worker.name for worker in fleet.fleet.workers if worker.ends]
        fleet.wait(sent, 300)
    table = Table("worker", "1st quarter, MB", "2nd", "3rd", "4th", title=f"{len(sent)} documents, {MINUTES:g} minutes")
    for name, of_worker in samples.items():
        table.add_row(name, *(f"{mb:.0f}" for mb in quarters(of_worker)))
    with capsys.disabled():
        Console().print(table)
    assert not ended, f"{ended} ended on the way"
    assert not [name for name, of_worker in samples.items() if not flat(quarters(of_worker))]


def flow(fleet, samples) -> set[str]:
    """Send for MINUTES, at a steady pace; the events' ids. Adds to `samples` (worker -> MB) along the way."""
    end = time.monotonic() + 60 * MINUTES
    due, number, sent = time.monotonic() + SAMPLE_S, 0, set()
    while time.monotonic() < end:
        number += 1
        document = number % DOCUMENTS
        batch = [
            upsert(f"{lane}-{document}", 10 + number, page(document, edit=number), lane=lane)
            for lane in ("live", "backfill")
        ]
        fleet.send(batch)
        sent |= {event.event_id for event in batch}
        until = time.monotonic() + EVERY_S
        while time.monotonic() < until:
            fleet.hear(0.1)
        if time.monotonic() >= due:
            due = time.monotonic() + SAMPLE_S
            for worker in fleet.fleet.workers:
                samples.setdefault(worker.name, []).append(memory_mb(psutil.Process(worker.process.pid)))
    return sent


def quarters(samples: list[float]) -> list[float]:
    """The median of each quarter."""
    size = max(1, len(samples) // 4)
    return [median(samples[start : start + size]) for start in range(0, 4 * size, size)]


def flat(medians: list[float]) -> bool:
    return medians[3] <= max(LIMIT * medians[1], medians[1] + SLACK_MB)
