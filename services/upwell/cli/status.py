"""`upwell status`: how fresh is what."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import SourceStatus, StatusAnswer
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import console, emit, note
from upwell.cli.search import moment
from upwell.cli.text import UNREADABLE, name, snippet
from upwell.errors import Misconfigured, Retryable

if TYPE_CHECKING:
    from rich.console import Group

    from upwell.config import Settings


MANY_OWED = 1000
"""So many acts that wait for the audit are worth a line: a second's worth is nothing to look at."""


def register(app: typer.Typer) -> None:
    app.command(
        short_help="How fresh is what",
        help="Show each source's watermark, staleness, lag, counts and refusals.",
        epilog=options.examples("upwell status", "upwell status --watch", "upwell status --json"),
    )(status)


def status(
    watch: Annotated[bool, typer.Option("--watch", help="Keep the table current until ctrl-C.")] = False,
    every: Annotated[float, typer.Option("--every", min=0.2, metavar="S", help="Seconds between two looks.")] = 2.0,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    if watch and as_json:
        raise Misconfigured(
            "--watch and --json exclude each other: --json prints one document; ask for it again and again"
        )
    settings = settings_of(lake, config)
    if watch:
        _watch(settings, every)
        return
    answer = _ask(settings)
    emit(answer, None if as_json else view(answer))
    if not answer.sources:
        note(f"the lake {name(answer.lake)} is empty; `upwell ingest DIR` fills it")


def _ask(settings: "Settings") -> StatusAnswer:
    """Asked anew each time: a lake held open between two looks would keep others from owning it."""
    with opened(settings) as api:
        return api.status()


def _watch(settings: "Settings", every_s: float) -> None:
    if not sys.stdout.isatty():  # a pipe gets one table after the other
        while True:
            emit(None, view(_ask(settings)))
            time.sleep(every_s)
    from rich.live import Live
    from rich.text import Text

    with Live(console=console(sys.stdout), auto_refresh=False) as live:
        while True:
            try:
                shown: Group | Text = view(_ask(settings))
            except Retryable as e:  # an owner that has just ended, or one that starts
                shown = Text(name(str(e)))
            live.update(shown, refresh=True)
            time.sleep(every_s)


def view(answer: StatusAnswer) -> "Group":
    """A line about the lake, a table of its sources, and what a person should look at."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = Text(f"{name(answer.lake)}  ·  {name(answer.embedder)}  ·  {name(answer.owner)}", style="dim")
    table = Table("source", box=None, header_style="bold")
    for column in ("documents", "chunks", "pending", "refused", "behind"):
        table.add_column(column, justify="right")
    table.add_column("current to")
    unconfirmed = any(source.acl_missing for source in answer.sources)
    if unconfirmed:
        table.add_column("unconfirmed rights", justify="right")
    for source in answer.sources:
        table.add_row(*_row(source), *((_unconfirmed(source),) if unconfirmed else ()))
    warnings = [
        Text(f"{name(source.source)}: {snippet(warning, 300)}", style="yellow")
        for source in answer.sources
        for warning in source.warnings
    ]
    return Group(head, table, *(Text(line, style="dim") for line in of_the_workers(answer)), *warnings)


def of_the_workers(answer: StatusAnswer) -> list[str]:
    """How all events ended, and who has messages waiting: what only a distributed lake says."""
    counts = {
        "events": answer.outcomes,
        "waiting": {group: n for group, n in answer.lag.items() if n},
        "not in the audit yet": {"acts": answer.audit_owed} if answer.audit_owed >= MANY_OWED else {},
    }
    return [
        f"{what}: " + ", ".join(f"{count:,} {name(of)}" for of, count in sorted(found.items()))
        for what, found in counts.items()
        if found
    ]


def _unconfirmed(source: SourceStatus) -> str:
    """`12 (3 hidden)`: documents whose permission the source cannot confirm."""
    hidden = f" ({source.acl_hidden:,} hidden)" if source.acl_hidden else ""
    return f"{source.acl_missing:,}{hidden}"


def _row(source: SourceStatus) -> tuple["str", ...]:
    label = name(source.source) if source.tenant == "default" else f"{name(source.tenant)}: {name(source.source)}"
    if not source.source:
        label = UNREADABLE
    return (
        label,
        f"{source.documents:,}",
        f"{source.chunks:,}",
        f"{source.pending:,}",
        f"{source.dead:,}",
        duration(source.staleness_s),
        moment(source.watermark),
    )


def duration(seconds: float | None) -> str:
    """`0.4 s`, `12 s`, `5 min`, `3 h`, `2 d`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    for limit, unit, size in ((120.0, "s", 1.0), (7200.0, "min", 60.0), (172800.0, "h", 3600.0)):
        if seconds < limit:
            value = seconds / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"
