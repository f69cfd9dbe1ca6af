"""Parsing that no document can harm: in confined children, the whole preparation (embedded) or the parse alone."""

from pathlib import Path
from typing import TypeVar

import msgspec

from upwell.errors import Reason, Rejected
from upwell.parse.confined.asked import Request, undrawn, unexplained, unprepared, unread
from upwell.parse.confined.confine import Confinement
from upwell.parse.confined.pool import ChildPool
from upwell.parse.confined.source_file import read_file
from upwell.parse.drawn import Drawings
from upwell.parse.failures import Unparsable
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import DEFAULT_POLICY, ParsePolicy
from upwell.records import ParsedDocument, PreparedDocument

T = TypeVar("T")
RECYCLE_AFTER = 1000
PREPARED = msgspec.msgpack.Decoder(PreparedDocument)
PARSED = msgspec.msgpack.Decoder(ParsedDocument)
DRAWINGS = msgspec.msgpack.Decoder(Drawings)


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
            return _decoded(self.pool.ask(_request("prepare", content, name, media_type, self._limits)), PREPARED)
        except Unparsable as e:
            return unprepared(e.status, e.reason)

    def explain(self, content: bytes | Path, name: str, media_type: str | None = None) -> bytes:
        """The same as JSON of what was parsed and chunked (`explanation`). Raises as `prepare` does."""
        try:
            return self.pool.ask(_request("explain", content, name, media_type, self._limits))
        except Unparsable as e:
            return unexplained(e.status, e.reason)

    def draw(self, content: bytes | Path, name: str, media_type: str | None = None) -> Drawings:
        """A PDF's pages as pictures, of anything else none. Raises as `prepare` does."""
        try:
            return _decoded(self.pool.ask(_request("draw", content, name, media_type, self._limits)), DRAWINGS)
        except Unparsable as e:
            return undrawn(e.reason)

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
            return _decoded(self.pool.ask(_request("parse", content, name, media_type, self._limits)), PARSED)
        except Unparsable as e:
            return unread(e.status, e.reason)

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


def _request(op: str, content: bytes | Path, name: str, media_type: str | None, limits: Limits) -> Request:
    """A file is read here: the child has no right to read any document. Raises as `read_file` does."""
    data = content if isinstance(content, bytes) else read_file(content, limits)
    return Request(op=op, data=data, name=name, media_type=media_type)


def _decoded(answer: bytes, decoder: msgspec.msgpack.Decoder[T]) -> T:
    try:
        return decoder.decode(answer)
    except msgspec.DecodeError as e:  # no answer of ours: the document speaks through the parser that it took over
        raise Rejected(Reason.PARSER_CRASHED, "the parser's answer makes no sense") from e
