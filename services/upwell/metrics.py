"""Every metric of the product, in one list: what it is called, in which unit, what it means, by what it is split.

    metrics = Metrics()                                     # its own registry: nothing global, nothing at import
    metrics.observe(SEARCH, 0.021)
    metrics.count(CHUNKS, 3, effect="reused")
    metrics.set(STALENESS, 12.5, source="handbook")

Whoever may scrape learns no more than an operator's dashboard shows: no label ever holds a tenant, a document, a
principal, a query or a word of either. `source` is the source's configured name; where two tenants have a source of one
name, counters add up and gauges show the tenant who is worse off (the caller's duty).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from upwell.records import Record

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# Seconds: from a search's milliseconds to a backfill's hour. Objectives stand on bounds: 1 s, 5 s, 60 s.
LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600)


class Counter(Record, frozen=True, kw_only=True):
    """Only grows; its name ends in `_total`."""

    name: str
    unit: str
    meaning: str
    labels: dict[str, str] = {}


class Gauge(Record, frozen=True, kw_only=True):
    """The value now."""

    name: str
    unit: str
    meaning: str
    labels: dict[str, str] = {}


class Histogram(Record, frozen=True, kw_only=True):
    """A distribution over LATENCY_BUCKETS; its unit is seconds."""

    name: str
    meaning: str
    labels: dict[str, str] = {}
    unit: str = "seconds"


Metric = Counter | Gauge | Histogram

_SOURCE = "the source's name"
_LANE = "live or backfill"
_READ_ROUTE = "search, context, fetch, outline, related, changes, list_sources or freshness; for MCP mcp, mcp.search …"
_TYPE = "the true media type; code, image or other"
_PARSER = "the parser's name, none where none came to read"
_WORKER = "parse, chunk, prefix, embed, upsert or ledger"
_LINE = "live, backfill or control"
_STAGE = "embedded: prepare or publish; distributed: parse, chunk, prefix, embed, or upsert (control events too)"

# --- Events: each accepted one ends in exactly one way (L5), so accepted = ended + pending.

EVENTS_ACCEPTED = Counter(
    name="upwell_events_accepted_total",
    unit="events",
    meaning="Events accepted: durable in the log, or answered 202.",
    labels={"source": _SOURCE, "lane": _LANE, "op": "upsert, delete, erase or acl"},
)
EVENTS_ENDED = Counter(
    name="upwell_events_ended_total",
    unit="events",
    meaning="Events that ended, and how.",
    labels={"source": _SOURCE, "lane": _LANE, "outcome": "applied, superseded or dead"},
)
EVENTS_PENDING = Gauge(
    name="upwell_events_pending",
    unit="events",
    meaning="Events accepted and not yet ended.",
    labels={"source": _SOURCE},
)
EVENTS_OLDEST = Gauge(
    name="upwell_events_oldest_pending_seconds",
    unit="seconds",
    meaning="How long the oldest event that has not ended has waited.",
    labels={"source": _SOURCE},
)
DEAD_LETTERS = Counter(
    name="upwell_dead_letters_total",
    unit="events",
    meaning="Events refused for good, and why. They wait in `upwell dead list`.",
    labels={"stage": "scan, parse or process; distributed: the stage", "reason": "a code of upwell.errors.Reason"},
)
RETRIES = Counter(
    name="upwell_retries_total",
    unit="attempts",
    meaning="Attempts that failed for a reason that is not the input's, and will be made again.",
    labels={"source": _SOURCE, "lane": _LANE},
)

# --- Gateway.

GATEWAY_REQUESTS = Counter(
    name="upwell_gateway_requests_total",
    unit="requests",
    meaning="Requests that the gateway answered, and how.",
    labels={"route": "events, hooks or principals", "status": "the HTTP status"},
)
HOOK_IGNORED = Counter(
    name="upwell_hook_records_ignored_total",
    unit="records",
    meaning="Records of genuine hooks that change no document of the source.",
    labels={"source": _SOURCE},
)

# --- Freshness: the promises, measured from accepted.

EVENT_TO_SEARCHABLE = Histogram(
    name="upwell_event_to_searchable_seconds",
    meaning="From an upsert accepted to its content being what a search finds.",
    labels={"source": _SOURCE, "lane": _LANE},
)
REVOCATION = Histogram(
    name="upwell_revocation_seconds",
    meaning="From a narrowing, a delete or an erasure accepted to no search showing the hit any more.",
    labels={"source": _SOURCE, "lane": _LANE},
)
WATERMARK = Gauge(
    name="upwell_source_watermark_timestamp_seconds",
    unit="seconds since 1970",
    meaning="Everything the source changed up to then is searchable.",
    labels={"source": _SOURCE},
)
STALENESS = Gauge(
    name="upwell_source_staleness_seconds",
    unit="seconds",
    meaning="Now minus the watermark, as of the last look at the source.",
    labels={"source": _SOURCE},
)

# --- Permissions that a source cannot confirm.

ACL_MISSING = Gauge(
    name="upwell_acl_missing_documents",
    unit="documents",
    meaning="Documents of which the source cannot say who may read: the last known permission holds.",
    labels={"source": _SOURCE},
)
ACL_HIDDEN = Gauge(
    name="upwell_acl_hidden_documents",
    unit="documents",
    meaning="Those of them whose last known permission is too old: hidden from everybody.",
    labels={"source": _SOURCE},
)

# --- Audit.

AUDIT_OWED = Gauge(
    name="upwell_audit_owed",
    unit="acts",
    meaning="What was published, and memberships that were told, that are not in the audit yet.",
)

# --- Work: what an edit costs.

STAGE = Histogram(
    name="upwell_stage_seconds",
    meaning="Wall time of one document in one stage.",
    labels={"stage": _STAGE},
)
PARSE = Histogram(
    name="upwell_parse_seconds",
    meaning="Wall time of one document in its parser's process, parts included (embedded: chunked and prefixed too).",
    labels={"media_type": _TYPE, "parser": _PARSER},
)
PARSED = Counter(
    name="upwell_parsed_documents_total",
    unit="documents",
    meaning="Documents and parts of documents that were parsed, and how that ended.",
    labels={
        "status": "ok, empty, encrypted, corrupt, needs_ocr, too_large, unsupported or timed_out",
        "media_type": _TYPE,
    },
)
ARBITRATIONS = Counter(
    name="upwell_parse_arbitrations_total",
    unit="documents",
    meaning="Documents whose reading was weighed, and read again where it was in doubt, by the parser that was kept.",
    labels={"media_type": _TYPE, "parser": _PARSER},
)
CHUNKS = Counter(
    name="upwell_chunks_total",
    unit="chunks",
    meaning="What publishing did: the point stayed, its vectors came from the lake, the model ran, it left.",
    labels={"effect": "kept, reused, embedded or removed"},
)
TOKENS_EMBEDDED = Counter(
    name="upwell_tokens_embedded_total",
    unit="tokens",
    meaning="Tokens that the embedding model read in passages.",
)

# --- Workers of the distributed lake, each of one stage and line. Their lag is the broker's to count, too.

WORKER_MESSAGES = Counter(
    name="upwell_worker_messages_total",
    unit="messages",
    meaning="Messages that a worker ended. What was let go is unacknowledged and comes again.",
    labels={"stage": _WORKER, "line": _LINE, "outcome": "done, dead, skipped (tombstones) or let_go"},
)
WORKER_SECONDS = Histogram(
    name="upwell_worker_message_seconds",
    meaning="From a message taken to all that it led to acknowledged by the broker.",
    labels={"stage": _WORKER, "line": _LINE},
)
WORKER_RETRIES = Counter(
    name="upwell_worker_retries_total",
    unit="attempts",
    meaning="Attempts at a message or at sending its outputs that failed and were made again in place.",
    labels={"stage": _WORKER, "line": _LINE},
)
WORKER_GAVE_WAY = Counter(
    name="upwell_worker_gave_way_seconds_total",
    unit="seconds",
    meaning="Time in which a backfill's worker waited with its next message, since live work was under way.",
    labels={"stage": _WORKER, "line": _LINE},
)
WORKER_IN_HAND = Gauge(
    name="upwell_worker_in_hand",
    unit="messages",
    meaning="Messages in hand: 0 or 1.",
    labels={"stage": _WORKER, "line": _LINE},
)
WORKER_LAG = Gauge(
    name="upwell_worker_lag",
    unit="messages",
    meaning="Messages known to wait in the partitions that the worker has.",
    labels={"stage": _WORKER, "line": _LINE},
)
WORKER_PARTITIONS = Gauge(
    name="upwell_worker_partitions",
    unit="partitions",
    meaning="Partitions that the worker has.",
    labels={"stage": _WORKER, "line": _LINE},
)
WORKER_BREAKER = Gauge(
    name="upwell_worker_breaker_open",
    unit="boolean",
    meaning="1: the worker stops, since too many of its last messages were dead letters.",
    labels={"stage": _WORKER, "line": _LINE},
)

# --- Search.

SEARCH = Histogram(name="upwell_search_seconds", meaning="Time of one search, the query's embedding included.")
READ_REQUESTS = Counter(
    name="upwell_read_requests_total",
    unit="requests",
    meaning="Questions that the read side answered over HTTP and MCP, and how.",
    labels={"route": _READ_ROUTE, "status": "the HTTP status"},
)
READ_SECONDS = Histogram(
    name="upwell_read_seconds",
    meaning="From a question's arrival over HTTP or MCP to its answer.",
    labels={"route": _READ_ROUTE},
)
SEARCH_FAILURES = Counter(
    name="upwell_search_failures_total",
    unit="searches",
    meaning="Searches that ended in an error.",
)
RECHECK_REFUSALS = Counter(
    name="upwell_recheck_refusals_total",
    unit="hits",
    meaning="Hits of the vector store that the registry refused: they would have leaked or misled.",
    labels={"cause": "acl or superseded"},
)

METRICS: tuple[Metric, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""All of them, in the order of this file."""


