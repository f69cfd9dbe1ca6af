"""`upwell up`: a whole distributed lake's workers on this machine, for development."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from upwell.cli import options
from upwell.cli.lines import ended, places_of, program, supervise, tasks_of
from upwell.cli.listening import Listen
from upwell.cli.opening import settings_of
from upwell.cli.output import note

if TYPE_CHECKING:
    from upwell.config import Settings
    from upwell.runtime.stream.supervisor import Task

Copies = Annotated[int, typer.Option("--workers", metavar="N", min=1, max=64, help="Processes of each stage and lane.")]


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Run all workers of the distributed lake here",
        help="Make what is missing of the topics and the lake, then run every worker of the distributed lake on this "
        "machine, against the brokers of the settings; for development. ctrl-C stops all of them.",
        epilog=options.examples("upwell up", "upwell up --workers 2 --listen 127.0.0.1:8080"),
    )(up)


def up(
    copies: Copies = 1,
    listen: Listen = None,
    embedder: options.Embedder = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    settings = settings_of(lake, config, embedder)
    _prepare(settings)
    tasks = all_tasks(settings.port, places_of(lake, config), copies, listen)
    note(f"running {len(tasks)} processes; ctrl-C stops them")
    raise ended(supervise(tasks, settings), as_json=as_json)


def all_tasks(port: int, places: Sequence[str], copies: int, listen: str | None) -> list["Task"]:
    """The workers, and the gateway where it shall listen: health is on `port`, `port` + 1 … (0: nowhere)."""
    from upwell.runtime.stream.supervisor import Task
    from upwell.runtime.stream.topics import Role

    tasks = tasks_of(list(Role), places, port, copies)
    if listen is None:
        return tasks
    own = str(port and port + len(tasks))  # the setting alone would give it the first worker's
    return [
        *tasks,
        Task(name="gateway", command=program("gateway", "--listen", listen, "--port", own, "--owned", *places)),
    ]


def _prepare(settings: "Settings") -> None:
    from upwell import wiring
    from upwell.wiring import topics

    with closing(topics.topic_admin(settings)) as admin:
        for made in admin.create():
            note(f"created topic {made}")
        for mismatch in admin.check():
            note(f"warning: topic {mismatch.topic} is not as the settings say; see `upwell topics check`")
    wiring.init(settings)
