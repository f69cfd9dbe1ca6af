"""`upwell worker ROLE`: one stage of the distributed lake, or a process for each of its lines."""

import signal
from enum import StrEnum
from types import FrameType
from typing import Annotated

import typer

from upwell.cli import options
from upwell.cli.lines import ended, places_of, supervise, tasks_of
from upwell.cli.opening import settings_of
from upwell.cli.owned import Owned, end_with_owner


class RoleName(StrEnum):
    """`runtime.stream.topics.Role`, which help should not have to import; a test holds the two equal."""

    PARSE = "parse"
    CHUNK = "chunk"
    PREFIX = "prefix"
    EMBED = "embed"
    UPSERT = "upsert"
    LEDGER = "ledger"


class LineName(StrEnum):
    LIVE = "live"
    BACKFILL = "backfill"
    CONTROL = "control"


Role = Annotated[RoleName, typer.Argument(metavar="ROLE", help="parse, chunk, prefix, embed, upsert or ledger.")]
Lane = Annotated[
    LineName | None,
    typer.Option("--lane", help="Be the worker of this lane.  [default: a process for each that the stage has]"),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="N",
        min=0,
        max=65535,
        help="Health and metrics: /healthz, /readyz, /metrics; without --lane N, N + 1 …; 0: none.  [default: `port`]",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Run a worker of the distributed lake",
        help="Run a worker of the distributed lake. SIGTERM finishes what is in hand (status 0); a worker that cannot "
        "go on ends with status 1, a misconfigured one with 2. Without --lane the lanes run as processes of their own, "
        "the backfill at a lower priority, and are started again when they die.",
        epilog=options.examples("upwell worker parse", "upwell worker upsert --lane control --port 9000"),
    )(worker)


def worker(
    role: Role,
    lane: Lane = None,
    port: Port = None,
    owned: Owned = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    signal.signal(signal.SIGTERM, _stopped_early)
    settings = settings_of(lake, config)
    if port is not None:
        settings = settings.model_copy(update={"port": port})
    from upwell.runtime.stream import topics

    which = topics.Role(role)
    lines = topics.lines_of(which)
    if lane is None and len(lines) > 1:
        tasks = tasks_of([which], places_of(lake, config), settings.port)
        raise ended(supervise(tasks, settings), as_json=as_json)
    line = lines[0] if lane is None else topics.Line(lane)
    if line not in lines:
        raise typer.BadParameter(f"{role} has no lane {line}", param_hint="--lane")
    if owned:
        end_with_owner()
    from upwell import wiring

    raise ended(wiring.worker(settings, which, line), as_json=as_json)


def _stopped_early(_number: int, _frame: FrameType | None) -> None:
    """Until the worker has a handler of its own there is nothing in hand."""
    raise typer.Exit(0)
