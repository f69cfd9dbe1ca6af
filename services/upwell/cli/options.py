"""The options that commands share, each declared once."""

import unicodedata
from pathlib import Path
from typing import Annotated

import typer


def examples(*lines: str) -> str:
    """An epilog of example lines that the help formatter leaves as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def or_help(context: typer.Context) -> None:
    """A group called without a command shows its help, as a usage error."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def text_of(value: str | None) -> str | None:
    """Arguments in NFC, as document ids are; a name that is not UTF-8 is a usage error."""
    if value is None:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        raise typer.BadParameter("not valid UTF-8") from None
    return unicodedata.normalize("NFC", value)


def name_of(value: str | None) -> str | None:
    """A tenant's or source's name: it must show on a terminal, or nobody could tell it from another."""
    named = text_of(value)
    if named is not None and (not named.strip() or not named.isprintable()):
        raise typer.BadParameter(f"{named!r}: a name is missing or unreadable")
    return named


Lake = Annotated[
    Path | None,
    typer.Option("--lake", metavar="DIR", help="The lake's folder.  [env: UPWELL_LAKE; default: ./.upwell]"),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings.  [default: ./upwell.toml where it exists]"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else there.")]
Tenant = Annotated[str, typer.Option("--tenant", metavar="T", callback=name_of, help="Whose documents.")]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", callback=name_of, help="The source's name.  [default: the folder's name]"),
]
Sources = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="NAME", help="Only this source; may be given several times."),
]
WhichSource = Annotated[
    str | None,
    typer.Option(
        "--source", metavar="NAME", callback=name_of, help="Needed when two sources have a document so named."
    ),
]
Owner = Annotated[
    str | None,
    typer.Option(
        "--owner",
        metavar="WHO",
        callback=text_of,
        help="May read all of the folder unless denied; a bare name is a user.  [default: your login name]",
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="minilm|hash|NAME",
        callback=text_of,
        help="The model of a new lake; `hash` matches words only, for tests.  [default: the lake's own, or minilm]",
    ),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of documents.")]
Doc = Annotated[
    str, typer.Argument(metavar="DOC", callback=text_of, help="The document's id: its path below the folder.")
]
Query = Annotated[str, typer.Argument(metavar="QUERY", callback=text_of, help="What to look for, in plain words.")]
Reader = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="WHO",
        callback=text_of,
        help="Search with the rights of this reader; a bare name is a user.  [default: your login name]",
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="GROUP", help="A group the reader is in; may be given several times."),
]
