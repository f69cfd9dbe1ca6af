"""What a parser's child answers is bounded in size and time, must make sense, and says nothing of the document's words."""

import os
import resource
import signal
import threading
import time
from pathlib import Path

import pytest

from upwell.child import Child, ChildAnsweredTooMuch, ChildTimedOut
from upwell.errors import Reason, Rejected
from upwell.parse.confined.asked import Request
from upwell.parse.confined.child import _Worker
from upwell.parse.confined.confine import Confinement
from upwell.parse.confined.sandbox import PREPARED, SandboxPreparer, _decoded
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import DEFAULT_POLICY
from upwell.records import ENCODER, ParseStatus

pytestmark = pytest.mark.integration
MANY = b"".join(b"Paragraph %d *of* [many](x) `words`.\n\n" % i for i in range(20_000))


@pytest.fixture
def liar(request):
    path = os.pathsep.join([str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    made = Child("lying_child", (request.param,), {**os.environ, "PYTHONPATH": path})
    yield made
    made.kill()


@pytest.mark.parametrize("liar", ["huge"], indirect=True)
def test_an_answer_of_an_exabyte_is_not_waited_for(liar):
    """Its length alone ends the child; nothing is allocated for it."""
    with pytest.raises(ChildAnsweredTooMuch, match="at most 1000"):
        liar.call(b"x", 30, 1000)
    assert not liar.alive


@pytest.mark.parametrize("liar", ["drip"], indirect=True)
def test_an_answer_that_drips_is_late_as_a_whole(liar):
    """Each byte comes in time; the answer does not."""
    started = time.monotonic()
    with pytest.raises(ChildTimedOut):
        liar.call(b"x", 2, 1000)
    assert time.monotonic() - started < 10


def test_too_long_an_answer_is_a_document_too_large():
    """The child sees it itself, says so, and lives."""
    small = SandboxPreparer("hash", "fp", workers=1, limits=Limits(answer_bytes=20_000))
    try:
        prepared = small.prepare(MANY[:200_000], "a.md")
        assert prepared.status is ParseStatus.TOO_LARGE
        assert "bytes" in prepared.reason
        assert small.prepare(b"words", "a.md").status is ParseStatus.OK
        assert small.pool.deaths == 0
    finally:
        small.close()


def test_a_child_that_keeps_much_is_replaced():
    """What one document left in memory is not carried to the next."""
    greedy = SandboxPreparer("hash", "fp", workers=1, limits=Limits(kept_bytes=1))
    try:
        assert greedy.prepare(b"words", "a.md").status is ParseStatus.OK
        assert greedy.pool._idle == []
        assert greedy.pool.deaths == 0
    finally:
        greedy.close()


def test_the_processors_clock_says_timed_out_too():
    """A child that the system ends for its processor time is late, not broken: there is no second try."""
    preparer = SandboxPreparer("hash", "fp", workers=1)
    ended = []
    try:
        preparer.prepare(b"warm", "a.md")
        thread = threading.Thread(target=lambda: ended.append(preparer.prepare(MANY, "a.md").status))
        thread.start()
        while not preparer.pool._busy:
            time.sleep(0.001)
        os.kill(next(iter(preparer.pool._busy)).child.process.pid, signal.SIGXCPU)
        thread.join(60)
        assert (ended, preparer.pool.deaths) == ([ParseStatus.TIMED_OUT], 1)
    finally:
        preparer.close()


def test_an_answer_without_sense_is_a_crash():
    """Bytes that are no prepared document are refused as the parser's fault."""
    with pytest.raises(Rejected) as refused:
        _decoded(b"\xff\x00junk", PREPARED)
    assert refused.value.reason is Reason.PARSER_CRASHED


class Broken:
    """A tokenizer with a fault, whose error quotes the document."""

    max_tokens = 100

    def starts(self, text):
        raise ValueError(text)


@pytest.fixture
def _time_as_before():
    """A child bounds its own processor time at each document; here that is the time of all tests."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    yield
    resource.setrlimit(resource.RLIMIT_CPU, before)


@pytest.mark.usefixtures("_time_as_before")
def test_a_fault_of_ours_is_named_by_its_place_and_quotes_nothing():
    """The child lives on, and the reason has the kind of error and the line, never its text."""
    strength = Confinement(platform="", memory="", network=True, no_new_privileges=False, no_file_writes=False)
    worker = _Worker(Broken(), "fp", DEFAULT_LIMITS, DEFAULT_POLICY, strength)
    with pytest.raises(Rejected) as refused:
        worker(ENCODER.encode(Request(op="prepare", data=b"a secret", name="a.md")))
    assert refused.value.reason is Reason.PARSER_CRASHED
    assert "ValueError at chunk/" in str(refused.value)
    assert "secret" not in str(refused.value)
