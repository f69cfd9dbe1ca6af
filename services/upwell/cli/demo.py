"""`upwell demo`: a small company's folder, followed; four changes, timed; one question, two answers."""

import shlex
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from upwell.answers import IngestAnswer, SearchAnswer
from upwell.cli import demo_folder, options
from upwell.cli.demo_steps import PEOPLE, QUESTION, Person, Step, changes, measure
from upwell.cli.following import Following
from upwell.cli.ingest import view as ingest_view
from upwell.cli.ingest import warnings_of
from upwell.cli.opening import settings_of
from upwell.cli.output import emit, note
from upwell.cli.principals import login
from upwell.cli.progress import progress_bar
from upwell.cli.search import hit_view
from upwell.errors import Retryable
from upwell.records import Record

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from upwell.answers import FollowingLake
    from upwell.config import Settings

HITS, SNIPPET = 3, 180


class Asked(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A question, who asked it, and the answer."""

    reader: tuple[str, ...]
    answer: SearchAnswer


class DemoAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Everything that the demo did, and where it left its lake."""

    folder: str
    lake: str
    ingest: IngestAnswer
    steps: tuple[Step, ...]
    answers: tuple[Asked, ...]
    next: tuple[str, ...]


def register(app: typer.Typer) -> None:
    app.command(
        short_help="See it work on a sample company",
        help="See it work: a sample company is ingested, changed, and asked by two people with different rights.",
        epilog=options.examples("upwell demo", "upwell demo --dir somewhere/else"),
    )(demo)


def demo(
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where; an earlier demo's folder is made anew.")
    ] = Path("upwell-demo"),
    embedder: options.Embedder = None,
    lake: Annotated[
        Path | None, typer.Option("--lake", metavar="DIR", help="The lake's folder.  [default: lake, inside --dir]")
    ] = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    demo_folder.check(directory)
    home = lake or directory / demo_folder.LAKE
    settings = settings_of(home, config, embedder)
    from upwell import wiring

    if demo_folder.is_ours(directory) and home.exists():
        wiring.own(settings_of(home, config)).close()  # refuses while another process follows the old one
    company = demo_folder.lay_out(directory)
    held = wiring.own(settings)
    try:
        answer = _perform(held, settings, company.absolute(), as_json=as_json)
    finally:
        held.close()
    if as_json:
        emit(answer)


def _perform(held: "FollowingLake", settings: "Settings", company: Path, *, as_json: bool) -> DemoAnswer:
    owner = login()
    with ExitStack() as bar:
        progress = bar.enter_context(progress_bar())
        with Following(held, company, owner=owner, progress=progress) as following:
            ingest = following.ready()
            bar.close()
            if ingest is None:
                raise Retryable("demo: following the folder ended before it began; run `upwell demo` again")
            if not as_json:
                emit(ingest, _ingest_view(ingest, company))
            for warning in warnings_of(ingest):
                note(warning)
            steps = tuple(measure(held, company, change) for change in changes(owner))
            if not as_json:
                emit(steps, steps_view(steps))
            answers = tuple(_ask(held, person, as_json=as_json) for person in PEOPLE)
    answer = DemoAnswer(
        folder=str(company), lake=str(settings.lake), ingest=ingest, steps=steps, answers=answers,
        next=next_commands(settings.lake, company),
    )  # fmt: skip
    if not as_json:
        emit(answer, "\n".join([f"The lake stays in {settings.lake}. Next:", "", *(f"  {c}" for c in answer.next)]))
    return answer


def _ask(held: "FollowingLake", person: Person, *, as_json: bool) -> Asked:
    answer = held.search(QUESTION, principals=person.principals, k=HITS)
    asked = Asked(reader=tuple(sorted(person.principals)), answer=answer)
    if not as_json:
        emit(asked, asked_view(person, answer))
    return asked


def _ingest_view(ingest: IngestAnswer, company: Path) -> "Group":
    from rich.console import Group
    from rich.text import Text

    head = Text(f"A small company's documents are in {_near(company)}", style="bold")
    return Group(head, ingest_view(ingest), Text("Following the folder; now it changes:", style="bold"))


def steps_view(steps: tuple[Step, ...]) -> "Table":
    """One line a change: how long until it showed, and what it cost."""
    from rich.table import Table
    from rich.text import Text

    table = Table("change", box=None, header_style="dim", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("effect")
    for column in ("after", "kept", "reused", "embedded", "removed"):
        table.add_column(column, justify="right")
    for step in steps:
        counts = step.chunks
        table.add_row(
            Text.assemble(step.change, "\n", (f"  {step.path}", "dim"), overflow="fold"),
            step.effect,
            f"{step.seconds:.2f} s",
            *(str(n) for n in (counts.kept, counts.reused, counts.embedded, counts.removed)),
        )
    return table


def asked_view(person: Person, answer: SearchAnswer) -> "Group":
    """Who asked what with which rights, and the hits with their citations."""
    from rich.console import Group
    from rich.text import Text

    rights = ", ".join(person.groups)
    head = Text.assemble(
        "\n", (f"{person.name}, {person.about} ({rights}), asks: ", "bold"), (answer.query, "bold italic")
    )
    return Group(head, *(part for hit in answer.hits for part in hit_view(hit, SNIPPET)))


def next_commands(lake: Path, company: Path) -> tuple[str, ...]:
    """Three commands to type next; `upwell` as this shell can call it."""
    program = "upwell" if shutil.which("upwell") else shlex.quote(str(_near(Path(sys.argv[0]))))
    here = f"--lake {shlex.quote(str(lake))}"
    return (
        f'{program} search "how long is parental leave?" {here} --as tom --group staff',
        f"{program} show handbook/time-off.md {here}",
        f"{program} run {shlex.quote(str(_near(company)))} {here}",
    )


def _near(path: Path) -> Path:
    """`path` as seen from the working directory, where it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
