"""The access files of a folder as a scan finds them: read when they may have changed, and rested by `settle`."""

from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from upwell.sources.folder.access import ACCESS_FILE, HIDDEN, NotUnderstoodError, parse_access
from upwell.sources.folder.content import Read, Unread
from upwell.sources.folder.diff import is_below, racy
from upwell.sources.folder.records import AccessSeen, AccessState, Listing, State
from upwell.sources.folder.settle import Said, settled


def observe_access(
    state: State, listing: Listing, read: Read, evidence: AbstractSet[str], now: int
) -> dict[str, AccessState | None]:
    """What changed about the access files, by folder; None: there is none any more.

    Where nothing could be listed, or the whole folder is suddenly empty, a file that is not seen still binds.
    """
    changes: dict[str, AccessState | None] = {}
    for folder in sorted({*listing.access, *state.access}):
        seen, before = listing.access.get(folder), state.access.get(folder)
        if seen is None and (listing.empty or (folder and is_below(folder, listing.unlisted))):
            continue
        forced = f"{folder}/{ACCESS_FILE}".lstrip("/") in evidence
        after = settled(folder, before, Said() if seen is None else _said(seen, before, read, forced), now)
        if after != before:
            changes[folder] = after
    return changes


def _said(seen: AccessSeen, before: AccessState | None, read: Read, forced: bool) -> Said:
    if seen.signature is None:
        return Said(rules=HIDDEN, error=seen.error)
    stands = before is not None and before.signature == seen.signature and not racy(seen.signature, before.observed_at)
    if stands and before is not None and not forced:
        return Said(
            rules=before.trail[-1], observed_at=before.observed_at, signature=before.signature, error=before.error
        )
    reading = read(seen.path)
    if isinstance(reading, Unread):
        return Said(rules=HIDDEN, error=reading.detail)
    said = Said(rules=HIDDEN, observed_at=reading.observed_at, signature=reading.signature)
    if reading.data is None:
        return replace(said, error="it is too large")
    try:
        return replace(said, rules=parse_access(reading.data))
    except NotUnderstoodError as e:
        return replace(said, error=str(e))
