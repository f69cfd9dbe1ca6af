"""The read side in a process: HTTP and MCP over one lake, on the network."""

from collections.abc import Callable

from upwell.runtime.operating import Exposition, Network, Ready
from upwell.runtime.serve.desk import Desk
from upwell.runtime.serve.mcp.http import add_mcp
from upwell.runtime.serve.routes import build
from upwell.runtime.serving import is_loopback


class ReadServer:
    """Listens from `listen` to `close`; `after` is called when it has given its last answer."""

    def __init__(self, desk: Desk, *, port: int, exposition: Exposition, ready: Ready) -> None:
        """`port` is the operators'; 0: none."""
        self._desk = desk
        self._network = Network(port, exposition=exposition, ready=ready)
        self._application = build(desk, ready=ready)
        self.after: list[Callable[[], None]] = []

    def listen(self, host: str, port: int) -> str:
        """The URL where it answers from now on. Raises Misconfigured for an address that cannot be."""
        add_mcp(self._application, self._desk, loopback=is_loopback(host))
        return self._network.listen(self._application, host, port)

    def close(self) -> None:
        """Answer what is in hand, then stop."""
        self._network.close()
        self._desk.close()
        for close in self.after:
            close()
