"""`upwell audit verify|list|export`: who did what, and whether anybody has changed the records of it."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from upwell.cli import options
from upwell.cli.moments import moment_us
from upwell.cli.opening import settings_of
from upwell.cli.output import RISKY, emit, silence
from upwell.cli.text import name, snippet
from upwell.clock import now_us, rfc3339
from upwell.errors import Misconfigured
from upwell.ports import Act
from upwell.records import Record

if TYPE_CHECKING:
    from rich.table import Table

    from upwell.audit.records import AuditLine, AuditRecords
    from upwell.audit.verify import ChainReport

app = typer.Typer(
    rich_markup_mode=None,
    help="Who did what, and whether anybody has changed the records of it.",
    epilog=options.examples("upwell audit verify", "upwell audit list -n 50", "upwell audit export --since 30d"),
)

app.callback(invoke_without_command=True)(options.or_help)

Since = Annotated[
    str | None, typer.Option("--since", metavar="WHEN", help="Only those since then: 90m, 12h, 7d, 2w ago or a date.")
]
Before = Annotated[
    str | None, typer.Option("--before", metavar="WHEN", help="Only those before then: 30d ago or a date.")
]
WhichAct = Annotated[Act | None, typer.Option("--act", help="Only acts of this kind.")]
Actor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        metavar="WHO",
        callback=options.text_of,
        help="Only this actor's: user:ana, operator:ana, source:docs.",
    ),
]
WhoseTenant = Annotated[
    str | None, typer.Option("--tenant", metavar="T", callback=options.name_of, help="Only this tenant's.")
]
Count = Annotated[int, typer.Option("-n", metavar="N", min=1, max=10_000, help="How many.")]


class VerifyAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What `--json` prints: every chain, those that are bad with their first bad place."""

    ok: bool
    records: int
    chains: tuple["ChainAnswer", ...]


class ChainAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One process's records. `unsealed` stand after the last seal: their end could be cut off unseen."""

    writer: str
    host: str
    started: str | None
    records: int
    expired: int
    unsealed: int
    signed: bool
    closed: bool
    bad: str | None


class ExpireAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How many records were removed."""

    expired: int


@app.command(
    short_help="Whether anybody has changed the records",
    help="Walk every chain of records and its seals. Exit status 1 if anything was changed, removed or added, with the "
    "first bad place of each chain.",
    epilog=options.examples("upwell audit verify", "upwell audit verify --json"),
)
def verify(lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False) -> None:
    with _opened(lake, config) as records:
        chains = tuple(_answer(report) for report in records.verify())
    answer = VerifyAnswer(
        ok=all(found.bad is None for found in chains), records=sum(found.records for found in chains), chains=chains
    )
    emit(answer, None if as_json else "\n".join(verdict(answer)))
    if not answer.ok:
        raise typer.Exit(1)


@app.command(
    "list",
    short_help="The last records",
    help="List the last records, oldest first.",
    epilog=options.examples("upwell audit list", "upwell audit list -n 100 --json"),
)
def list_(
    count: Count = 20, lake: options.Lake = None, config: options.Config = None, as_json: options.Json = False
) -> None:
    with _opened(lake, config) as records:
        lines = records.last(count)
    emit(lines, None if as_json else view(lines))


@app.command(
    short_help="All records, one JSON document a line",
    help="Print the records by time, one JSON document a line (with --json one array of them). Without --act, --actor "
    "and --tenant all that the chains hold, so that their hashes can be checked elsewhere.",
    epilog=options.examples("upwell audit export", "upwell audit export --since 30d --act search --actor user:ana"),
)
def export(
    since: Since = None,
    before: Before = None,
    act: WhichAct = None,
    actor: Actor = None,
    tenant: WhoseTenant = None,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    from upwell.audit.records import AuditFilter

    now = now_us()
    which = AuditFilter(
        since=0 if since is None else moment_us(since, now),
        before=None if before is None else moment_us(before, now),
        act=act,
        actor=actor,
        tenant=tenant,
    )
    with _opened(lake, config) as records:
        lines = (one_line(line) for line in records.lines(which))
        _stream(_array(lines) if as_json else (f"{line}\n" for line in lines))


@app.command(
    short_help="Let old records go",
    help="Remove records from before WHEN, whole sealed beginnings of chains alone; a signed checkpoint stands for "
    "them. Nothing is removed from an audit that does not verify.",
    epilog=options.examples(
        "upwell audit expire --before 400d --yes",
        "upwell audit expire --before 2025-01-01",
    ),
)
def expire(
    before: Annotated[str, typer.Option("--before", metavar="WHEN", help="Records older than this: 400d or a date.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    until = moment_us(before, now_us())
    if not yes and (as_json or not sys.stdin.isatty()):
        raise Misconfigured("expired records cannot be had back and nobody is there to be asked; give --yes")
    if not yes:
        typer.confirm(f"Remove the audit's sealed records from before {rfc3339(until)} for good?", abort=True, err=True)
    with _opened(lake, config) as records:
        answer = ExpireAnswer(expired=records.expire(until))
    emit(answer, None if as_json else f"{answer.expired:,} records expired")


def verdict(answer: VerifyAnswer) -> list[str]:
    """What a person is told: the bad chains, then a sum."""
    bad = [found for found in answer.chains if found.bad is not None]
    unsealed = sum(found.unsealed for found in answer.chains)
    unsigned = sum(not found.signed for found in answer.chains if found.bad is None)
    lines = [
        f"BAD  {name(found.writer)} ({name(found.host) or 'host unknown'}): {name(found.bad or '')}" for found in bad
    ]
    lines.append(f"{answer.records:,} records in {len(answer.chains):,} chains: {len(bad) or 'none'} bad")
    if unsealed:
        lines.append(f"{unsealed:,} records are not sealed yet, or never will be: their writer runs, or was killed")
    if unsigned:
        lines.append(f"{unsigned:,} chains are sealed without a signature: their processes had no key")
    return lines


def one_line(line: "AuditLine") -> str:
    """A record as JSON in ASCII on one line; its entry in the form that its hash is over."""
    text = json.dumps(msgspec.to_builtins(line), separators=(",", ":"), sort_keys=True)
    return RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def view(lines: "list[AuditLine]") -> "Table":
    """One line a record."""
    from rich.table import Table
    from rich.text import Text

    table = Table("when", "act", "who", box=None, header_style="bold")
    table.add_column("what", ratio=2)
    table.add_column("how it ended", ratio=1)
    for line in lines:
        entry = line.entry or {}
        table.add_row(
            line.at[:19].replace("T", " "),
            name(str(entry.get("act") or next(iter(entry), "unreadable"))),
            Text(name(str(entry.get("actor") or (entry.get("opens") or {}).get("host", ""))), overflow="fold"),
            Text(snippet(_what(entry), 160), overflow="fold"),
            Text(snippet(_end(entry), 80), overflow="fold"),
        )
    return table


def _what(entry: dict[str, object]) -> str:
    document, principals = entry.get("document"), entry.get("principals")
    if isinstance(document, dict):
        return f"{document.get('source')}/{document.get('doc_id')}"
    query = f"{entry.get('query', '')} " if entry.get("query") else ""
    return f"{query}for {', '.join(map(str, principals))}" if isinstance(principals, list) else query


def _end(entry: dict[str, object]) -> str:
    if "act" not in entry:
        return ""
    hits, refused = entry.get("hits"), entry.get("refused")
    shown = f", {len(hits)} shown" if isinstance(hits, list) else ""
    kept = f", {refused} refused" if refused else ""
    reason = f" ({entry['reason']})" if entry.get("reason") else ""
    return f"{entry.get('outcome', 'ok')}{reason}{shown}{kept}"


def _answer(report: "ChainReport") -> ChainAnswer:
    values = {field: getattr(report, field) for field in ChainAnswer.__struct_fields__}
    return ChainAnswer(**{**values, "started": rfc3339(report.started or None)})


@contextmanager
def _opened(lake: Path | None, config: Path | None) -> Iterator["AuditRecords"]:
    """The audit's records, read beside whoever writes them. Raises Misconfigured where there are none."""
    from upwell import wiring

    records = wiring.audit(settings_of(lake, config))
    try:
        yield records
    finally:
        records.close()


def _array(lines: Iterable[str]) -> Iterator[str]:
    """The lines as one JSON array, never held together."""
    start = "["
    for line in lines:
        yield f"{start}\n{line}"
        start = ","
    yield "[]\n" if start == "[" else "\n]\n"


def _stream(parts: Iterable[str]) -> None:
    """Print as it comes. A reader that has gone away is no error."""
    try:
        for part in parts:
            sys.stdout.write(part)
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        raise typer.Exit(0) from None
