"""`upwell approve`: let a mass delete pass that waits for a person, or keep the documents."""

from typing import Annotated

import typer

from upwell.answers import ApproveAnswer
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.search import moment
from upwell.cli.text import name


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Let deletes pass that wait for you",
        help="A folder that lost many documents at once deletes nothing by itself; `status` says so. This lets those "
        "deletes pass, or with --discard keeps the documents until their files come back.",
        epilog=options.examples("upwell approve --source docs", "upwell approve --source docs --discard --json"),
    )(approve)


def approve(
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", callback=options.name_of, help="Of this source.  [default: all]"),
    ] = None,
    discard: Annotated[bool, typer.Option("--discard", help="Keep the documents instead.")] = False,
    tenant: options.Tenant = "default",
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answer = api.approve(tenant=tenant, source=source, discard=discard)
    if as_json or answer.sources:
        emit(answer, None if as_json else "\n".join(lines(answer)))
    if not answer.sources:
        note("no deletes wait")


def lines(answer: ApproveAnswer) -> list[str]:
    """What became of what waited, a line a source."""
    done = "stay" if answer.discarded else "are deleted"
    return [
        f"{name(one.source)}: {one.documents:,} documents {done} (waited since {moment(one.since)})"
        for one in answer.sources
    ]
