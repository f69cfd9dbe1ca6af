"""The worker processes of one machine: which there are, how each is started, and how they are kept."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from upwell.cli.output import emit, note
from upwell.records import Record

if TYPE_CHECKING:
    from upwell.config import Settings
    from upwell.runtime.stream.supervisor import Task
    from upwell.runtime.stream.topics import Role


class Ended(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How a process that ran until it was told to stop ended: its exit status."""

    status: int


def tasks_of(roles: Sequence["Role"], places: Sequence[str], port: int, copies: int = 1) -> list["Task"]:
    """A task for every line of the roles, `copies` of each but the ledger.

    `places` are the options that say where lake and settings are; health is on `port`, `port` + 1 … (0: nowhere).
    """
    from upwell.runtime.stream.supervisor import FLOOR_NICE, Task
    from upwell.runtime.stream.topics import Line, Role, lines_of

    pairs = [
        (role, line, copy)
        for role in roles
        for line in lines_of(role)
        for copy in range(1 if role is Role.LEDGER else copies)
    ]
    return [
        Task(
            name="/".join([role] if role is Role.LEDGER else [role, line, str(copy + 1)][: 3 if copies > 1 else 2]),
            command=program("worker", role, "--lane", line, "--port", str(port and port + n), "--owned", *places),
            nice=FLOOR_NICE if line is Line.BACKFILL else 0,
        )
        for n, (role, line, copy) in enumerate(pairs)
    ]


def program(*words: str) -> tuple[str, ...]:
    """The command line of this program as another process runs it, whether its script is on the path or not."""
    return (sys.executable, "-m", "upwell.cli", *words)


def places_of(lake: Path | None, config: Path | None) -> list[str]:
    """The options again, for a child: it stands in the same folder and has the same environment."""
    given = {"--lake": lake, "--config": config}
    return [word for name, path in given.items() if path is not None for word in (name, str(path))]


def supervise(tasks: Sequence["Task"], settings: "Settings") -> int:
    """Keep them running until told to stop; the exit status."""
    from upwell.runtime.stream.supervisor import Supervisor

    return Supervisor(tasks, drain_s=settings.drain_s, say=note).run()


def ended(status: int, *, as_json: bool) -> typer.Exit:
    """What to raise at the end; with `as_json` the one document is printed before."""
    if as_json:
        emit(Ended(status=status))
    return typer.Exit(status)
