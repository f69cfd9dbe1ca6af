"""Whether the parts of a lake belong together: one that has lost a part must say so, not answer as if it were empty."""

from pathlib import Path

from upwell.errors import Misconfigured
from upwell.ports import Registry
from upwell.runtime.eventlog import EventLog
from upwell.sqlite import MAKE_ANEW


def check_intact(folder: Path, log: EventLog, registry: Registry, store: Path | None) -> None:
    """Raises Misconfigured when the registry or the vectors are gone while the rest remembers what they held.

    `store`: where the vectors lie, None when the registry knows of none yet.
    """
    if store is None:
        if log.has_applied():
            raise Misconfigured(f"{folder} has lost its registry; {MAKE_ANEW}")
    elif not store.exists() and any(count.chunks for count in registry.counts()):
        raise Misconfigured(f"{folder} has lost its vectors ({store}); {MAKE_ANEW}")
