"""What came of it: every event counted by id, three ways, and the lake held against the embedded one."""

from collections import Counter, defaultdict
from contextlib import closing, suppress
from dataclasses import dataclass, field

import psycopg
import sqlalchemy as sa
from ending import differences
from history import MARK
from kafka import KafkaConsumer, TopicPartition
from rich.table import Table

from upwell.audit.schema import AUDIT
from upwell.audit.verify import verify
from upwell.database import transaction
from upwell.errors import Rejected
from upwell.lake.outbox import origin_of
from upwell.records import Outcome
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import decode

READ_S = 30_000
EMBEDDED_FACTOR, EMBEDDED_SLACK = 1.5, 100
"""How much more than the embedded lake the workers may embed: what several versions of one document raced for."""


@dataclass
class Verdict:
    """Counts, and lines that each say what is wrong."""

    counts: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def good(self):
        return not self.wrong

    def expect(self, name, lines):
        """There should be no such lines."""
        lines = list(lines)
        self.counts[name] = len(lines)
        self.wrong += [f"{name}: {line}" for line in lines[:10]]
        if len(lines) > 10:
            self.wrong.append(f"{name}: and {len(lines) - 10} more")

    def table(self, title):
        table = Table("what", "count", title=title)
        table.columns[1].justify = "right"
        for name, count in self.counts.items():
            table.add_row(name, str(count))
        return table


class Log:
    """The `applied` and `dead` topics, read from their beginning."""

    def __init__(self, brokers, blobs):
        self.ended = defaultdict(list)
        self.dead = defaultdict(list)
        self.buried = defaultdict(int)
        for topic in (topics.APPLIED, topics.DEAD):
            for record in _records(brokers, topic):
                if record.value is None:
                    continue
                headers = [(name, value or b"") for name, value in record.headers]
                with suppress(Rejected):
                    self._note(decode(record.value, headers, topic, key=record.key, blobs=blobs), topic)

    def _note(self, message, topic):
        if topic == topics.APPLIED:
            self.ended[message.event.event_id].append(message)
        elif message.event is not None:
            self.dead[message.event.event_id].append(message)
        elif message.origin is not None:
            self.buried[message.origin.topic, message.origin.partition, message.origin.offset] += 1


def _records(brokers, topic):
    consumer = KafkaConsumer(
        bootstrap_servers=brokers, enable_auto_commit=False, consumer_timeout_ms=READ_S, auto_offset_reset="earliest"
    )
    with closing(consumer):
        places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        consumer.seek_to_beginning()
        while any(consumer.position(place) < ends[place] for place in places):
            for batch in consumer.poll(timeout_ms=1000).values():
                yield from batch


def ledger(url):
    """event_id -> outcome (None: not ended), as the ledger has it."""
    with psycopg.connect(url) as connection:
        return dict(connection.execute("SELECT event_id, outcome FROM events").fetchall())


def check_events(verdict, history, poisoned, log, kept):
    """Every event ended, by the ledger and by the topics, alike; every poison is a dead letter."""
    ids = [event.event_id for event in history.events]
    verdict.counts |= {"sent": len(history.sent), "events": len(ids)}
    for outcome in Outcome:
        verdict.counts[str(outcome)] = sum(kept.get(one) == outcome for one in ids)
    verdict.expect("missing in the ledger", (one for one in ids if kept.get(one) is None))
    verdict.expect("missing in the topic", (one for one in ids if one not in log.ended))
    verdict.expect("unknown", (one for one in kept if one not in set(ids)))
    said = {one: {str(ended.fate.outcome) for ended in log.ended[one]} for one in ids if one in log.ended}
    verdict.expect(
        "ledger and topic disagree",
        (
            f"{one}: {kept.get(one)} in the ledger, {sorted(said[one])} said"
            for one in said
            if kept.get(one) not in said[one]
        ),
    )
    verdict.counts["ended in two ways"] = sum(len(outcomes) > 1 for outcomes in said.values())
    verdict.counts["told twice"] = sum(len(ended) > 1 for ended in log.ended.values())
    verdict.expect(
        "dead without fault",
        (
            f"{one}: {log.ended[one][-1].fate.reason}"
            for one in ids
            if kept.get(one) == "dead" and one not in history.broken
        ),
    )
    verdict.expect("dead without letter", (one for one in ids if kept.get(one) == "dead" and one not in log.dead))
    verdict.counts["poison"] = len(poisoned)
    verdict.expect("poison without letter", (str(place) for place in poisoned if place not in log.buried))
    verdict.expect("buried without poison", (str(place) for place in log.buried if place not in set(poisoned)))


def check_lake(verdict, ending, reference, said):
    """L1, and that the texts are those that the history wrote."""
    verdict.counts["documents"] = len(ending.documents)
    verdict.counts["points"] = ending.points
    verdict.expect("unlike the embedded lake", differences(ending, reference.ending))
    verdict.expect("missing points", ending.missing_points)
    verdict.expect("orphans", ending.orphans)
    verdict.expect("points with another's rights", ending.stale_copies)
    verdict.expect("other words than were written", _misquoted(ending, said))


def _misquoted(ending, said):
    for key, (row, chunks) in ending.documents.items():
        marks = {mark for _, text, *_ in chunks for mark in MARK.findall(text or "")}
        wanted = said.get(key, {}).get(row.version, frozenset()) if not row.deleted else frozenset()
        if marks != wanted:
            yield f"{key.doc_id} at version {row.version}: {sorted(marks ^ wanted)[:5]}"


def check_audit(verdict, registry, tables):
    """Chains verify, and every act that the registry remembers has exactly one record. Nothing is owed any more."""
    verdict.expect("audit chains that do not verify", (f"{one.writer}: {one.bad}" for one in verify(tables) if one.bad))
    with transaction(tables.engine, "audit", read_only=True) as connection:
        written = connection.execute(sa.select(AUDIT.c.origin, AUDIT.c.body).where(AUDIT.c.origin.is_not(None))).all()
    verdict.counts["acts audited"] = len(written)
    origins = {origin for origin, _ in written}
    lines = [line for row in registry.rows() for line in registry.history(row.key)]
    verdict.counts["acts remembered"] = len(lines)
    verdict.expect("acts without a record", (str(line.event_id) for line in lines if origin_of(line) not in origins))
    twice = Counter(body for _, body in written)
    verdict.expect("acts with two records", (body for body, count in twice.items() if count > 1))


def check_costs(verdict, log, reference):
    """L6: nothing is embedded much oftener than in the embedded lake."""
    embedded = sum(max(ended.embedded for ended in ends) for ends in log.ended.values())
    verdict.counts["embedded"] = embedded
    verdict.counts["embedded by the reference"] = reference.embedded
    most = EMBEDDED_FACTOR * reference.embedded + EMBEDDED_SLACK
    verdict.expect("embedded too often", [f"{embedded} chunks; at most {most:.0f}"] if embedded > most else [])


def check_watch(verdict, seen):
    """L2 to L4, as the readers saw them."""
    verdict.counts |= {"searches": seen.searches, "searches while away": seen.away, "hits": seen.hits}
    verdict.expect("leaked", seen.leaks)
    verdict.expect("mixed versions", seen.mixed)
    verdict.expect("revived", seen.revived)
