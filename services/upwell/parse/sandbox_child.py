"""The parsers' process: `python -m upwell.parse.sandbox_child SOCKET LIFELINE EMBEDDER FINGERPRINT LIMITS POLICY`, the
first two as file descriptors.

It makes its tokenizer (of no embedder: it only parses), gives its rights away, and then answers requests. What a
document does to it stays here.
"""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from upwell.child import serve
from upwell.errors import Misconfigured
from upwell.parse import docling
from upwell.parse.confine import Confinement, allow_cpu, confine
from upwell.parse.explanation import explanation
from upwell.parse.failures import Unparsable
from upwell.parse.limits import Limits
from upwell.parse.policy import ParsePolicy
from upwell.parse.prepare import failed, prepare_document
from upwell.parse.route import parse
from upwell.parse.source_file import read_file
from upwell.ports import Tokenizer
from upwell.records import ENCODER, JSON_ENCODER, ParsedDocument, Record

CPU_SLACK_S = 5.0  # the owner ends a document by the wall clock first, and says timed_out


class Request(Record, frozen=True, kw_only=True):
    """`op`: prepare, parse or explain (a document as bytes or a path), warm (import the heavy parsers), strength."""

    op: str
    data: bytes | None = None
    path: str | None = None
    name: str = ""
    media_type: str | None = None


class _Worker:
    def __init__(
        self, tokenizer: Tokenizer | None, fingerprint: str, limits: Limits, policy: ParsePolicy, strength: Confinement
    ) -> None:
        self._tokenizer, self.fingerprint = tokenizer, fingerprint
        self.limits, self.policy, self.strength = limits, policy, strength
        self.decoder = msgspec.msgpack.Decoder(Request)
        self.steps: dict[str, Callable[[Request], bytes]] = {
            "prepare": self.prepare,
            "parse": self.parse,
            "explain": self.explain,
            "warm": self.warm,
            "strength": lambda _: ENCODER.encode(self.strength),
        }

    def __call__(self, body: bytes) -> bytes:
        allow_cpu(self.limits.wall_s + CPU_SLACK_S)
        request = self.decoder.decode(body)
        return self.steps[request.op](request)

    def prepare(self, request: Request) -> bytes:
        try:
            data = self._bytes(request)
        except Unparsable as e:
            return ENCODER.encode(failed(e.status, e.reason))
        prepared = prepare_document(
            data,
            request.name,
            request.media_type,
            tokenizer=self.tokenizer,
            model_fingerprint=self.fingerprint,
            limits=self.limits,
            reading=self.policy,
        )
        return ENCODER.encode(prepared)

    def parse(self, request: Request) -> bytes:
        return ENCODER.encode(self._parsed(request))

    def explain(self, request: Request) -> bytes:
        return JSON_ENCODER.encode(explanation(self._parsed(request), self.tokenizer, self.fingerprint))

    def warm(self, _: Request) -> bytes:
        docling.warm()
        return b""

    @property
    def tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            raise Misconfigured("this parser was started without an embedder: it cannot chunk")
        return self._tokenizer

    def _parsed(self, request: Request) -> ParsedDocument:
        try:
            return parse(self._bytes(request), request.name, request.media_type, self.limits, self.policy)
        except Unparsable as e:
            return ParsedDocument(status=e.status, reason=e.reason)

    def _bytes(self, request: Request) -> bytes:
        return request.data if request.data is not None else read_file(Path(request.path or ""), self.limits)


def main(arguments: list[str]) -> None:
    """Serve until the owner closes its end."""
    socket_fd, lifeline_fd, embedder, fingerprint, limits_json, policy_json = arguments
    from upwell.embed import tokenizer_of  # noqa: PLC0415 - the rest of this module is used without it

    logging.disable(logging.CRITICAL)  # what parsers say of a document may quote it
    tokenizer = tokenizer_of(embedder) if embedder else None
    limits = msgspec.json.decode(limits_json, type=Limits)
    policy = msgspec.json.decode(policy_json, type=ParsePolicy)
    serve(_Worker(tokenizer, fingerprint, limits, policy, confine(limits)), int(socket_fd), int(lifeline_fd))


if __name__ == "__main__":
    main(sys.argv[1:])
