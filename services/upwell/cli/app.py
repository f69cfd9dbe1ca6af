"""All commands, put together. Plain help: the boxes of typer's rich help would triple the time of `--help`."""

from typing import Annotated

import typer

from upwell.cli import dead, demo, doctor, erase, explain, ingest, run, search, show, status, version
from upwell.cli.options import examples

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Keep a governed context lake: your documents, searchable in a second, shown only to those who may see them.",
    epilog=examples(
        "upwell demo                                        see it work on a sample company",
        "upwell run docs                                    ingest a folder and keep following it",
        'upwell search "parental leave" --as ana --group hr ask as a person with rights',
        "upwell status                                      how fresh is what",
    ),
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if show_version:
        version.version()
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


for module in (demo, run, ingest, search, show, status, explain, erase, doctor, version):
    module.register(app)
app.add_typer(dead.app, name="dead")
