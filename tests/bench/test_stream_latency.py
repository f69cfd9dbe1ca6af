"""How long a live edit and a permission wait while a backfill fills the log, against a log that is empty."""

import random
import statistics
import time
from pathlib import Path

import pytest
from fleets import ALL_MAY, lines, measured_fleet, narrowing, upsert
from measuring import p99, summary

from upwell.records import Acl
from upwell.runtime.stream.topics import Line

pytestmark = [pytest.mark.bench, pytest.mark.timeout(2400)]

DOCUMENTS = 5000
EDITS = 100
EVERY_S = 0.4
PICTURE = Path("build/bench/lanes.png")
WORDS = [
    "pump",
    "valve",
    "line",
    "shift",
    "pressure",
    "filter",
    "gauge",
    "night",
    "order",
    "queue",
    "truck",
    "pallet",
    "log",
    "door",
    "river",
    "stone",
]


def page(number, edit=0):
    """A page of some chunks; an edit changes one paragraph."""
    rng = random.Random(number)
    paragraphs = [" ".join(rng.choices(WORDS, k=60)) + f" {number}-{part}." for part in range(6)]
    paragraphs[edit % 6] += f" Edit {edit}."
    return "\n\n".join([f"# Page {number}", *(f"## Part {n}\n\n{text}" for n, text in enumerate(paragraphs))]).encode()


def measured(fleet, first_version, backfill=()):
    """(live seconds, permission seconds, [(when, lane, seconds)]) of EDITS edits and as many permissions."""
    live, permissions = [], []
    waiting = set()
    for n in range(EDITS):
        edit = upsert(f"live-{n % 50}", first_version + n, page(100_000 + n % 50, edit=first_version + n))
        narrow = narrowing(
            f"live-{(n + 25) % 50}", first_version + n, Acl(levels=(frozenset({"everyone"}), frozenset({f"user:{n}"})))
        )
        fleet.send([edit, narrow])
        live.append(edit)
        permissions.append(narrow)
        waiting |= {edit.event_id, narrow.event_id}
        until = time.monotonic() + EVERY_S
        while time.monotonic() < until:
            fleet.hear(0.05)
    assert not backfill or not backfill <= fleet.ended.keys(), "the backfill ended before the measurement"
    fleet.wait(waiting, 300)
    return [took(fleet, e) for e in live], [took(fleet, e) for e in permissions]


def took(fleet, event):
    return (fleet.ended[event.event_id].at - event.received_at) / 1e6


def test_live_edits_and_permissions_do_not_wait_for_a_backfill(tmp_path, capsys):
    """Permissions: p99 from accepted to applied (later than effective) under 500 ms; edits: p99 at most twice the idle's."""
    with measured_fleet(tmp_path / "f", lines(Line.LIVE, Line.BACKFILL)) as fleet:
        pages = [upsert(f"live-{n}", 1, page(100_000 + n), acl=ALL_MAY) for n in range(50)]
        fleet.send(pages)
        fleet.wait({event.event_id for event in pages}, 120)
        idle, idle_permissions = measured(fleet, 10)
        begun = time.time()
        backfill = [upsert(f"old-{n}", 1, page(n), lane="backfill") for n in range(DOCUMENTS)]
        fleet.send(backfill)
        ids = {event.event_id for event in backfill}
        busy, busy_permissions = measured(fleet, 1000, ids)
        done = len(ids & fleet.ended.keys())
        spent = time.time() - begun
    with capsys.disabled():
        print()
        print(summary("idle, edit to searchable", idle))
        print(summary("backfill, edit to searchable", busy))
        print(summary("idle, permission", idle_permissions))
        print(summary("backfill, permission", busy_permissions))
        print(f"backfill meanwhile: {done} of {DOCUMENTS} documents in {spent:.0f} s")
        print(
            f"ratio of p99: {p99(busy) / p99(idle):.2f}; of medians {statistics.median(busy) / statistics.median(idle):.2f}"
        )
    draw(fleet.ended, begun)
    assert p99(busy_permissions) < 0.5
    assert p99(busy) <= 2 * p99(idle)
    assert done > 0


def draw(ended, begun):
    """Every event's time from accepted to applied, by when it was applied: both lanes and the permissions."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 5))
    kinds = {"backfill": [], "live edit": [], "permission": []}
    for end in ended.values():
        kind = "permission" if end.event.op == "acl" else "live edit" if end.event.lane == "live" else "backfill"
        kinds[kind].append((end.at / 1e6 - begun, (end.at - end.event.received_at) / 1e6))
    for kind, points in kinds.items():
        axes.plot(*zip(*points, strict=True), ".", markersize=3, label=kind)
    axes.axvline(0, color="grey", linewidth=1)
    axes.set_yscale("log")
    axes.set_xlabel("seconds since the backfill was sent")
    axes.set_ylabel("accepted to applied, seconds")
    axes.legend()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=120)
