"""The first thing that is done with an event: what it takes away from readers is taken away in the registry.

One thread, for the registry has one writer; it waits for no store and no model that is at work. So a permission change
over thousands of documents binds as fast as the registry commits, however long the stores take to follow.
"""

import threading
from collections.abc import Callable, Iterable, Sequence

import msgspec

from upwell import logs
from upwell.errors import UpwellError
from upwell.records import ChangeEvent
from upwell.runtime.backlog import Backlog, Ticket

MOST_TOGETHER = 16
"""How many share a commit: its wait for the disk costs as much as binding several, and the first waits for the last."""


class Binding:
    """Binds events, permissions first, each kind in order of arrival, and passes their tickets on.

    `bind` says of each whether it has changed the registry. What cannot be bound is passed on as it is: whoever takes
    it next does all of it, tries again and tells of it.
    """

    def __init__(
        self,
        *,
        event: Callable[[int], ChangeEvent | None],
        bind: Callable[[Sequence[ChangeEvent]], Sequence[bool]],
        pass_on: Callable[[Iterable[Ticket]], None],
    ) -> None:
        self._event = event
        self._bind = bind
        self._pass_on = pass_on
        self._waiting = Backlog()
        self.thread = threading.Thread(target=self._run, name="bind", daemon=True)

    def put(self, tickets: Iterable[Ticket]) -> None:
        """Take tickets. Old content that is filled in (the backfill lane) has nothing that hurries."""
        tickets = tuple(tickets)
        self._waiting.put(ticket for ticket in tickets if ticket.hurries)
        self._pass_on(ticket for ticket in tickets if not ticket.hurries)

    def close(self) -> None:
        """Bind nothing more; what waits stays in the log."""
        self._waiting.close()

    def _run(self) -> None:
        while (ticket := self._waiting.take()) is not None:
            tickets = [ticket]
            while len(tickets) < MOST_TOGETHER and (more := self._waiting.take(timeout_s=0)) is not None:
                tickets.append(more)
            self._pass_on(self._bound(tickets))
            for ticket in tickets:
                self._waiting.done(ticket)

    def _bound(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        try:
            read = [(ticket.seq, self._event(ticket.seq)) for ticket in tickets]
            events = {seq: event for seq, event in read if event is not None}
            changed = dict(zip(events, self._bind(list(events.values())), strict=True)) if events else {}
        except Exception as e:  # noqa: BLE001 the next step meets it again, and is guarded
            if not isinstance(e, UpwellError):
                logs.unexpected("bind_failed", e, seq=tickets[0].seq)
            return list(tickets)
        return [msgspec.structs.replace(ticket, bound=changed.get(ticket.seq, False)) for ticket in tickets]
