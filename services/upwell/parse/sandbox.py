"""Parsing that no document can harm: in confined children, the whole preparation (embedded) or the parse alone."""

from pathlib import Path

import msgspec

from upwell.child import ChildTimedOut
from upwell.parse.confine import Confinement
from upwell.parse.explanation import unparsed
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import DEFAULT_POLICY, ParsePolicy
from upwell.parse.pool import ChildPool
from upwell.parse.prepare import failed
from upwell.parse.sandbox_child import Request
from upwell.records import JSON_ENCODER, ParsedDocument, ParseStatus, PreparedDocument

RECYCLE_AFTER = 1000
PREPARED = msgspec.msgpack.Decoder(PreparedDocument)
PARSED = msgspec.msgpack.Decoder(ParsedDocument)


class SandboxPreparer:
    """`ports.Preparer` on a pool of `workers` children."""

    def __init__(
        self,
        embedder: str,
        fingerprint: str,
        *,
        workers: int = 2,
        limits: Limits = DEFAULT_LIMITS,
        policy: ParsePolicy = DEFAULT_POLICY,
        recycle_after: int = RECYCLE_AFTER,
    ) -> None:
        self._limits = limits
        self.pool = ChildPool(
            embedder, fingerprint, workers=workers, limits=limits, policy=policy, recycle_after=recycle_after
        )

    def prepare(self, content: bytes | Path, name: str, media_type: str | None = None) -> PreparedDocument:
        """Everything of a version but its vectors, or the status that says why not.

        Raises Rejected (`parser_crashed`, `unreadable`) and Retryable (no child could be started, the file is gone).
        """
        try:
            return PREPARED.decode(self.pool.ask(_request("prepare", content, name, media_type)))
        except ChildTimedOut:
            return failed(ParseStatus.TIMED_OUT, _late(self._limits))

    def explain(self, content: bytes | Path, name: str, media_type: str | None = None) -> bytes:
        """The same as JSON of what was parsed and chunked (`explanation`). Raises as `prepare` does."""
        try:
            return self.pool.ask(_request("explain", content, name, media_type))
        except ChildTimedOut:
            reason = _late(self._limits)
            return JSON_ENCODER.encode(unparsed(ParsedDocument(status=ParseStatus.TIMED_OUT, reason=reason)))

    def strength(self) -> Confinement:
        """What confines a child on this system, as a child found it."""
        return msgspec.msgpack.decode(self.pool.ask(Request(op="strength")), type=Confinement)

    def warm(self) -> None:
        """Import the heavy parsers in one idle child, so that the first office file does not wait for them."""
        self.pool.ask(Request(op="warm"))

    def close(self) -> None:
        """End the children; calls in flight fail as Retryable."""
        self.pool.close()


class SandboxParser:
    """`ports.Parser` on a pool of `workers` children, which need no embedder's tokenizer."""

    def __init__(
        self,
        *,
        workers: int = 1,
        limits: Limits = DEFAULT_LIMITS,
        policy: ParsePolicy = DEFAULT_POLICY,
        recycle_after: int = RECYCLE_AFTER,
    ) -> None:
        self._limits = limits
        self.pool = ChildPool("", "", workers=workers, limits=limits, policy=policy, recycle_after=recycle_after)

    def parse(self, content: bytes | Path, name: str, media_type: str | None = None) -> ParsedDocument:
        """The document as blocks, or the status that says why not. Raises as `SandboxPreparer.prepare` does."""
        try:
            return PARSED.decode(self.pool.ask(_request("parse", content, name, media_type)))
        except ChildTimedOut:
            return ParsedDocument(status=ParseStatus.TIMED_OUT, reason=_late(self._limits))

    def close(self) -> None:
        """End the children; calls in flight fail as Retryable."""
        self.pool.close()


def sandbox_strength() -> Confinement:
    """What confines a parser's child on this system; starts one to know. For `upwell doctor`."""
    preparer = SandboxPreparer("hash", "", workers=1)
    try:
        return preparer.strength()
    finally:
        preparer.close()


def _request(op: str, content: bytes | Path, name: str, media_type: str | None) -> Request:
    if isinstance(content, bytes):
        return Request(op=op, data=content, name=name, media_type=media_type)
    return Request(op=op, path=str(content), name=name, media_type=media_type)


def _late(limits: Limits) -> str:
    return f"not parsed within {limits.wall_s:g} s"
