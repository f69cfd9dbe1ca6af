"""`upwell topics create|check|describe`: the log of a distributed lake."""

from contextlib import closing
from typing import TYPE_CHECKING

import typer

from upwell.answers import TopicMismatch, TopicsAnswer, TopicsCheck
from upwell.cli import options
from upwell.cli.errors import FAILED
from upwell.cli.opening import settings_of
from upwell.cli.output import emit, note

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

app = typer.Typer(
    rich_markup_mode=None,
    help="The topics of a distributed lake, on the brokers of the setting `brokers`.",
    epilog=options.examples("upwell topics create", "upwell topics check", "upwell topics describe"),
)


app.callback(invoke_without_command=True)(options.or_help)


@app.command(
    short_help="Make what is missing",
    help="Make the topics that are missing, by the settings partitions, replication, retention_days, "
    "compaction_lag_days and message_bytes. Never changes one that is there; says what of it differs.",
    epilog=options.examples("upwell topics create", "UPWELL_BROKERS=localhost:9092 upwell topics create --json"),
)
def create(lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False) -> None:
    from upwell.wiring import topics as wiring

    with closing(wiring.topic_admin(settings_of(lake, config))) as admin:
        answer = TopicsCheck(created=admin.create(), mismatches=admin.check())
    emit(answer, None if as_json else view(answer))
    if answer.mismatches:
        note("what was there before differs from the settings; `upwell topics check` lists it (nothing was changed)")


@app.command(
    short_help="Compare them with the settings",
    help="Compare the topics with the settings. Status 1 when something differs; nothing is changed.",
    epilog=options.examples("upwell topics check", "upwell topics check --json"),
)
def check(lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False) -> None:
    from upwell.wiring import topics as wiring

    with closing(wiring.topic_admin(settings_of(lake, config))) as admin:
        answer = TopicsCheck(created=(), mismatches=admin.check())
    emit(answer, None if as_json else view(answer))
    if answer.mismatches:
        raise typer.Exit(FAILED)


@app.command(
    short_help="What is in them, and who is behind",
    help="Show the topics with their offsets, and how many messages wait for each group of workers.",
    epilog=options.examples("upwell topics describe", "upwell topics describe --json"),
)
def describe(lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False) -> None:
    from upwell.wiring import topics as wiring

    with closing(wiring.lag_reader(settings_of(lake, config))) as reader:
        answer = TopicsAnswer(topics=reader.topics(), groups=reader.groups())
    emit(answer, None if as_json else tables(answer))
    if not answer.topics:
        note("the brokers have none of the lake's topics; `upwell topics create` makes them")


def view(answer: TopicsCheck) -> "RenderableType":
    """What was made, and a line for each difference."""
    from rich.console import Group
    from rich.text import Text

    made = [Text(f"created {topic}") for topic in answer.created]
    if not answer.mismatches:
        return Group(*made, Text("every topic is as the settings have it"))
    return Group(*made, *(Text(line_of(mismatch), style="yellow") for mismatch in answer.mismatches))


def line_of(mismatch: TopicMismatch) -> str:
    """`upwell.dead.v1: partitions is 3, the settings say 12`."""
    if mismatch.what == "topic":
        return f"{mismatch.topic}: missing; upwell topics create makes it"
    return f"{mismatch.topic}: {mismatch.what} is {mismatch.found or 'unset'}, the settings say {mismatch.wanted}"


def tables(answer: TopicsAnswer) -> "Group":
    """Topics with their offsets, and groups with what waits for them."""
    from rich.console import Group
    from rich.table import Table

    topics = Table("topic", box=None, header_style="bold")
    for column in ("partitions", "kept from", "to"):
        topics.add_column(column, justify="right")
    for topic in answer.topics:
        topics.add_row(topic.topic, str(topic.partitions), f"{topic.begin:,}", f"{topic.end:,}")
    groups = Table("group", "topic", box=None, header_style="bold")
    groups.add_column("waiting", justify="right")
    for group in answer.groups:
        groups.add_row(group.group, group.topic, f"{group.lag:,}")
    return Group(topics, "", groups)
