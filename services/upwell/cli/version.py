"""`upwell version`."""

import platform

import typer

import upwell
from upwell.cli import options
from upwell.cli.output import emit
from upwell.records import Record


class Versions(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What runs here."""

    version: str
    python: str
    platform: str


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Print the version",
        help="Print the version.",
        epilog=options.examples("upwell version", "upwell version --json"),
    )(version)


def version(lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False) -> None:
    del lake, config  # every command takes them; this one has nothing to ask
    answer = Versions(
        version=upwell.__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
    )
    emit(answer, None if as_json else f"upwell {answer.version} (Python {answer.python}, {answer.platform})")
