"""`upwell show DOC`: versions, permissions, lineage and chunks of one document."""

from typing import TYPE_CHECKING

import typer

from upwell.answers import ShowAnswer, ShownAcl
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit
from upwell.cli.search import moment
from upwell.cli.text import name, snippet

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


def register(app: typer.Typer) -> None:
    app.command(
        short_help="One document's versions, permissions, lineage, chunks",
        help="Show one document: who may read it, where it came from, its history, its chunks.",
        epilog=options.examples("upwell show handbook/time-off.md", "upwell show handbook/time-off.md --json"),
    )(show)


def show(
    doc: options.Doc,
    source: options.WhichSource = None,
    tenant: options.Tenant = "default",
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    with opened(settings_of(lake, config)) as api:
        answer = api.show(doc, tenant=tenant, source=source)
    emit(answer, None if as_json else view(answer))


def view(answer: ShowAnswer) -> "Group":
    """Facts, then history, then chunks, then what it carries inside."""
    from rich.console import Group
    from rich.text import Text

    title = Text(name(answer.title or answer.doc_id), style="bold")
    own = Group(title, _facts(answer), Text(), _history(answer), Text(), _chunks(answer))
    return Group(own, Text(), _children(answer)) if answer.children else own


def acl_lines(acl: ShownAcl) -> list[str]:
    """The permission in words: each level must admit the reader; deny wins."""
    if not acl.levels:
        lines = ["nobody (no permissions are known)"]
    else:
        lines = ["one of " + ", ".join(name(p) for p in level) for level in acl.levels]
        lines[1:] = [f"and {line}" for line in lines[1:]]
    if acl.deny:
        lines.append("never " + ", ".join(name(p) for p in acl.deny))
    if acl.pending:
        lines.append(f"{acl.pending} more permission(s) wait for their content and only narrow until then")
    return lines


def _facts(answer: ShowAnswer) -> "Table":
    from rich.table import Table
    from rich.text import Text

    state = "deleted" if answer.deleted else (answer.status or "no content yet")
    if answer.moved_to:
        state = f"moved to {name(answer.moved_to)}"
    rows = {
        "document": f"{name(answer.source)}/{name(answer.doc_id)} (tenant {name(answer.tenant)})",
        "state": f"{state}, version {answer.version}",
        "stale": f"since {moment(answer.stale_since)}: {snippet(answer.stale_reason or '', 200)}"
        if answer.stale_since
        else "",
        "type": answer.media_type or "",
        "url": name(answer.url or ""),
        "changed": moment(answer.modified_at),
        "searchable": moment(answer.searchable_at),
        "readers": "\n".join(acl_lines(answer.acl)),
        "lineage": "\n".join(f"{name(k)}: {snippet(v, 200)}" for k, v in answer.lineage.items()),
    }
    table = Table.grid(padding=(0, 2))
    for label, value in rows.items():
        if value:
            table.add_row(Text(label, style="dim"), Text(value, overflow="fold"))
    return table


def _history(answer: ShowAnswer) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table("when", "change", "version", "ended", "detail", box=None, header_style="dim", title=None)
    for line in answer.history:
        table.add_row(
            moment(line.at), line.op, str(line.version), line.outcome, Text(snippet(line.detail, 200), overflow="fold")
        )
    return table


def _children(answer: ShowAnswer) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table("inside", "status", "chunks", "detail", box=None, header_style="dim")
    for child in answer.children:
        table.add_row(
            Text(name(child.doc_id), overflow="fold"),
            child.status,
            str(child.chunks),
            Text(snippet(child.reason or child.title or "", 200), overflow="fold"),
        )
    return table


def _chunks(answer: ShowAnswer) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table("chunk", "page", "tokens", "heading", "text", box=None, header_style="dim")
    for chunk in answer.chunks:
        table.add_row(
            str(chunk.ordinal),
            str(chunk.page or ""),
            str(chunk.tokens),
            Text(snippet(" > ".join(chunk.heading_path), 60)),
            Text(snippet(chunk.text, 200), overflow="fold"),
        )
    return table
