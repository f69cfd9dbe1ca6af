"""`upwell token`: a bearer token signed with the lake's own key, for who runs a lake without an identity provider."""

import re
from typing import Annotated

import typer

from upwell.cli import options
from upwell.cli.moments import UNITS_S
from upwell.cli.opening import settings_of
from upwell.cli.output import emit, note
from upwell.cli.principals import login, principal
from upwell.errors import Misconfigured
from upwell.records import Record

LENGTH = re.compile(r"(\d{1,6})([smhdw])")

As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="USER", callback=options.text_of, help="Whose token it is.  [default: your login name]"
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="GROUP",
        help="A group that the token names; may be given several times. It counts while no directory is fed.",
    ),
]
Ttl = Annotated[str, typer.Option("--ttl", metavar="LENGTH", help="How long it holds: 30m, 8h, 7d; a year at most.")]
Rotate = Annotated[
    bool,
    typer.Option(
        "--rotate-key", help="Make a new key first, and sign with it. Tokens of the older keys hold until they expire."
    ),
]


class TokenAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What `--json` prints."""

    token: str
    expires_at: str
    kid: str


def register(app: typer.Typer) -> None:
    app.command(
        short_help="Sign a token for a reader, with the lake's own key",
        help="Print a bearer token for the network's search routes, signed with the lake's own key: who can read the "
        "key's file is the operator. The key is made when there is none; a running lake sees a new one at once.",
        epilog=options.examples(
            "upwell token --as ana --group eng --ttl 8h",
            "upwell token --as user:ana --tenant acme --json",
            "upwell token --as ana --rotate-key",
            'curl -H "Authorization: Bearer $(upwell token --as ana)" http://127.0.0.1:8080/v1/sources',
        ),
    )(token)


def token(
    who: As = None,
    groups: Groups = None,
    tenant: options.Tenant = "default",
    ttl: Ttl = "8h",
    rotate_key: Rotate = False,
    lake: options.Lake = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    settings = settings_of(lake, config)
    from upwell.clock import now_us, rfc3339
    from upwell.identity.issue import Grant, check, issue
    from upwell.identity.own_key import LakeKey, signing_key_of

    grant = Grant(
        subject=_named(login() if who is None else who, kind="user", option="--as"),
        groups=frozenset(_named(group, kind="group", option="--group") for group in groups or ()),
        tenant=tenant,
        ttl_s=_length_s(ttl),
    )
    check(grant)  # before a key is made or rotated
    if settings.signing_key is None and not settings.lake.is_dir():
        raise Misconfigured(f"{settings.lake}: no lake there; name it with --lake, or its key with signing_key")
    key = LakeKey.at(signing_key_of(settings))
    if rotate_key:
        key.rotate()
    issued = issue(key, grant, audience=settings.audience, now_us=now_us())
    expires_at = rfc3339(issued.expires_at) or ""
    if as_json:
        emit(TokenAnswer(token=issued.token, expires_at=expires_at, kid=issued.kid))
        return
    typer.echo(issued.token)
    note(f"a token of user:{grant.subject}, tenant {tenant}, until {expires_at}; whoever has it reads as they do")


def _named(name: str, *, kind: str, option: str) -> str:
    """The name without its kind: a token's subject is always a user, and what it names are always groups."""
    given = principal(name, bare=kind, option=option)
    found, colon, rest = given.partition(":")
    if not colon or found != kind:
        raise Misconfigured(
            f"{option} {name!r}: name a {kind}, for example {kind}:{'ana' if kind == 'user' else 'eng'}"
        )
    return rest


def _length_s(text: str) -> float:
    length = LENGTH.fullmatch(text.strip())
    if length is None or int(length[1]) == 0:
        raise typer.BadParameter(f"--ttl {text!r}: give a length of time (30m, 8h, 7d)")
    return float(int(length[1]) * UNITS_S[length[2]])
