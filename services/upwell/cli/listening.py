"""Listening on the network: where, and what to say of it."""

from typing import TYPE_CHECKING, Annotated

import typer

from upwell.cli.output import note
from upwell.runtime.serving import is_loopback

if TYPE_CHECKING:
    from upwell.config import Settings

DEFAULT = "127.0.0.1:8080"


def address_of(text: str) -> tuple[str, int]:
    """`HOST:PORT` as a pair; an IPv6 host stands in brackets. Raises typer.BadParameter."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT, such as {DEFAULT}")
    return host, int(port)


def announce(url: str, host: str, settings: "Settings", *, readers: bool = False) -> None:
    """Say where it answers (`readers`, too), and what is unwise about it."""
    note(f"listening on {url}: events, hooks,{' search, MCP at /mcp,' if readers else ''} health and metrics")
    if not settings.keys and not any(source.hook for source in settings.sources.values()):
        note("note: no keys and no hooks are set, so every event is refused; `upwell gateway --new-key` makes a key")
    warn_of_network(host)


def announce_reading(url: str, host: str) -> None:
    """Say where readers are answered, and what is unwise about it."""
    note(f"listening on {url}: search and documents under /v1, MCP at /mcp, health and metrics")
    warn_of_network(host)


def warn_of_network(host: str) -> None:
    if not is_loopback(host):
        note("warning: this is plain HTTP on the network: put a proxy that ends TLS in front of it")


def _checked(text: str | None) -> str | None:
    if text is not None:
        address_of(text)
    return text


Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        callback=_checked,
        help="Take events and hooks from the network too (see `keys` and `sources` in the settings), and answer "
        "readers over HTTP and MCP (see `upwell token`).",
    ),
]
GatewayListen = Annotated[
    str, typer.Option("--listen", metavar="HOST:PORT", callback=_checked, help="Where to listen.")
]
