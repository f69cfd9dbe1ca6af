"""`upwell doctor`: what is installed, which weights, what is missing and how to get it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from upwell.answers import Check
from upwell.cli import options
from upwell.cli.opening import settings_of
from upwell.cli.output import emit
from upwell.cli.text import name

if TYPE_CHECKING:
    from rich.table import Table

STYLES = {"ok": "green", "missing": "yellow", "wrong": "bold red"}


def register(app: typer.Typer) -> None:
    app.command(
        short_help="What is installed, what is missing, how to get it",
        help="Check the installation: parts, weights, sandbox, the lake; and say how to get what is missing.",
        epilog=options.examples("upwell doctor", "upwell doctor --json"),
    )(doctor)


def doctor(lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False) -> None:
    settings = settings_of(lake, config)
    from upwell import wiring

    checks = tuple(wiring.doctor(settings))
    emit(checks, None if as_json else view(checks))
    if any(check.state == "wrong" for check in checks):
        raise typer.Exit(1)


def view(checks: Sequence[Check]) -> "Table":
    """One line a finding; what to do below the ones that need it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for check in checks:
        detail = name(check.detail) + (f"\n-> {name(check.remedy)}" if check.remedy else "")
        table.add_row(
            Text(check.state, style=STYLES.get(check.state, "")), name(check.name), Text(detail, overflow="fold")
        )
    return table
