"""`upwell dead list|show|replay`: what was refused, why, and another try."""

from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import DeadAnswer
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.search import moment
from upwell.cli.text import name, snippet
from upwell.records import Record

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    rich_markup_mode=None,
    help="What could not be taken in, why, and how to try again.",
    epilog=options.examples("upwell dead list", "upwell dead show 7", "upwell dead replay 7"),
)


app.callback(invoke_without_command=True)(options.or_help)


class Replayed(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How many dead letters were accepted again."""

    replayed: int


@app.command(
    "list",
    short_help="What was refused, and why",
    help="List the refused documents with their reasons.",
    epilog=options.examples("upwell dead list", "upwell dead list --source docs --json"),
)
def list_(
    tenant: Annotated[str | None, typer.Option("--tenant", metavar="T", help="Only this tenant's.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only this source's.")] = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answers = api.dead_list(tenant=tenant, source=source)
    emit(answers, None if as_json else view(answers))
    if not answers:
        note("no dead letters: everything that was accepted has been taken in")


@app.command(
    short_help="One dead letter",
    help="Show one dead letter.",
    epilog=options.examples("upwell dead show 7", "upwell dead show 7 --json"),
)
def show(
    number: Annotated[int, typer.Argument(metavar="ID", help="Its number in `upwell dead list`.")],
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answer = api.dead_show(number)
    emit(answer, None if as_json else letter_view(answer))


@app.command(
    short_help="Try again",
    help="Accept dead letters again: those named, or all.",
    epilog=options.examples("upwell dead replay 7 9", "upwell dead replay"),
)
def replay(
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="[ID]...", help="Which; all when none is named.")
    ] = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answer = Replayed(replayed=api.dead_replay(tuple(numbers or ())))
    emit(answer, None if as_json else f"{answer.replayed} accepted again")


def view(answers: tuple[DeadAnswer, ...]) -> "Table":
    """One line a dead letter."""
    from rich.table import Table
    from rich.text import Text

    table = Table("id", "when", box=None, header_style="bold")
    table.add_column("document", ratio=3)
    for column in ("stage", "reason", "tries"):
        table.add_column(column)
    table.add_column("detail", ratio=2)
    for letter in answers:
        table.add_row(
            str(letter.id),
            moment(letter.at),
            Text(f"{name(letter.source)}/{name(letter.doc_id)}", overflow="fold"),
            letter.stage,
            letter.reason,
            str(letter.attempts),
            Text(snippet(letter.detail, 160), overflow="fold"),
        )
    return table


def letter_view(letter: DeadAnswer) -> "Table":
    """Every field of one dead letter."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for field in letter.__struct_fields__:
        table.add_row(Text(field, style="dim"), Text(name(str(getattr(letter, field))), overflow="fold"))
    return table