class Metrics:
    """The live values of METRICS in a Prometheus registry. Every method is safe from several threads.

    A label that the metric does not have, or lacks, is a ValueError.
    """

    def __init__(self) -> None:
        import prometheus_client as vendor  # noqa: PLC0415 (90 ms that a one-shot command need not pay)

        self.registry: CollectorRegistry = vendor.CollectorRegistry()
        self._counters: dict[str, Any] = {}
        self._gauges: dict[str, Any] = {}
        self._histograms: dict[str, Any] = {}
        for metric in METRICS:
            about = (metric.name, metric.meaning, tuple(metric.labels))
            match metric:
                case Counter():
                    self._counters[metric.name] = vendor.Counter(*about, registry=self.registry)
                case Gauge():
                    self._gauges[metric.name] = vendor.Gauge(*about, registry=self.registry)
                case Histogram():
                    self._histograms[metric.name] = vendor.Histogram(
                        *about, registry=self.registry, buckets=LATENCY_BUCKETS
                    )

    def count(self, metric: Counter, amount: float = 1, **labels: str) -> None:
        """Add `amount` (never negative)."""
        _labelled(self._counters[metric.name], labels).inc(amount)

    def set(self, metric: Gauge, value: float, **labels: str) -> None:
        """Replace the value."""
        _labelled(self._gauges[metric.name], labels).set(value)

    def observe(self, metric: Histogram, seconds: float, **labels: str) -> None:
        """Add one observation."""
        _labelled(self._histograms[metric.name], labels).observe(seconds)


def table() -> str:
    """All metrics as a page of Markdown, for the documentation."""
    head = "# Metrics\n\nGenerated from `upwell.metrics` by `make docs`; a test keeps it current.\n"
    return "\n".join([head, "| metric | kind | unit | labels | meaning |", "|---|---|---|---|---|", *_rows()]) + "\n"


def _rows() -> Iterator[str]:
    for metric in METRICS:
        labels = "; ".join(f"`{name}`: {meaning}" for name, meaning in metric.labels.items())
        kind = type(metric).__name__.lower()
        yield f"| `{metric.name}` | {kind} | {metric.unit} | {labels} | {metric.meaning} |"


def _labelled(collector: Any, labels: dict[str, str]) -> Any:
    return collector.labels(**labels) if labels else collector


if __name__ == "__main__":
    print(table(), end="")
