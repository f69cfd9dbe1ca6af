"""The read side in a process: HTTP and MCP over one lake, on the network."""

from collections.abc import Callable

from upwell.runtime.serve.desk import Desk
from upwell.runtime.serve.mcp.http import add_mcp
from upwell.runtime.serve.routes import build
from upwell.runtime.serving import Listening, is_loopback


class ReadServer:
    """Listens from `listen` to `close`; `after` is called when it has given its last answer."""

    def __init__(self, desk: Desk, *, exposition: Callable[[], bytes], ready: Callable[[], object]) -> None:
        self._desk = desk
        self._application = build(desk, exposition=exposition, ready=ready)
        self._listening: Listening | None = None
        self.after: list[Callable[[], None]] = []

    def listen(self, host: str, port: int) -> str:
        """The URL where it answers from now on. Raises Misconfigured for an address that cannot be."""
        add_mcp(self._application, self._desk, loopback=is_loopback(host))
        self._listening = Listening(host, port, self._application)
        return self._listening.url

    def close(self) -> None:
        """Answer what is in hand, then stop."""
        if self._listening is not None:
            self._listening.close()
        self._desk.close()
        for close in self.after:
            close()
