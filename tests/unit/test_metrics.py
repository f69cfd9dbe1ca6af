"""The list of metrics: well-formed names, closed labels, values that arrive at a scraper."""

import re
from pathlib import Path

import pytest
from prometheus_client import generate_latest

import upwell.metrics
from upwell.metrics import (
    CHUNKS,
    DEAD_LETTERS,
    LATENCY_BUCKETS,
    METRICS,
    SEARCH,
    STALENESS,
    Counter,
    Gauge,
    Histogram,
    Metrics,
    table,
)

LABELS = {
    "route", "status", "source", "lane", "line", "op", "outcome", "stage", "reason", "effect", "cause",
    "media_type", "parser",  # both from lists of our own: see runtime.parse_meter
}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_each_metric_is_well_formed(metric):
    """Prometheus' own conventions: a prefix, base units, `_total` for counters alone; and a meaning for people."""
    assert re.fullmatch(r"upwell_[a-z_]+", metric.name)
    assert metric.name.endswith("_total") == isinstance(metric, Counter)
    assert metric.name.endswith("_seconds") or not isinstance(metric, Histogram)
    assert metric.unit.startswith("seconds") == metric.name.removesuffix("_total").endswith("_seconds")
    assert metric.meaning.endswith(".")
    assert all(metric.labels.values())


def test_labels_are_a_closed_list():
    """A new label must be argued for here: tenants, documents, principals and queries never stand in one."""
    assert {label for metric in METRICS for label in metric.labels} == LABELS


def test_names_differ():
    """Two metrics of one name would be one."""
    assert len({metric.name for metric in METRICS}) == len(METRICS) >= 15


def test_each_metric_is_moved_by_the_code():
    """A metric that nothing counts would make an alert that never fires."""
    package = Path(upwell.metrics.__file__).parent
    code = "".join(p.read_text() for p in package.rglob("*.py") if p.name != "metrics.py")
    for name, value in vars(upwell.metrics).items():
        if isinstance(value, Counter | Gauge | Histogram):
            assert f"m.{name}" in code, name


def test_values_arrive():
    """What is counted, set and observed stands in the scrape, and two registries share nothing."""
    metrics, other = Metrics(), Metrics()
    metrics.count(CHUNKS, 3, effect="reused")
    metrics.count(DEAD_LETTERS, stage="parse", reason="corrupt")
    metrics.set(STALENESS, 12.5, source="handbook")
    metrics.observe(SEARCH, 0.021)
    scrape = generate_latest(metrics.registry).decode()
    assert 'upwell_chunks_total{effect="reused"} 3.0' in scrape
    assert 'upwell_dead_letters_total{reason="corrupt",stage="parse"} 1.0' in scrape
    assert 'upwell_source_staleness_seconds{source="handbook"} 12.5' in scrape
    assert 'upwell_search_seconds_bucket{le="0.025"} 1.0' in scrape
    assert 'upwell_search_seconds_bucket{le="0.01"} 0.0' in scrape
    assert "handbook" not in generate_latest(other.registry).decode()


def test_every_metric_is_scraped_with_its_meaning():
    """The registry holds the whole list, so that a dashboard finds a metric before its first value."""
    scrape = generate_latest(Metrics().registry).decode()
    for metric in METRICS:
        assert f"# HELP {metric.name} {metric.meaning}" in scrape


def test_wrong_labels_are_refused():
    """A label too many, too few or unknown is an error at the call, not a new series."""
    metrics = Metrics()
    for labels in ({}, {"tenant": "acme"}, {"effect": "kept", "source": "x"}):
        with pytest.raises(ValueError, match="label"):
            metrics.count(CHUNKS, 1, **labels)


def test_buckets_hold_the_objectives():
    """One second (edits, revocations) is a bound, so that a share below it can be read off."""
    assert list(LATENCY_BUCKETS) == sorted(LATENCY_BUCKETS)
    assert {1, 5, 60} <= set(LATENCY_BUCKETS)


def test_table_has_a_row_a_metric():
    """The documentation's table names all of them."""
    rows = [line for line in table().splitlines() if line.startswith("|")]
    assert len(rows) == len(METRICS) + 2
    assert all(f"| `{metric.name}` |" in row for metric, row in zip(METRICS, rows[2:], strict=True))
    assert any("| gauge |" in row for row in rows) == any(isinstance(metric, Gauge) for metric in METRICS)


def test_the_page_of_metrics_is_current():
    """Run `make docs` after changing the list."""
    page = Path(__file__).parents[2] / "docs" / "metrics.md"
    assert page.read_text(encoding="utf-8") == table()
