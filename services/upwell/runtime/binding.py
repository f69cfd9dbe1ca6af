"""The first thing that is done with an event: what it takes away from readers is taken away in the registry.

One thread, for the registry has one writer; it waits for no store and no model that is at work. So a permission change
over thousands of documents binds as fast as the registry commits, however long the stores take to follow.
"""

import threading
from collections.abc import Callable, Iterable

import msgspec

from upwell import logs
from upwell.errors import UpwellError
from upwell.records import ChangeEvent
from upwell.runtime.backlog import Backlog, Ticket


class Binding:
    """Binds events, permissions first, each kind in order of arrival, and passes their tickets on.

    `bind` says whether the registry has changed. What cannot be bound is passed on as it is: whoever takes it next does
    all of it, tries again and tells of it.
    """

    def __init__(
        self,
        *,
        event: Callable[[int], ChangeEvent | None],
        bind: Callable[[ChangeEvent], bool],
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
            self._pass_on([self._bound(ticket)])
            self._waiting.done(ticket)

    def _bound(self, ticket: Ticket) -> Ticket:
        try:
            event = self._event(ticket.seq)
            if event is not None and self._bind(event):
                return msgspec.structs.replace(ticket, bound=True)
        except Exception as e:  # noqa: BLE001 the next step meets it again, and is guarded
            if not isinstance(e, UpwellError):
                logs.unexpected("bind_failed", e, seq=ticket.seq)
        return ticket
