"""A gateway in a process: the door in front of a sink, on the network."""

from collections.abc import Callable

from upwell.clock import now_us
from upwell.config import Settings
from upwell.metrics import Metrics
from upwell.ports import EventSink, MembershipSink
from upwell.runtime.gateway.door import Door
from upwell.runtime.gateway.feeding import Feeding
from upwell.runtime.gateway.routes import build
from upwell.runtime.operating import Exposition, Network, Ready
from upwell.runtime.serve.desk import Desk
from upwell.runtime.serve.mcp.http import add_mcp
from upwell.runtime.serve.routes import add_reading
from upwell.runtime.serving import is_loopback
from upwell.sources.terms import check


class Gateway:
    """Listens from `listen` to `close`; `after` is called when it has given its last answer.

    Raises Misconfigured for a source whose settings could never work.
    """

    def __init__(
        self,
        sink: EventSink,
        memberships: MembershipSink,
        settings: Settings,
        *,
        metrics: Callable[[], Metrics],
        exposition: Exposition,
        ready: Ready,
        desk: Desk | None = None,
    ) -> None:
        """With a `desk` the same listener answers readers, too."""
        for name, source in settings.sources.items():
            check(name, source)
        self._door = Door(sink, keys=settings.keys, sources=settings.sources, clock=now_us, metrics=metrics)
        self._feeding = Feeding(memberships, keys=settings.keys, clock=now_us)
        self._application = build(self._door, self._feeding, ready=ready)
        self._network = Network(settings.port, exposition=exposition, ready=ready)
        self._desk = desk
        self.after: list[Callable[[], None]] = []

    def listen(self, host: str, port: int) -> str:
        """The URL where it answers from now on. Raises Misconfigured for an address that cannot be."""
        if self._desk is not None:
            add_reading(self._application, self._desk)
            add_mcp(self._application, self._desk, loopback=is_loopback(host))
        return self._network.listen(self._application, host, port)

    def close(self) -> None:
        """Answer what is in hand, then stop."""
        self._door.close()
        self._feeding.close()
        self._network.close()
        if self._desk is not None:
            self._desk.close()
        for close in self.after:
            close()
