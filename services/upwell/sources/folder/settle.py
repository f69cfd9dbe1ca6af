"""When an access file binds: what narrows at once, what widens once the file has rested.

Editors truncate before they write. Until a file has rested for REST_US, each reading of it since the last rest binds
(the trail): a reader must be admitted by all of them.
"""

from collections.abc import Mapping

from upwell.records import Record
from upwell.sources.folder.access import HIDDEN, NO_RULES, Rules
from upwell.sources.folder.listing import REST_US
from upwell.sources.folder.records import AccessState, Signature

LONGEST_TRAIL = 8


class Said(Record, frozen=True, kw_only=True):
    """What an access file says now. No file: NO_RULES and no signature. Unreadable, or not understood: HIDDEN and why.

    `observed_at` is when it was read, which may have been an earlier scan."""

    rules: Rules = NO_RULES
    observed_at: int = 0
    signature: Signature | None = None
    error: str | None = None


def settled(folder: str, before: AccessState | None, said: Said, now: int) -> AccessState | None:
    """The state of a folder's access file after it was seen to say `said`; None when there is nothing to keep."""
    previous = before or AccessState(folder=folder, trail=(NO_RULES,), since=now - REST_US, observed_at=now)
    stands = said.rules == previous.trail[-1] and said.signature == previous.signature
    # A file from the future rests from when it was noticed, or it never would.
    written = now if said.signature is None else min(said.signature[1] // 1000, now)
    since = previous.since if stands else written
    trail: tuple[Rules, ...] = (said.rules,)
    if now - since < REST_US:
        trail = (*(earlier for earlier in previous.trail if earlier != said.rules), said.rules)
    if len(trail) > LONGEST_TRAIL:
        trail = (HIDDEN, said.rules)
    if trail == (NO_RULES,) and said.signature is None:
        return None
    return AccessState(
        folder=folder,
        trail=trail,
        since=since,
        observed_at=said.observed_at,
        signature=said.signature,
        error=said.error,
    )


def rests_at(states: Mapping[str, AccessState]) -> int | None:
    """When the next access file will have rested, if one has something to widen then."""
    return min((state.since + REST_US for state in states.values() if len(state.trail) > 1), default=None)
