"""`upwell gateway`: events and hooks from the network into the distributed lake."""

import hashlib
import secrets
import signal
import threading
from types import FrameType
from typing import Annotated

import typer

from upwell.cli import options
from upwell.cli.errors import INTERRUPTED
from upwell.cli.listening import DEFAULT, GatewayListen, address_of, announce
from upwell.cli.opening import settings_of
from upwell.cli.output import emit, note
from upwell.cli.owned import Owned, end_with_owner

NewKey = Annotated[
    bool, typer.Option("--new-key", help="Make a bearer key, print it with its digest for the settings, and exit.")
]

Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="N",
        min=0,
        max=65535,
        help="Health and metrics on a port of their own; 0: none.  [default: `port`]",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Take events and hooks into the distributed lake",
        help="Take events and hooks from the network into the distributed lake. SIGTERM answers what is in hand, then "
        "stops. (The embedded lake does the same with `upwell run DIR --listen`.)",
        epilog=options.examples("upwell gateway --listen 0.0.0.0:8080", "upwell gateway --new-key"),
    )(gateway)


def gateway(
    listen: GatewayListen = DEFAULT,
    new_key: NewKey = False,
    port: Port = None,
    owned: Owned = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    if new_key:
        _print_key(as_json=as_json)
        return
    settings = settings_of(lake, config)
    if port is not None:
        settings = settings.model_copy(update={"port": port})
    from upwell import wiring

    asked = threading.Event()
    status = 0

    def ask(number: int, _frame: FrameType | None) -> None:
        nonlocal status
        status = INTERRUPTED if number == signal.SIGINT else 0
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    if owned:
        end_with_owner()
    taking = wiring.gateway(settings)
    try:
        host, port = address_of(listen)
        announce(taking.listen(host, port), host, settings)
        asked.wait()
    finally:
        taking.close()
    raise typer.Exit(status)


def _print_key(*, as_json: bool) -> None:
    """The key goes to whoever sends, the digest into the settings; neither can be had again."""
    key = secrets.token_urlsafe(32)
    digest = hashlib.sha256(key.encode()).hexdigest()
    if as_json:
        emit({"key": key, "sha256": digest})
        return
    print(f'# the key, for the sender: {key}\n[[keys]]\nsha256 = "{digest}"\nsource = "…"')
    note("put the lines below the key into upwell.toml, and name the source; the key itself is kept nowhere")
