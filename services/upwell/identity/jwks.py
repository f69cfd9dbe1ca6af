"""An issuer's keys, held in memory and read again when they may have changed: rotation without a restart.

A file is read when it changes. An endpoint is asked when the set is older than TTL_S, and when a token names a key that
is not in it; never more often than every PAUSE_S, so that forged key ids cannot make this process hammer it. While the
place is away the last good set holds for STALE_S, and then nothing verifies.
"""

import threading

from upwell.clock import Clock
from upwell.errors import KeyLookupFailed
from upwell.identity.key_places import KeyPlace, place_of
from upwell.identity.keys import PublicKey, keys_of
from upwell.records import Record

TTL_S = 300.0
STALE_S = 3600.0
PAUSE_S = 10.0
WAIT_S = 1.0  # for another thread's reading: forged ids must not pile up threads behind a slow endpoint
_S = 1_000_000


class _Held(Record, frozen=True, kw_only=True):
    """What the last readings brought. Times in us; `failure` is that of the very last try."""

    keys: dict[str, PublicKey]
    good_at: int | None = None
    tried_at: int | None = None
    tried_mark: object = None
    failure: str | None = None


class Jwks:
    """The keys of one issuer. Safe between threads; a key that is held never waits for a reading by another."""

    def __init__(self, place: KeyPlace, clock: Clock) -> None:
        self._place = place
        self._clock = clock
        self._held = _Held(keys={})
        self._reading = threading.Lock()

    @classmethod
    def at(cls, location: str, clock: Clock) -> "Jwks":
        """As `place_of` takes it. Raises Misconfigured for a location that cannot be; nothing is fetched yet."""
        return cls(place_of(location), clock)

    def find(self, kid: str) -> PublicKey | None:
        """The key of that id; None if the issuer has none.

        Raises KeyLookupFailed if that cannot be known: the place is away and no set that is young enough has the key.
        """
        mark = self._place.mark()
        if self._due(kid, mark):
            self._read_again(kid, mark)
        held = self._held
        if self._young(held, mark) and kid in held.keys:
            return held.keys[kid]
        if held.failure is not None or held.good_at is None:
            raise KeyLookupFailed(f"keys of the issuer: {held.failure or 'being read for the first time'}")
        return None

    def _due(self, kid: str, mark: object) -> bool:
        held = self._held
        if mark != held.tried_mark:
            return True
        if held.tried_at is not None and self._age_s(held.tried_at) < PAUSE_S:
            return False
        if mark is not None:
            return held.failure is not None
        return held.good_at is None or self._age_s(held.good_at) >= TTL_S or kid not in held.keys

    def _young(self, held: _Held, mark: object) -> bool:
        if mark is not None and held.failure is None:
            return True  # a file that did not change is as good as read now
        return held.good_at is not None and self._age_s(held.good_at) < STALE_S

    def _age_s(self, at: int) -> float:
        """Seconds since then; for ever if the clock was set back, so that nothing is taken for fresh."""
        age = (self._clock() - at) / _S
        return age if age >= 0 else float("inf")

    def _read_again(self, kid: str, mark: object) -> None:
        held = self._held
        can_do_without = kid in held.keys and self._young(held, mark)
        if not self._reading.acquire(timeout=0 if can_do_without else WAIT_S):
            if can_do_without:
                return
            raise KeyLookupFailed("keys of the issuer: still being read")
        try:
            if self._due(kid, mark):  # else another thread has read them meanwhile
                self._held = self._after_reading(mark)
        finally:
            self._reading.release()

    def _after_reading(self, mark: object) -> _Held:
        held, now = self._held, self._clock()
        try:
            keys = keys_of(self._place.read())
        except (OSError, ValueError) as e:
            failure = getattr(e, "strerror", None) or str(e)
            was_good = held.good_at is not None and held.failure is None
            good_at = now if mark is not None and was_good else held.good_at  # a file was good until it changed
            return _Held(keys=held.keys, good_at=good_at, tried_at=now, tried_mark=mark, failure=failure)
        return _Held(keys=keys, good_at=now, tried_at=now, tried_mark=mark)
