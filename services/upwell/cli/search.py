"""`upwell search QUERY`: what a reader may know about it."""

from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import Hit, SearchAnswer
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.principals import reader_of
from upwell.cli.text import name, snippet

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

SNIPPET = 420


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Search with the rights of a reader",
        help="Search with the rights of a reader. Hits come with where they stand and how fresh they are.",
        epilog=options.examples(
            'upwell search "parental leave"',
            'upwell search "salary bands" --as ana --group hr --group leads -k 3',
            'upwell search "kiln temperature" --source handbook --json',
        ),
    )(search)


def search(
    query: options.Query,
    reader: options.Reader = None,
    group: options.Groups = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, metavar="N", help="How many hits.")] = 5,
    tenant: options.Tenant = "default",
    source: options.Sources = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    who = reader_of(reader, group)
    with opened(settings_of(lake, config)) as api:
        answer = api.search(query, principals=who, k=k, tenant=tenant, sources=frozenset(source or ()))
    emit(answer, None if as_json else view(answer))
    if not answer.hits:
        note(f"nothing found that {' '.join(sorted(who))} may read; `upwell status` says what is in the lake")


def view(answer: SearchAnswer) -> "Group":
    """The hits, best first: citation, the source's words, freshness."""
    from rich.console import Group

    return Group(*(part for hit in answer.hits for part in hit_view(hit)))


def hit_view(hit: Hit, limit: int = SNIPPET) -> list["RenderableType"]:
    """One hit: its citation in bold, its words indented, a dim line about its freshness."""
    from rich.padding import Padding
    from rich.text import Text

    return [
        Text(f"{hit.rank}  {name(hit.citation)}", style="bold", overflow="fold"),
        Padding(Text(snippet(hit.text, limit), overflow="fold"), (0, 0, 0, 3)),
        Padding(Text(freshness(hit), style="dim"), (0, 0, 1, 3)),
    ]


def freshness(hit: Hit) -> str:
    """Since when the words can be found, and whether a newer version could not be read."""
    parts = [f"changed {moment(hit.modified_at)}", f"searchable {moment(hit.searchable_at)}"]
    if hit.stale_since:
        parts.append(f"STALE since {moment(hit.stale_since)} ({snippet(hit.stale_reason or 'unknown reason', 80)})")
    return " · ".join([*parts, f"score {hit.score:.3f}"])


def moment(time: str | None) -> str:
    """`2026-01-02 03:04:05`, from RFC 3339."""
    return time[:19].replace("T", " ") if time else "unknown"
