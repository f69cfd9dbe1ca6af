"""The chaos run as CI has it: one seed with the full figures, and workers that sleep through a rebalance."""

import pytest
from chaos_run import Run, beside, chaos
from history import history
from rich.console import Console
from schedule import Blow, Planned

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1200)]

SLEEPERS = (
    Planned(0.05, Blow.SLEEP, "upsert-live-0"),
    Planned(0.15, Blow.TERMINATE, "upsert-live-1"),
    Planned(0.25, Blow.SLEEP, "parse-live-1"),
    Planned(0.40, Blow.SLEEP, "upsert-control-0"),
    Planned(0.50, Blow.TERMINATE, "embed-live-0"),
    Planned(0.60, Blow.SLEEP, "upsert-live-1"),
    Planned(0.70, Blow.SLEEP, "ledger-live-0"),
)


def told(verdict):
    """What pytest shows of a run that went wrong."""
    return "\n".join(verdict.wrong)


def test_nothing_is_lost_leaked_or_mixed_whatever_is_killed():
    """2,000 events over 300 documents, 40 kills, two broker restarts, a database that hangs: every law holds."""
    verdict = chaos(seed=1, kills=40, events=2000, documents=300, console=Console(stderr=True))
    assert verdict.good, told(verdict)


def test_a_worker_that_wakes_after_its_partitions_moved_changes_nothing(tmp_path):
    """Two workers a stage, and rebalances while both have work; the sleepers wake as members of no group."""
    past = history(7, 200, 40)
    with beside(past.events, tmp_path) as reference:
        run = Run(tmp_path, past, list(SLEEPERS), Console(stderr=True))
        verdict = run.go(7, reference)
    assert verdict.good, told(verdict)
    assert verdict.counts[Blow.SLEEP.value] == 5
