"""A backfill's worker gives way: while live work is under way it waits with its next message, an eighth of its time
excepted, which is the backfill's floor share.

    share = FloorShare(live.quiet_at)
    await share.turn()                # before each message

What it has in hand is the operating system's to hold back (the supervisor's `nice`); what it asks of brokers, database
and store is not, and a live change needs all three.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

WAIT_PER_WORK = 7.0
"""Seconds waited for each second worked, at most: an eighth of the time is the backfill's."""
SAVED_S = 2.0
"""How much waiting may be saved up while nothing is live; no message waits longer."""


class FloorShare:
    """`quiet_at()` says when (seconds of `clock`) the live work that is known now will be over."""

    def __init__(
        self,
        quiet_at: Callable[[], float],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._quiet_at = quiet_at
        self._clock = clock
        self._sleep = sleep
        self._saved_s = SAVED_S
        self._worked_since = clock()

    async def turn(self) -> float:
        """Wait until it is this worker's turn; returns the seconds waited."""
        began = now = self._clock()
        self._saved_s = min(SAVED_S, self._saved_s + WAIT_PER_WORK * (began - self._worked_since))
        while (left_s := min(self._quiet_at(), began + self._saved_s) - now) > 0:
            await self._sleep(left_s)
            now = self._clock()
        self._saved_s = max(0.0, self._saved_s - (now - began))
        self._worked_since = now
        return now - began
