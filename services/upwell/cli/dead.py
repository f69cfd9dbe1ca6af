"""`upwell dead list|show|replay|discard`: what was refused, why, and another try or none."""

from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import DeadAnswer, DeadFilter
from upwell.cli import dead_filter, options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.search import moment
from upwell.cli.text import UNREADABLE, name, snippet
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


class Discarded(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How many dead letters were forgotten."""

    discarded: int


@app.command(
    "list",
    short_help="What was refused, and why",
    help="List the refused documents with their reasons, oldest first.",
    epilog=options.examples("upwell dead list", "upwell dead list --source docs --reason corrupt --since 7d --json"),
)
@dead_filter.filtered
def list_(
    which: DeadFilter,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answers = api.dead_list(which)
    emit(answers, None if as_json else view(answers))
    if not answers:
        said = "no such dead letters" if which.narrows else "no dead letters: everything accepted has been taken in"
        note(said)


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
    help="Accept dead letters again: those named or filtered; all when nothing is said.",
    epilog=options.examples("upwell dead replay 7 9", "upwell dead replay --reason timed_out --dry-run"),
)
@dead_filter.filtered
def replay(
    which: DeadFilter,
    numbers: dead_filter.Numbers = None,
    everything: dead_filter.All = False,
    dry_run: dead_filter.DryRun = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    which = dead_filter.meant(which, numbers, everything=everything, command="replay", default_all=True)
    with opened(settings_of(lake, config)) as api:
        if dry_run:
            would(tuple(letter for letter in api.dead_list(which) if letter.replayable), "accepted again", as_json)
            return
        answer = Replayed(replayed=api.dead_replay(which))
    emit(answer, None if as_json else f"{answer.replayed} accepted again")


@app.command(
    short_help="Forget for good",
    help="Forget dead letters for good: those named or filtered, or --all. Their events stay ended.",
    epilog=options.examples("upwell dead discard 7 9", "upwell dead discard --older-than 30d --dry-run"),
)
@dead_filter.filtered
def discard(
    which: DeadFilter,
    numbers: dead_filter.Numbers = None,
    everything: dead_filter.All = False,
    dry_run: dead_filter.DryRun = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    which = dead_filter.meant(which, numbers, everything=everything, command="discard")
    with opened(settings_of(lake, config)) as api:
        if dry_run:
            would(api.dead_list(which), "discarded", as_json)
            return
        answer = Discarded(discarded=api.dead_discard(which))
    emit(answer, None if as_json else f"{answer.discarded} discarded")


def would(answers: tuple[DeadAnswer, ...], done: str, as_json: bool) -> None:
    """What a dry run prints: the letters that would be meant."""
    emit(answers, None if as_json else view(answers))
    note(f"dry run: {len(answers)} would be {done}; nothing was changed")


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
            Text(f"{name(letter.source)}/{name(letter.doc_id)}" if letter.doc_id else UNREADABLE, overflow="fold"),
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
        table.add_row(Text(field, style="dim"), Text(_worded(getattr(letter, field)), overflow="fold"))
    return table


def _worded(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else name(str(value))
