"""`upwell ingest DIR`: read a folder once."""

from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import IngestAnswer
from upwell.cli import options
from upwell.cli.opening import folder_at, keep_apart, opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.principals import owner_of
from upwell.cli.progress import progress_bar
from upwell.records import Record

if TYPE_CHECKING:
    from rich.table import Table


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Read a folder once",
        help="Read a folder once: what is new or changed becomes searchable, what is gone is hidden.",
        epilog=options.examples(
            "upwell ingest docs",
            "upwell ingest docs --owner ana --source handbook --strict --json",
        ),
    )(ingest)


def ingest(
    folder: options.Folder,
    owner: options.Owner = None,
    source: options.Source = None,
    tenant: options.Tenant = "default",
    embedder: options.Embedder = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a document was refused.")] = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    path = folder_at(folder)
    who = owner_of(owner)
    settings = settings_of(lake, config, embedder)
    keep_apart(path, settings.lake)
    with opened(settings, create=True) as api, progress_bar() as progress:
        answer = api.ingest(path, owner=who, source=source, tenant=tenant, progress=progress)
    report(answer, as_json=as_json)
    if strict and answer.documents.dead:
        raise typer.Exit(1)


def report(answer: IngestAnswer, *, as_json: bool) -> None:
    """Print what an ingest did, its warnings, and where to look when documents were refused."""
    emit(answer, None if as_json else view(answer))
    for warning in warnings_of(answer):
        note(warning)


def warnings_of(answer: IngestAnswer) -> list[str]:
    """The lake's own warnings, and where to look when documents were refused."""
    refused = answer.documents.dead
    return [
        *(f"warning: {warning}" for warning in answer.warnings),
        *([f"{refused} refused; `upwell dead list` says why"] if refused else []),
    ]


def view(answer: IngestAnswer) -> "Table":
    """Two lines, documents and chunks, with only the counts that say something."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_row("documents", f"{answer.documents.seen} seen", said(answer.documents, without="seen"))
    total = answer.chunks.kept + answer.chunks.reused + answer.chunks.embedded
    table.add_row("chunks", f"{total} live", said(answer.chunks))
    table.add_row("time", f"{answer.seconds:.1f} s", f"{answer.tokens_embedded:,} tokens embedded")
    return table


def said(counts: Record, without: str = "") -> str:
    """`3 new, 1 changed`: the counts that are not zero, in their order."""
    named = [(f, getattr(counts, f)) for f in counts.__struct_fields__ if f != without]
    return ", ".join(f"{count:,} {field.replace('_', ' ')}" for field, count in named if count) or "nothing to do"
