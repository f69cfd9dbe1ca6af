"""The options that say which dead letters are meant, the same for every command over them."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer
from msgspec.structs import replace

from upwell.answers import DeadFilter
from upwell.cli.moments import moment_us
from upwell.cli.options import name_of, text_of
from upwell.clock import now_us
from upwell.errors import Misconfigured

Numbers = Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Their numbers in `upwell dead list`.")]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="T", callback=name_of, help="Only this tenant's.")]
Source = Annotated[str | None, typer.Option("--source", metavar="NAME", callback=name_of, help="Only this source's.")]
Document = Annotated[
    str | None,
    typer.Option("--doc", metavar="GLOB", callback=text_of, help="Only documents so named; `*` crosses folders."),
]
Stage = Annotated[str | None, typer.Option("--stage", metavar="STAGE", help="Only those refused at this stage.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="REASON", help="Only those with this reason.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="WHEN", help="Only those since then: 90m, 12h, 7d, 2w ago or a date.")
]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", metavar="WHEN", help="Only those before then: 30d ago or a date.")
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="The N oldest of them at most.")]
All = Annotated[bool, typer.Option("--all", help="All of them; not together with numbers or filters.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show which; change nothing.")]


def letters(
    tenant: Tenant = None,
    source: Source = None,
    doc: Document = None,
    stage: Stage = None,
    reason: Reason = None,
    since: Since = None,
    older_than: OlderThan = None,
    limit: Limit = None,
) -> DeadFilter:
    """The filter that the options mean. Raises BadParameter for a moment that is none."""
    now = now_us()
    return DeadFilter(
        tenant=tenant,
        source=source,
        doc=doc,
        stage=stage,
        reason=reason,
        since=None if since is None else moment_us(since, now),
        before=None if older_than is None else moment_us(older_than, now),
        limit=limit,
    )


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes the options of `letters` beside its own, and gets the filter they mean as its first
    argument.
    """
    options = signature(letters).parameters
    _, *own = signature(command).parameters.values()

    @wraps(command)
    def called(**given: Any) -> None:
        command(letters(**{name: given.pop(name) for name in options}), **given)

    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*options.values(), *own)]
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def meant(
    which: DeadFilter, numbers: list[int] | None, *, everything: bool, command: str, default_all: bool = False
) -> DeadFilter:
    """`which` and the numbers, once it is sure that nobody means all by accident. Raises Misconfigured otherwise."""
    which = replace(which, ids=tuple(numbers or ()))
    if everything and which.narrows:
        raise Misconfigured(f"dead {command}: --all and a choice of some exclude each other: leave one out")
    if not (everything or which.narrows or default_all):
        raise Misconfigured(f"dead {command}: say which: numbers, a filter such as --source or --reason, or --all")
    return which
