"""What `doctor` asks the parts of a distributed lake: does each answer, and is it as the settings have it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Protocol

from upwell.answers import Check, TopicMismatch
from upwell.errors import Misconfigured, Retryable, UpwellError
from upwell.ports import Blobs, Store
from upwell.records import DocKey, Record
from upwell.runtime.stream import topics

PROBE = DocKey(tenant="upwell", source="doctor", doc_id="-")
"""The document whose blob is written, read and removed."""


class Topics(Protocol):
    """`admin.TopicAdmin`, as far as it is asked here."""

    def found(self) -> Mapping[str, object]: ...

    def check(self) -> tuple[TopicMismatch, ...]: ...


class Probe(Record, frozen=True, kw_only=True):
    """One question to one part. `ask` says what was found, in a line, or raises; `remedy` is what to do then."""

    name: str
    ask: Callable[[], str]
    remedy: str


def probes(
    brokers: str, admin: Topics, *, registry: Callable[[], str], store: Callable[[], Store], blobs: Callable[[], Blobs]
) -> tuple[Probe, ...]:
    """The questions in the order in which their answers matter. `registry` opens it, brings its tables forward, and
    says what lake is in it; `store` opens the collection, which asks the server for its version.
    """
    return (
        Probe(name="brokers", ask=lambda: _brokers(brokers, admin), remedy="see the setting brokers: does Kafka run?"),
        Probe(name="topics", ask=lambda: _topics(admin), remedy="upwell topics create makes what is missing"),
        Probe(name="registry", ask=registry, remedy="see the setting registry, then run upwell init"),
        Probe(name="store", ask=lambda: _store(store), remedy="see the settings store and store_api_key"),
        Probe(name="blobs", ask=lambda: _blobs(blobs), remedy="see the settings blobs and blob_options"),
    )


def asked(questions: Sequence[Probe]) -> Iterator[Check]:
    """Every part's answer; one that does not answer keeps no other from being asked."""
    for probe in questions:
        try:
            yield Check(name=probe.name, state="ok", detail=probe.ask())
        except UpwellError as e:
            yield Check(name=probe.name, state="wrong", detail=str(e), remedy=probe.remedy)


def _brokers(brokers: str, admin: Topics) -> str:
    return f"{brokers}: {len(admin.found())} of {len(topics.ALL)} topics"


def _topics(admin: Topics) -> str:
    wrong = admin.check()
    if not wrong:
        return "as the settings have them"
    first = wrong[0]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    raise Misconfigured(f"{first.topic}: {first.what} is {first.found}, wanted {first.wanted}{more}")


def _store(store: Callable[[], Store]) -> str:
    with closing(store()) as opened:
        return f"{opened.count():,} points"


def _blobs(blobs: Callable[[], Blobs]) -> str:
    with closing(blobs()) as opened:
        ref = opened.put(PROBE, b"upwell doctor", 0)
        same = opened.get(ref) == b"upwell doctor"
        opened.forget(PROBE)
    if not same:
        raise Retryable("what was written is not what is read")
    return "written, read and removed"
