"""`upwell erase`: remove a document, a source, a tenant or what is known of a person, and get a certificate."""

import sys
from typing import Annotated

import typer

from upwell.answers import EraseAnswer, EraseWish, LakeApi, Remainder, Scope
from upwell.cli import options
from upwell.cli.opening import opened, settings_of
from upwell.cli.output import emit, note
from upwell.cli.principals import principal as principal_of
from upwell.cli.text import name
from upwell.errors import Misconfigured

LISTED = 20
HELP = """Remove a document everywhere (points, copies, dead letters, history, log), look into every store again, and
sign a certificate. The source's own file stays where it is, and comes back only when it changes.

With DOC (or --doc) that document, under the ids it had before a move too; --source and --tenant say whose it is.
Without: --source alone removes all documents of a source and what its folder remembers, --tenant alone those of a
tenant and its directory's members. --principal removes what the lake knows of a person: their memberships. Documents
that nobody else may read are listed, and erased with --with-documents. The name stays in permissions, which are the
sources', and in the audit; the certificate says so.

A certificate is issued when all earlier events of the documents have ended. It says what cannot be removed, and until
when it stays. `upwell verify` checks it."""

DocName = Annotated[
    str | None,
    typer.Argument(metavar="[DOC]", callback=options.text_of, help="The document's id: its path below the folder."),
]


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Remove a document, a source, a tenant or a person's traces, with a certificate",
        help=HELP,
        epilog=options.examples(
            "upwell erase people/old-letter.docx",
            "upwell erase --doc people/old-letter.docx --yes --json",
            "upwell erase --source wiki --dry-run",
            "upwell erase --tenant acme --yes",
            "upwell erase --principal user:ana --with-documents --dry-run",
        ),
    )(erase)


def erase(
    doc: DocName = None,
    doc_option: Annotated[
        str | None, typer.Option("--doc", metavar="DOC", callback=options.text_of, help="The same as DOC.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="NAME",
            callback=options.name_of,
            help="With DOC: whose it is, needed when two sources have one so named. Alone: all of this source.",
        ),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="T",
            callback=options.name_of,
            help="With another: whose it is.  [default: default]  Alone: all of this tenant.",
        ),
    ] = None,
    principal: Annotated[
        str | None,
        typer.Option("--principal", metavar="WHO", callback=options.text_of, help="A person; a bare name is a user."),
    ] = None,
    with_documents: Annotated[
        bool, typer.Option("--with-documents", help="With --principal: the documents that nobody else may read, too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed, and what would stay.")
    ] = False,
    no_names: Annotated[
        bool, typer.Option("--no-names", help="Digests instead of ids and names in the certificate.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    wish = wish_of(
        doc if doc is not None else doc_option,
        source=source,
        tenant=tenant,
        principal=principal,
        with_documents=with_documents,
        dry_run=dry_run,
        names=not no_names,
    )
    if doc is not None and doc_option not in (None, doc):
        raise Misconfigured("DOC and --doc name two documents: give one of them")
    if not yes and not dry_run and (as_json or not sys.stdin.isatty()):
        raise Misconfigured("erase cannot be undone and nobody is there to be asked; give --yes to confirm it")
    if not yes and not dry_run and wish.scope is Scope.DOCUMENT:
        typer.confirm(f"Erase {name(wish.name)} from the lake for good, its history included?", abort=True, err=True)
        yes = True
    with opened(settings_of(lake, config)) as api:
        if not yes and not dry_run:
            _ask(api, wish)
        answer = api.erase_all(wish)
    emit(answer, None if as_json else "\n".join(lines(answer)))
    if answer.remaining:
        note(f"upwell: {len(answer.remaining)} place(s) still hold it; run the same command again")
        raise typer.Exit(1)


def wish_of(
    doc: str | None,
    *,
    source: str | None,
    tenant: str | None,
    principal: str | None,
    with_documents: bool = False,
    dry_run: bool = False,
    names: bool = True,
) -> EraseWish:
    """What the options mean together. Raises Misconfigured for what they cannot mean."""
    if with_documents and principal is None:
        raise Misconfigured("--with-documents goes with --principal: whose documents?")
    whose = tenant or "default"
    how = {"tenant": whose, "dry_run": dry_run, "names": names}
    if principal is not None:
        if doc is not None or source is not None:
            raise Misconfigured("--principal is about a person in all of a tenant: leave DOC and --source out")
        who = principal_of(principal, bare="user", option="--principal")
        return EraseWish(scope=Scope.PRINCIPAL, name=who, with_documents=with_documents, **how)  # type: ignore[arg-type]
    if doc is not None:
        return EraseWish(scope=Scope.DOCUMENT, name=doc, source=source, **how)  # type: ignore[arg-type]
    if source is not None:
        return EraseWish(scope=Scope.SOURCE, name=source, **how)  # type: ignore[arg-type]
    if tenant is not None:
        return EraseWish(scope=Scope.TENANT, name=tenant, **how)  # type: ignore[arg-type]
    raise Misconfigured("erase what? Name a document, or --source, --tenant or --principal")


def lines(answer: EraseAnswer) -> list[str]:
    """What went (or would go), by place, what could not, and what stays by design."""
    gone = ", ".join(f"{count} {name(place)}" for place, count in answer.removed.items()) or "nothing was left of it"
    certificate = answer.certificate
    verb = "would erase" if answer.dry_run else "erased"
    return [
        f"{verb} {_what(answer)}: {gone}",
        *(f"left alone: {name(one)}" for one in answer.listed[:LISTED]),
        *([f"left alone: {len(answer.listed) - LISTED} more"] if len(answer.listed) > LISTED else []),
        *(f"remains: {name(place)}" for place in answer.remaining),
        *(f"note: {name(text)}" for text in answer.warnings),
        *([f"certificate {certificate.id} of {certificate.issued_at}; --json prints it"] if certificate else []),
        *(f"stays: {_stays(one)}" for one in (certificate.remaining if certificate else ())),
    ]


def _stays(one: Remainder) -> str:
    until = f", until {one.until}" if one.until else ""
    return f"{name(one.place)}: {name(one.what)}{until} ({name(one.bound)})"


def _what(answer: EraseAnswer) -> str:
    if answer.scope is Scope.DOCUMENT:
        return f"{name(answer.source)}/{name(answer.doc_id)}" if answer.source else name(answer.doc_id)
    return f"{answer.scope} {name(answer.name)} ({answer.documents} documents)"


def _ask(api: LakeApi, wish: EraseWish) -> None:
    """Show what would go, then ask."""
    import msgspec

    for line in lines(api.erase_all(msgspec.structs.replace(wish, dry_run=True))):
        note(line)
    typer.confirm(f"Erase {wish.scope} {name(wish.name)} from the lake for good?", abort=True, err=True)
