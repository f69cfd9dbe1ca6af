"""`upwell serve`: readers' questions from the network, over HTTP and MCP."""

import typer

from upwell.cli import options
from upwell.cli.listening import DEFAULT, GatewayListen, address_of, announce_reading
from upwell.cli.opening import settings_of
from upwell.cli.output import emit
from upwell.cli.stopping import Stopping


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Answer readers over HTTP and MCP",
        help="Answer readers from the network: search, context, documents, changes and freshness over HTTP under /v1, "
        "and MCP at /mcp, each shown what their token lets them see (`upwell token` makes one). SIGTERM answers what "
        "is in hand, then stops. (`upwell run DIR --listen` serves all this beside events and hooks.)",
        epilog=options.examples("upwell serve", "upwell serve --listen 0.0.0.0:8080"),
    )(serve)


def serve(
    listen: GatewayListen = DEFAULT,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    settings = settings_of(lake, config)
    from upwell import wiring

    stopping = Stopping()
    server = wiring.read_server(settings)
    try:
        host, port = address_of(listen)
        url = server.listen(host, port)
        announce_reading(url, host)
        if as_json:
            emit({"url": url})
        stopping.asked.wait()
    finally:
        server.close()
    raise typer.Exit(stopping.status)
