"""`upwell run DIR`: ingest a folder, then follow it until told to stop."""

import signal
from contextlib import ExitStack
from datetime import datetime
from types import FrameType

import typer

from upwell.answers import IngestAnswer
from upwell.cli import options
from upwell.cli.errors import INTERRUPTED
from upwell.cli.following import Following
from upwell.cli.ingest import report
from upwell.cli.listening import Listen, address_of, announce
from upwell.cli.opening import folder_at, keep_apart, settings_of
from upwell.cli.output import note
from upwell.cli.principals import owner_of
from upwell.cli.progress import progress_bar
from upwell.cli.text import name


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Ingest a folder and keep following it",
        help="Ingest a folder, then follow its changes. ctrl-C stops cleanly (status 130), SIGTERM too (status 0).",
        epilog=options.examples(
            "upwell run docs",
            "upwell run docs --owner ana --source handbook",
            "upwell run docs --listen 127.0.0.1:8080",
        ),
    )(run)


class Stop:
    """What SIGINT and SIGTERM ask for: before the lake is open they end the command, after that they stop following."""

    def __init__(self) -> None:
        self.following: Following | None = None
        self.status: int | None = None
        signal.signal(signal.SIGINT, self._asked)
        signal.signal(signal.SIGTERM, self._asked)

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        self.status = INTERRUPTED if number == signal.SIGINT else 0
        if self.following is None:
            raise typer.Exit(self.status)
        self.following.stop.set()


def run(
    folder: options.Folder,
    owner: options.Owner = None,
    source: options.Source = None,
    tenant: options.Tenant = "default",
    embedder: options.Embedder = None,
    listen: Listen = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    path = folder_at(folder)
    who = owner_of(owner)
    settings = settings_of(lake, config, embedder)
    keep_apart(path, settings.lake)
    from upwell import wiring

    stop = Stop()
    held = wiring.own(settings)
    try:
        if listen is not None:
            host, port = address_of(listen)
            announce(held.listen(host, port), host, settings, readers=True)
        with ExitStack() as bar:
            progress = bar.enter_context(progress_bar())
            with Following(
                held, path, owner=who, source=source, tenant=tenant, progress=progress, on_change=_log
            ) as following:
                stop.following = following
                first = following.ready()
                bar.close()
                _announce(first, as_json=as_json)
                following.ended()
    finally:
        held.close()
    raise typer.Exit(stop.status or 0)


def _announce(first: IngestAnswer | None, *, as_json: bool) -> None:
    """What the first pass did; nothing when it was stopped before its end."""
    if first is not None:
        report(first, as_json=as_json)
        note("following; ctrl-C stops")


def _log(line: str) -> None:
    """One change, one line."""
    note(f"{datetime.now().astimezone():%H:%M:%S} {name(line)}")
