"""How much one tenant may ask: a sliding window of a minute, counted in this process's memory."""

import threading

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from upwell.errors import Overloaded

WINDOW_S = 60
MAX_COUNTERS = 5000
LEAST_WAIT_S = 0.05


class RateLimits:
    """At most `per_minute` requests of a tenant in any minute, as near as two counters a tenant can tell.

    While MAX_COUNTERS are in use a tenant that asked in neither this window nor the last one shares the counter of all
    such tenants: memory stays bounded, and no flood of names takes the share of who is there. Safe between threads.
    """

    def __init__(self, per_minute: int, *, window_s: int = WINDOW_S) -> None:
        """With another `window_s`: that many requests in that many seconds."""
        self._limit = RateLimitItemPerSecond(per_minute, window_s)
        self._storage = MemoryStorage()
        self._limiter = SlidingWindowCounterRateLimiter(self._storage)
        self._lock = threading.Lock()

    def take(self, tenant: str) -> None:
        """Count one request. Raises Overloaded with the seconds after which the next one passes, if none else comes."""
        with self._lock:
            who = self._key_of(tenant)
            if not self._limiter.hit(self._limit, *who):
                wait_s = self._wait_s(who)
                raise Overloaded("too many requests of this tenant; try again later", wait_s)

    def counters(self) -> int:
        """How many are held: up to three a tenant that asked lately (this window's, the last one's, one that ends)."""
        return len(self._storage.storage)

    def _key_of(self, tenant: str) -> tuple[str, ...]:
        """Names of different lengths, so that no tenant can be called as the shared counter is."""
        own = ("tenant", tenant)
        if len(self._storage.storage) < MAX_COUNTERS or self._counted(own):
            return own
        return ("others",)

    def _counted(self, who: tuple[str, ...]) -> bool:
        previous, _, current, _ = self._window(who)
        return bool(previous or current)

    def _wait_s(self, who: tuple[str, ...]) -> float:
        """When the weight of the window before, or else of this one, will have sunk below the limit."""
        previous, previous_ends_s, current, current_ends_s = self._window(who)
        window_s, limit = self._limit.get_expiry(), self._limit.amount
        if current < limit and previous:
            wait_s = previous_ends_s - window_s * (limit - current) / previous
        else:
            wait_s = current_ends_s - window_s
        return max(0.0, wait_s) + LEAST_WAIT_S

    def _window(self, who: tuple[str, ...]) -> tuple[int, float, int, float]:
        return self._storage.get_sliding_window(self._limit.key_for(*who), self._limit.get_expiry())
