"""HTTP for the network: as uvicorn speaks it, with an end to waiting for a request that does not come whole, and with
a turn for everybody.

Uvicorn bounds how long a connection rests between requests, not how long a client takes over its headers, nor over a
body that nobody reads any more (it was refused). A client that trickles would keep its connection for ever.

What one read has brought is worked through before anybody else has a turn. A quarter of a megabyte, which is asyncio's
own measure, can be forty thousand chunks of one byte: a second of h11's time, and twenty such clients held up everybody
else for as long as they liked.
"""

import asyncio
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVAL_S = 15.0
READ_BYTES = 4096
"""How much is read of a connection at a time, and worked through."""


class PatientProtocol(H11Protocol):
    """Cuts a connection on which for `ARRIVAL_S` there was neither a whole request's head nor rest nor an answer."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        with suppress(AttributeError):  # another event loop than asyncio's own
            transport.max_size = READ_BYTES  # type: ignore[attr-defined]
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._rest()

    def _watch(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        resting = self.timeout_keep_alive_task is not None
        if answering or resting or self.transport.is_closing():
            self._rest()
        elif self._late is None:
            self._late = self.loop.call_later(ARRIVAL_S, self.transport.abort)

    def _rest(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
