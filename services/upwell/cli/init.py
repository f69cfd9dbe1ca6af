"""`upwell init`: make a distributed lake before its workers start."""

import typer

from upwell.cli import options
from upwell.cli.opening import settings_of
from upwell.cli.output import emit


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Make a distributed lake: tables, collection, embedder",
        help="Make the lake that the settings name: the registry's tables (brought forward if they are there), the "
        "vector store's collection, and which embedder it is made with. Safe to run again, and before every upgrade.",
        epilog=options.examples("upwell init", "upwell init --embedder minilm --config upwell.toml --json"),
    )(init)


def init(
    embedder: options.Embedder = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    settings = settings_of(lake, config, embedder)
    from upwell import wiring

    answer = wiring.init(settings)
    done = "made" if answer.created else "is there already"
    emit(answer, None if as_json else f"the lake {done}: embedder {answer.embedder}, pipeline {answer.pipeline}")
