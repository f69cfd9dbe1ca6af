"""Who asks over the network: a bearer token becomes a reader, or a refusal that the audit keeps. Nothing in a question
says who somebody is.
"""

import threading
from typing import Protocol

from upwell import logs
from upwell.clock import Clock
from upwell.errors import KeyLookupFailed, Refusal, Unauthorized, UpwellError
from upwell.identity.tokens import bearer_of
from upwell.ports import Act, Audit, AuditEntry
from upwell.reading import Reader

US_PER_MINUTE = 60_000_000
MOST_REFUSALS = 300
"""So many refusals a minute are written one by one, those above them as a number: an attack must not fill the disk."""


class Proven(Protocol):
    """Whom a token proves."""

    @property
    def reader(self) -> Reader: ...


class Tokens(Protocol):
    """What reads a token. `verify` raises Unauthorized, and KeyLookupFailed while it cannot say."""

    def verify(self, token: str, *, via: str) -> Proven: ...


class Rates(Protocol):
    """How much one tenant may ask. `take` raises Overloaded."""

    def take(self, tenant: str) -> None: ...


class Guests:
    """Thread-safe; may wait for an issuer's keys."""

    def __init__(self, tokens: Tokens, rates: Rates, audit: Audit, clock: Clock) -> None:
        self._tokens = tokens
        self._rates = rates
        self._audit = audit
        self._clock = clock
        self._lock = threading.Lock()
        self._minute, self._written, self._unwritten = 0, 0, 0

    def admit(self, authorization: str, via: str) -> Reader:
        """Who shows this Authorization header. Raises Unauthorized, KeyLookupFailed and Overloaded."""
        try:
            known = self._tokens.verify(bearer_of(authorization), via=via).reader
        except (Unauthorized, KeyLookupFailed) as e:
            self._note(e.reason, via)
            raise
        self._rates.take(known.asker.tenant)
        return known

    def _note(self, reason: Refusal, via: str) -> None:
        """Write the refusal down. It holds all the same where the audit is away: nothing is shown."""
        now = self._clock()
        with self._lock:
            if now // US_PER_MINUTE != self._minute:
                self._minute, self._written = now // US_PER_MINUTE, 0
            self._written += 1
            if self._written > MOST_REFUSALS:
                self._unwritten += 1
                return
            more, self._unwritten = self._unwritten, 0
        said = f"{reason} (and {more} refusals before it that were not written)" if more else str(reason)
        entry = AuditEntry(act=Act.REFUSED, at=now, tenant="", actor="", via=via, outcome="refused", reason=said)
        try:
            self._audit.write(entry)
        except UpwellError as e:
            logs.warn("refusal_not_audited", kind=type(e).__name__)
