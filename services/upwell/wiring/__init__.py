"""The only place that constructs adapters: from settings to an open lake, or to one part of a distributed one.

    lake = connect(settings)          # what commands talk to: embedded, or the services when `brokers` is set

`embedded` puts one lake together in this process, `workers` and `distributed` the stages and what asks them, and
`opening` opens by URL what both have.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from upwell.answers import Check, FollowingLake, InitAnswer
from upwell.config import Settings
from upwell.embed import MINILM
from upwell.errors import Misconfigured
from upwell.reading import ReadableLake, ReadApi
from upwell.wiring.embedded import connect as _connect_embedded
from upwell.wiring.embedded import own as _own_embedded

if TYPE_CHECKING:
    from upwell.audit.records import AuditRecords
    from upwell.erase.certificate import Verifier
    from upwell.explain import Explainer
    from upwell.runtime.gateway.process import Gateway
    from upwell.runtime.serve.process import ReadServer
    from upwell.runtime.stream.topics import Line, Role

__all__ = [
    "audit",
    "certificate_verifier",
    "connect",
    "doctor",
    "explainer",
    "gateway",
    "init",
    "own",
    "read_server",
    "reading",
    "worker",
]


def connect(settings: Settings, *, role: str = "command", create: bool = True) -> ReadableLake:
    """The lake: the services', through its running owner, or opened here as its owner.

    Raises Misconfigured when it cannot be a lake, is another embedder's, or (without `create`) does not exist.
    """
    if settings.brokers is None:
        return _connect_embedded(settings, role=role, create=create)
    from upwell.wiring.distributed import lake

    return lake(settings)


def own(settings: Settings) -> FollowingLake:
    """The lake for `run`: as its owner, or the services' when `brokers` is set. Raises Misconfigured saying who holds
    it, when another does.
    """
    if settings.brokers is None:
        return _own_embedded(settings)
    from upwell.wiring.distributed import lake

    return lake(settings)


def init(settings: Settings) -> InitAnswer:
    """Make a distributed lake, or find it made: the registry's tables, the lake's identity, the collection.

    Raises Misconfigured when it was made with another embedder, Retryable while a part is away.
    """
    from upwell.wiring.distributed import init as made

    return made(settings)


def audit(settings: Settings) -> "AuditRecords":
    """The audit's records, to be read beside whoever writes them. Raises Misconfigured where there are none."""
    from upwell.audit.records import AuditRecords
    from upwell.wiring import opening

    tables = opening.audit_tables(settings)
    if tables is None:
        raise Misconfigured(f"no audit in {settings.lake}: nothing was done here yet, or its file was taken away")
    return AuditRecords(
        tables,
        verifier=opening.audit_verifier(settings),
        signer=opening.audit_signer(settings),
        all_signed=settings.brokers is None,
    )


def certificate_verifier(settings: Settings) -> "Verifier":
    """Verifies by the lake's own keys, newest and older. Raises Misconfigured where the lake has none."""
    from upwell.identity.own_key import LakeKey, signing_key_of

    return LakeKey(signing_key_of(settings)).verify


def gateway(settings: Settings) -> "Gateway":
    """The gateway of a distributed lake, not listening yet. Raises Misconfigured when `brokers` is not set."""
    if settings.brokers is None:
        raise Misconfigured("brokers is not set: `upwell run DIR --listen HOST:PORT` takes events in the embedded lake")
    from upwell.wiring.distributed import gateway as made

    return made(settings)


@contextmanager
def reading(settings: Settings) -> Iterator[ReadApi]:
    """What answers readers by the operator's word for who they are: an embedded lake is held only while it is asked.

    Raises Misconfigured for a lake that does not exist.
    """
    from upwell.runtime.borrowing import BorrowedReading

    if settings.brokers is None and not settings.lake.is_dir():
        raise Misconfigured(f"no lake at {settings.lake}: make one with `upwell ingest DIR`, or name it with --lake")
    lake = BorrowedReading(lambda: connect(settings, role="mcp", create=False))
    try:
        yield lake
    finally:
        lake.close()


def read_server(settings: Settings) -> "ReadServer":
    """What answers readers over HTTP and MCP, not listening yet: over the services, or over the embedded lake, which
    this process then owns. Raises Misconfigured saying who holds it, when another does.
    """
    if settings.brokers is None:
        from upwell.wiring.embedded import read_server as made
    else:
        from upwell.wiring.distributed import read_server as made
    return made(settings)


def worker(settings: Settings, role: "Role", line: "Line") -> int:
    """Be one worker of a distributed lake until it is told to stop; the exit status."""
    from upwell.wiring.workers import worker as work

    return work(settings, role, line)


def explainer(settings: Settings) -> "Explainer":
    """What shows how files would be parsed, chunked and prefixed; nothing is written. Raises Misconfigured for an
    embedder that there is not."""
    from upwell.embed import tokenizer_of
    from upwell.explain import Explainer
    from upwell.wiring import parsing

    embedder = settings.embedder or MINILM
    tokenizer_of(embedder)  # as the child will, which could not say what is wrong
    return Explainer(embedder, parsing.limits_of(settings), parsing.policy_of(settings))


def doctor(settings: Settings) -> list[Check]:
    """What is installed, what is missing and how to get it."""
    from upwell.runtime.checkup import checks
    from upwell.wiring import parsing

    needed = () if settings.brokers is None else ("distributed",)
    policy = parsing.policy_of(settings)
    found = checks(settings.lake, settings.embedder or MINILM, settings.models, policy, needed=needed)
    if not needed or any(check.name == "extra distributed" and check.state != "ok" for check in found):
        return found
    from upwell.wiring.distributed import doctor as asked

    return [*found, *asked(settings)]
