"""The guard around every stage: whatever a message does, it ends in outputs, in dead letters, or unacknowledged.

    done = await guard(taken)

Kafka, Faust and the clock are not in here: records come in as bytes, outputs go out through `send`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from upwell import logs
from upwell.errors import Misconfigured, Overloaded, Reason, Rejected, Retryable, UpwellError
from upwell.messages import Member, Message
from upwell.ports import Fate
from upwell.records import Outcome
from upwell.runtime.stream.breaker import Breaker
from upwell.runtime.stream.codec import Lost
from upwell.runtime.stream.contract import Stage
from upwell.runtime.stream.envelope import Bury, Decode, Encode, Sending, Spend, Taken
from upwell.runtime.stream.hand import Hand
from upwell.runtime.stream.progress import DEAD, DONE, LET_GO, SKIPPED, Progress

FIRST_PAUSE_S = 0.1
UNEXPECTED_TRIES = 3

T = TypeVar("T")
Send = Callable[[Sending], Awaitable[None]]
"""Returns once the broker has acknowledged. Raises Retryable, Rejected (it never will), Misconfigured."""
Sleep = Callable[[float], Awaitable[None]]


class Tripped(UpwellError):
    """Too many of the last messages were dead letters: the worker stops."""


class _LetGo(Exception):
    """What is in hand is not to be finished."""


class _GivenUp(Exception):
    """No step like it will ever succeed. `lost` is what is known of a message that could not be read whole."""

    def __init__(self, reason: Reason, detail: str, lost: Message | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.lost = lost


class Guard:
    """Takes one record at a time through a stage.

    `decode`, `encode`, `bury` and what `spend` returns run in `hand` like the stage itself. `end(error)` is called when
    the worker must stop: with Misconfigured or Tripped; what is in hand then is not acknowledged, or done already.
    Pauses between tries are jittered and at most `retry_limit_s`.
    """

    def __init__(
        self,
        stage: Stage[Any],
        *,
        name: str,
        hand: Hand,
        decode: Decode,
        encode: Encode,
        bury: Bury,
        spend: Spend,
        send: Send,
        progress: Progress,
        breaker: Breaker,
        end: Callable[[UpwellError], None],
        retry_limit_s: float,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._stage = stage
        self._name = name
        self._hand = hand
        self._decode = decode
        self._encode = encode
        self._bury = bury
        self._spend = spend
        self._send = send
        self._progress = progress
        self._breaker = breaker
        self._end = end
        self._retry_limit_s = retry_limit_s
        self._sleep = sleep
        self._closing = False
        self._void: int | None = None
        self._hurry = asyncio.Event()
        self._abandoned = False
        self._awaited: asyncio.Future[Any] | None = None
        self._failures = 0

    async def __call__(self, taken: Taken) -> bool:
        """True: all it led to is acknowledged by the broker, so it may be. False: it must not be acknowledged, and
        nothing after it in its partition either, until it has been delivered again."""
        if self._closing or taken.session == self._void:
            return False
        self._hurry.clear()
        self._abandoned = False
        self._failures = 0
        self._progress.took(taken)
        try:
            outcome = await self._through(taken)
        except _LetGo:
            self._progress.ended(LET_GO)
            return False
        left = self._spend(taken) if outcome == DONE else None
        if left is not None:
            with suppress(UpwellError, _LetGo):  # what stays behind now is removed when it is old
                await self._in_thread(left)
        self._progress.ended(outcome)
        self._count(outcome)
        return True

    def let_go(self, session: int) -> None:
        """The partitions of this session are being taken away: try nothing again; refuse what else was taken then."""
        self._void = session
        if self._in_hand(session):
            self._hurry.set()

    def abandon(self, session: int) -> None:
        """Wait no longer for what is in hand from that session. A stage that runs ends in its thread, unheard."""
        if self._in_hand(session):
            self._abandoned = True
            if self._awaited is not None:
                self._awaited.cancel()

    def close(self) -> None:
        """Take nothing more. What is in hand is finished if it succeeds now; it is not tried again."""
        self._closing = True
        self._hurry.set()

    def _in_hand(self, session: int) -> bool:
        return self._progress.in_hand is not None and self._progress.in_hand.session == session

    def _count(self, outcome: str) -> None:
        if outcome == SKIPPED:
            return
        self._breaker.note(dead=outcome == DEAD)
        if self._breaker.open and not self._closing:
            dead, of = self._breaker.counts
            self._progress.tripped()
            self._stop(Tripped(f"stopped: {dead} of the last {of} messages were dead letters; see `upwell dead list`"))

    def _stop(self, error: UpwellError) -> None:
        self.close()
        self._end(error)

    async def _through(self, taken: Taken) -> str:
        if taken.value is None:
            return SKIPPED
        message: Message | Member | None = None

        def work() -> list[Sending]:
            """All of it in one go, for a way to the thread and back costs more than a small step."""
            nonlocal message
            message = message or self._decode(taken)
            return self._encoded(message)

        try:
            await self._deliver(await self._try(work))
        except _GivenUp as e:
            read = message or e.lost
            if read is None:
                await self._bury_whole(taken, self._fate(e))
            else:
                await self._reject(taken, read, self._fate(e))
            return DEAD
        return DONE

    async def _reject(self, taken: Taken, message: Message | Member, fate: Fate) -> None:
        logs.warn("rejected", stage=self._name, reason=fate.reason, attempts=fate.attempts, **_place(taken))
        try:
            await self._deliver(await self._try(lambda: self._encoded(message, fate)))
        except _GivenUp as e:
            logs.warn("reject_failed", stage=self._name, reason=e.reason, **_place(taken))
            await self._bury_whole(taken, fate)

    async def _bury_whole(self, taken: Taken, fate: Fate) -> None:
        """The last resort, so it is tried until it succeeds."""
        logs.warn("buried", stage=self._name, reason=fate.reason, attempts=fate.attempts, **_place(taken))
        while True:
            try:
                await self._deliver([await self._try(lambda: self._bury(taken, fate))])
            except _GivenUp as e:
                logs.warn("dead_letter_refused", stage=self._name, reason=e.reason, **_place(taken))
                await self._pause(Retryable(e.detail))
            else:
                return

    def _encoded(self, message: Message | Member, fate: Fate | None = None) -> list[Sending]:
        led_to = self._stage.handle(message) if fate is None else self._stage.reject(message, fate)
        return [self._encode(outgoing) for outgoing in led_to]

    def _fate(self, error: _GivenUp) -> Fate:
        return Fate(
            outcome=Outcome.DEAD,
            reason=error.reason,
            detail=error.detail,
            stage=self._name,
            attempts=self._failures + 1,
        )

    async def _try(self, job: Callable[[], T]) -> T:
        """Run a job in the hand until it succeeds. Raises _GivenUp, _LetGo."""
        unexpected = 0
        while True:
            try:
                return await self._in_thread(job)
            except Retryable as e:
                await self._pause(e)
            except Rejected as e:
                raise _GivenUp(e.reason, e.detail, e.message if isinstance(e, Lost) else None) from e
            except Misconfigured as e:
                self._stop(e)
                raise _LetGo from e
            except _LetGo:
                raise
            except Exception as e:
                logs.unexpected("stage_failed", e, stage=self._name, tries=self._failures + 1)
                unexpected += 1
                if unexpected >= UNEXPECTED_TRIES:
                    detail = f"unexpected {type(e).__name__} in {unexpected} tries"
                    raise _GivenUp(Reason.ATTEMPTS_EXHAUSTED, detail) from e
                await self._pause(Retryable(f"unexpected {type(e).__name__}"))

    async def _in_thread(self, job: Callable[[], T]) -> T:
        self._progress.runs()
        try:
            return await self._unless_abandoned(self._hand.do(job))
        finally:
            self._progress.ran()

    async def _deliver(self, outputs: Sequence[Sending]) -> None:
        """Send all and wait for every acknowledgement; what failed is sent again. Raises _GivenUp, _LetGo."""
        left = list(outputs)
        while left:
            sent = await self._unless_abandoned(
                asyncio.gather(*(self._send(output) for output in left), return_exceptions=True)
            )
            failed = [(output, e) for output, e in zip(left, sent, strict=True) if e is not None]
            for _, error in failed:
                self._judge(error)
            if failed:
                await self._pause(failed[0][1])
            left = [output for output, _ in failed]

    def _judge(self, error: BaseException) -> None:
        """Which failures to send are worth another try: Raises _GivenUp, _LetGo for those that are not."""
        if isinstance(error, Rejected):
            raise _GivenUp(error.reason, error.detail) from error
        if isinstance(error, Misconfigured):
            self._stop(error)
            raise _LetGo from error
        if not isinstance(error, Exception):
            raise error
        if not isinstance(error, Retryable):
            logs.unexpected("send_failed", error, stage=self._name)

    async def _pause(self, error: BaseException) -> None:
        """Wait before another try. Raises _LetGo when there shall be none."""
        limit_s = min(self._retry_limit_s, FIRST_PAUSE_S * 2 ** min(self._failures, 16))
        pause_s = limit_s * random.uniform(0.5, 1.0)
        if isinstance(error, Overloaded):
            pause_s = max(pause_s, min(error.retry_after_s, self._retry_limit_s))
        self._failures += 1
        self._progress.failed()
        why = str(error) if isinstance(error, UpwellError) else type(error).__name__
        logs.warn("try_again", stage=self._name, tries=self._failures, pause_s=round(pause_s, 2), why=why)
        if await self._hurried(pause_s):
            raise _LetGo

    async def _hurried(self, pause_s: float) -> bool:
        """Sleep so long; True, at once, when there shall be no other try."""
        sleeping, hurry = asyncio.ensure_future(self._sleep(pause_s)), asyncio.ensure_future(self._hurry.wait())
        try:
            await asyncio.wait({sleeping, hurry}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            hurry.cancel()
        return self._hurry.is_set()

    async def _unless_abandoned(self, work: "asyncio.Future[T]") -> T:
        self._awaited = work
        if self._abandoned:
            work.cancel()
        try:
            return await work
        except asyncio.CancelledError:
            if self._abandoned and not _cancelled():
                raise _LetGo from None
            raise
        finally:
            self._awaited = None


def _cancelled() -> bool:
    """Whether the task that asks is to end, and not only the work that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _place(taken: Taken) -> dict[str, object]:
    return {"topic": taken.topic, "partition": taken.partition, "offset": taken.offset}
