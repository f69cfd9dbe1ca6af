"""All commands, put together. Plain help: the boxes of typer's rich help would triple the time of `--help`."""

from typing import Annotated

import typer

from upwell.cli import (
    approve,
    audit,
    context,
    dead,
    demo,
    directory,
    doctor,
    erase,
    explain,
    gateway,
    ingest,
    init,
    mcp,
    run,
    search,
    serve,
    show,
    status,
    token,
    topics,
    up,
    verify,
    version,
    worker,
)
from upwell.cli.options import examples, or_help

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Keep a governed context lake: your documents, searchable in a second, shown only to those who may see them.",
    epilog=examples(
        "upwell demo",
        "upwell run docs",
        'upwell search "how long is parental leave" --as ana --group hr',
        "upwell status --watch",
    ),
)


@app.callback(invoke_without_command=True)
def root(
    called: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if show_version:
        version.version()
        raise typer.Exit
    or_help(called)


for module in (
    demo,
    run,
    ingest,
    search,
    context,
    show,
    status,
    explain,
    approve,
    erase,
    verify,
    doctor,
    init,
    up,
    worker,
    gateway,
    serve,
    mcp,
    token,
    version,
):
    module.register(app)
app.add_typer(dead.app, name="dead", short_help="What could not be taken in, why, and another try")
app.add_typer(audit.app, name="audit", short_help="Who did what, and whether the records of it stand")
app.add_typer(directory.app, name="principals", short_help="Who is in which group")
app.add_typer(topics.app, name="topics", short_help="The topics of a distributed lake")
