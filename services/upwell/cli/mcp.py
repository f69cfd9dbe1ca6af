"""`upwell mcp`: the lake as tools and resources for an agent that starts this command."""

import typer

from upwell.cli import options
from upwell.cli.opening import settings_of
from upwell.cli.principals import login, principal


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Answer an agent over standard input and output (MCP)",
        help="Answer an agent that starts this command and speaks MCP on standard input and output, with the rights of "
        "a reader. Asks the `upwell run` or `serve` that has the lake, or opens it while there are questions.",
        epilog=options.examples("upwell mcp --as ana --group hr", "upwell mcp --as ana --lake ~/notes/.upwell"),
    )(mcp)


def mcp(
    reader: options.Reader = None,
    group: options.Groups = None,
    tenant: options.Tenant = "default",
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,  # noqa: ARG001  nothing but the protocol's JSON is ever printed
) -> None:
    who = login() if reader is None else principal(reader, bare="user", option="--as")
    groups = frozenset(principal(g, bare="group", option="--group") for g in group or ())
    settings = settings_of(lake, config)
    from upwell import wiring

    with wiring.reading(settings) as api:
        from upwell.runtime.serve.mcp.stdio import serve

        serve(api, who=who, groups=groups, tenant=tenant)
