"""The embedded lake fed the same events in the order of their versions: what every other order has to end in."""

from pathlib import Path

import msgspec
from ending import Ending, ending_of

from upwell.config import Settings
from upwell.records import ChangeEvent
from upwell.runtime.tally import Tally
from upwell.wiring import embedded

BATCH = 500


class Reference(msgspec.Struct):
    """How the lake ended, the events' outcomes by id, and how many chunks were embedded on the way."""

    ending: Ending
    outcomes: dict[str, str]
    embedded: int


def embedded_lake(events: list[ChangeEvent], folder: Path) -> Reference:
    """Ingest the events with the embedded runtime, in a folder of its own."""
    settings = Settings(lake=folder, embedder="hash")
    lake = embedded._owned_or_asked(settings, "command")
    ends = Ends()
    try:
        parts = lake._parts
        parts.identity()
        tally = Tally(patience_tries=None)
        with parts.engine.watching(tally), parts.engine.watching(ends):
            for start in range(0, len(events), BATCH):
                parts.engine.submit(events[start : start + BATCH])
                tally.wait()
        ending = ending_of(parts.registry, parts.store(), parts.identity().pipeline)
        return Reference(ending, ends.outcomes, tally.chunks.embedded)
    finally:
        lake.close()


class Ends:
    """A watcher that remembers how each event ended."""

    def __init__(self):
        self.outcomes = {}

    def expect(self, tickets):
        pass

    def ended(self, ticket, event, work):
        self.outcomes[event.event_id] = str(work.fate.outcome)

    def trouble(self, ticket, error):
        pass
