"""`upwell erase DOC`: remove a document everywhere, history included."""

import sys
from typing import Annotated

import typer

from upwell.answers import EraseAnswer
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.text import name
from upwell.errors import Misconfigured


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Remove a document everywhere, history included",
        help="Remove a document everywhere: points, copies, history, log. The source's own file stays where it is.",
        epilog=options.examples(
            "upwell erase people/old-letter.docx", "upwell erase people/old-letter.docx --yes --json"
        ),
    )(erase)


def erase(
    doc: options.Doc,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    source: options.WhichSource = None,
    tenant: options.Tenant = "default",
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    if not yes and (as_json or not sys.stdin.isatty()):
        raise Misconfigured("erase cannot be undone and nobody is there to be asked; give --yes to confirm it")
    if not yes:
        typer.confirm(f"Erase {name(doc)} from the lake for good, its history included?", abort=True, err=True)
    with opened(settings_of(lake, config)) as api:
        answer = api.erase(doc, tenant=tenant, source=source)
    emit(answer, None if as_json else "\n".join(lines(answer)))
    if answer.remaining:
        note(f"upwell: {len(answer.remaining)} place(s) still hold it; run the same command again")
        raise typer.Exit(1)


def lines(answer: EraseAnswer) -> list[str]:
    """What went, by place, and what could not."""
    gone = ", ".join(f"{count} {name(place)}" for place, count in answer.removed.items()) or "nothing was left of it"
    return [
        f"erased {name(answer.source)}/{name(answer.doc_id)}: {gone}",
        *(f"remains: {name(place)}" for place in answer.remaining),
    ]
