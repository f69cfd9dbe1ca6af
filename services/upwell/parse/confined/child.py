"""The parsers' process: `python -m upwell.parse.confined.child SOCKET LIFELINE EMBEDDER FINGERPRINT LIMITS POLICY`, the
first two as file descriptors.

It makes its tokenizer (of no embedder: it only parses), gives its rights away, and then answers requests. What a
document does to it stays here.
"""

import importlib
import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable

import msgspec

from upwell.child import serve
from upwell.errors import Misconfigured, Reason, Rejected, UpwellError
from upwell.parse.confined.asked import Request, undrawn, unexplained, unprepared, unread
from upwell.parse.confined.confine import Confinement, allow_cpu, confine, give_memory_back
from upwell.parse.drawing import draw_pages
from upwell.parse.explanation import explanation
from upwell.parse.failures import Unparsable
from upwell.parse.limits import Limits
from upwell.parse.policy import ParsePolicy
from upwell.parse.prepare import prepare_document, prepare_parsed
from upwell.parse.route import parse
from upwell.ports import Tokenizer
from upwell.records import ENCODER, JSON_ENCODER, ParsedDocument, ParseStatus

PACKAGE = "upwell"
OFTEN_NEEDED = ("lxml.etree", "markdown_it", "pypdfium2")
HEAVY_S = 0.2  # of processor time: after such a document memory is given back
CPU_SLACK_S = 5.0  # the owner ends a document by the wall clock first, and says timed_out


class _Worker:
    """Answers requests; whatever a document makes go wrong here in Python is an answer too."""

    def __init__(
        self, tokenizer: Tokenizer | None, fingerprint: str, limits: Limits, policy: ParsePolicy, strength: Confinement
    ) -> None:
        self._tokenizer, self.fingerprint = tokenizer, fingerprint
        self.limits, self.policy, self.strength = limits, policy, strength
        self.decoder = msgspec.msgpack.Decoder(Request)
        self.steps: dict[str, Callable[[Request], bytes]] = {
            "prepare": self.prepare,
            "parse": lambda request: ENCODER.encode(self._parsed(request)),
            "explain": self.explain,
            "draw": self.draw,
            "warm": self.warm,
            "strength": lambda _: ENCODER.encode(self.strength),
        }
        self.ends: dict[str, Callable[[ParseStatus, str], bytes]] = {
            "prepare": lambda status, reason: ENCODER.encode(unprepared(status, reason)),
            "parse": lambda status, reason: ENCODER.encode(unread(status, reason)),
            "explain": unexplained,
            "draw": lambda _, reason: ENCODER.encode(undrawn(reason)),
        }

    def __call__(self, body: bytes) -> bytes:
        before = time.process_time()
        try:
            return self._answer(body)
        finally:
            if time.process_time() - before > HEAVY_S:
                give_memory_back()  # or the next document would find less of what one may have

    def _answer(self, body: bytes) -> bytes:
        allow_cpu(self.limits.wall_s + CPU_SLACK_S)
        request = self.decoder.decode(body)
        del body
        try:
            answer = self.steps[request.op](request)
        except Unparsable as e:
            return self.ends[request.op](e.status, e.reason)
        except MemoryError:
            return self.ends[request.op](ParseStatus.TOO_LARGE, "needs more memory than allowed")
        except RecursionError:
            return self.ends[request.op](ParseStatus.TOO_LARGE, "nested too deeply")
        except UpwellError:
            raise
        except Exception as e:
            raise Rejected(Reason.PARSER_CRASHED, f"the parser failed: {_where(e)}") from e
        if len(answer) > self.limits.answer_bytes:
            reason = f"what is in it takes {len(answer)} bytes; at most {self.limits.answer_bytes} are taken"
            return self.ends[request.op](ParseStatus.TOO_LARGE, reason)
        return answer

    def prepare(self, request: Request) -> bytes:
        prepared = prepare_document(
            request.data,
            request.name,
            request.media_type,
            tokenizer=self.tokenizer,
            model_fingerprint=self.fingerprint,
            limits=self.limits,
            reading=self.policy,
        )
        return ENCODER.encode(prepared)

    def explain(self, request: Request) -> bytes:
        parsed = self._parsed(request)
        return JSON_ENCODER.encode(explanation(parsed, prepare_parsed(parsed, self.tokenizer, self.fingerprint)))

    def draw(self, request: Request) -> bytes:
        return ENCODER.encode(draw_pages(request.data, request.name, request.media_type, self.limits))

    def warm(self, _: Request) -> bytes:
        for name in OFTEN_NEEDED:
            importlib.import_module(name)
        return b""

    @property
    def tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            raise Misconfigured("this parser was started without an embedder: it cannot chunk")
        return self._tokenizer

    def _parsed(self, request: Request) -> ParsedDocument:
        return parse(request.data, request.name, request.media_type, self.limits, self.policy)


def _where(error: BaseException) -> str:
    """The kind of an error and the line of ours that it came through; never its text, which may quote the document."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if f"{PACKAGE}/" in f.filename]
    place = f" at {ours[-1].filename.rpartition(f'{PACKAGE}/')[2]}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{place}"


def main(arguments: list[str]) -> None:
    """Serve until the owner closes its end."""
    socket_fd, lifeline_fd, embedder, fingerprint, limits_json, policy_json = arguments
    from upwell.embed import tokenizer_of  # noqa: PLC0415 - the rest of this module is used without it

    logging.disable(logging.CRITICAL)  # what parsers say of a document may quote it
    tokenizer = tokenizer_of(embedder) if embedder else None
    limits = msgspec.json.decode(limits_json, type=Limits)
    policy = msgspec.json.decode(policy_json, type=ParsePolicy)
    worker = _Worker(tokenizer, fingerprint, limits, policy, confine(limits))
    _fall_silent()
    tempfile.tempdir = "/nonexistent"  # libraries ask at import where it is, and Python would try to write there
    serve(worker, int(socket_fd), int(lifeline_fd))


def _fall_silent() -> None:
    """From here on nothing a parser prints reaches the owner's output: it would quote documents, or forge log lines."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for fd in (1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)


if __name__ == "__main__":
    main(sys.argv[1:])
