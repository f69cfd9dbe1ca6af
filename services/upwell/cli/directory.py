"""`upwell principals set|list`: who is in which group, as the tenant's directory has it."""

from typing import TYPE_CHECKING, Annotated

import typer

from upwell.access import EVERYONE
from upwell.answers import MemberAnswer
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.principals import principal
from upwell.cli.text import name
from upwell.errors import Misconfigured

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    rich_markup_mode=None,
    help="Who is in which group. From the first principal on this alone decides: groups that a token claims are "
    "ignored, and a user who is not listed sees nothing.",
    epilog=options.examples("upwell principals set ana --group eng --group staff", "upwell principals list"),
)


app.callback(invoke_without_command=True)(options.or_help)

Tenant = Annotated[str, typer.Option("--tenant", metavar="T", callback=options.name_of, help="Whose directory.")]


@app.command(
    "set",
    short_help="Say which groups somebody is in",
    help="Say which groups a user or group is directly in; what was said before is replaced. In force at once.",
    epilog=options.examples(
        "upwell principals set user:ana --group eng --group staff",
        "upwell principals set group:eng --group staff",
        "upwell principals set user:bob --gone",
    ),
)
def set_(
    who: Annotated[
        str, typer.Argument(metavar="WHO", callback=options.text_of, help="The principal; a bare name is a user.")
    ],
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="GROUP", help="A group that it is directly in; may be given several times."),
    ] = None,
    gone: Annotated[bool, typer.Option("--gone", help="The directory knows it no more: it sees nothing.")] = False,
    tenant: Tenant = "default",
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    if gone and group:
        raise Misconfigured("--gone and --group exclude each other: who is gone is in no group")
    told = principal(who, bare="user", option="WHO")
    groups = frozenset(principal(one, bare="group", option="--group") for one in group or ())
    if told == EVERYONE or EVERYONE in groups:
        raise Misconfigured("everyone is what each reader is: nobody has to be put in it")
    if any(one.startswith("user:") for one in groups):
        raise Misconfigured("--group: nobody is in a user, for that would be to read as they")
    with opened(settings_of(lake, config), create=True) as api:
        answer = api.principals_set(told, member_of=groups, gone=gone, tenant=tenant)
    emit(answer, None if as_json else line(answer))


@app.command(
    "list",
    short_help="Whom the directory knows",
    help="List the principals that the tenant's directory knows, and the groups that each is directly in.",
    epilog=options.examples("upwell principals list", "upwell principals list --tenant acme --json"),
)
def list_(
    tenant: Tenant = "default",
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answers = api.principals_list(tenant=tenant)
    emit(answers, None if as_json else view(answers))
    if not answers:
        note("the directory knows nobody: if it was ever fed, no user sees anything; if not, tokens name the groups")


def line(answer: MemberAnswer) -> str:
    """What holds of one principal now."""
    if answer.gone:
        return f"{name(answer.principal)} is gone"
    groups = ", ".join(name(group) for group in answer.member_of) or "no group"
    return f"{name(answer.principal)} is in {groups}"


def view(answers: tuple[MemberAnswer, ...]) -> "Table":
    """One line a principal."""
    from rich.table import Table
    from rich.text import Text

    table = Table("principal", box=None, header_style="bold")
    table.add_column("directly in", ratio=1)
    for answer in answers:
        groups = ", ".join(name(group) for group in answer.member_of)
        table.add_row(Text(name(answer.principal), overflow="fold"), Text(groups, overflow="fold"))
    return table
