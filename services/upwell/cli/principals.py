"""Names on the command line become principals."""

import unicodedata

from upwell.access import EVERYONE
from upwell.errors import Misconfigured

KINDS = ("user", "group", "role", "domain")


def principal(name: str, *, bare: str, option: str) -> str:
    """`ana` -> `user:ana` (or `group:ana`, as `bare` says); `role:admin` and `everyone` stay.

    Raises Misconfigured, naming `option`, for an empty name or an unknown kind: a typing error must not make a
    principal that nobody granted anything to, or that nobody thought of denying.
    """
    text = unicodedata.normalize("NFC", name).strip()
    if text == EVERYONE:
        return text
    kind, colon, rest = text.partition(":")
    if not colon:
        kind, rest = bare, text
    if kind not in KINDS:
        raise Misconfigured(
            f"{option} {name!r}: unknown kind of principal {kind!r}; write one of {', '.join(KINDS)}:NAME"
        )
    if not rest.strip() or not rest.isprintable():
        raise Misconfigured(f"{option} {name!r}: a name is missing or unreadable; write for example {kind}:ana")
    return f"{kind}:{rest.strip()}"


def login() -> str:
    """Whoever runs the command, as a principal: the default owner and reader."""
    from upwell.config import login_name

    return f"user:{login_name()}"


def owner_of(option: str | None) -> str:
    """The principal that `--owner` names, the login name when it is not given."""
    return login() if option is None else principal(option, bare="user", option="--owner")


def reader_of(option: str | None, groups: list[str] | None) -> frozenset[str]:
    """The principals that `--as` and `--group` name together, `everyone` among them."""
    who = login() if option is None else principal(option, bare="user", option="--as")
    return frozenset({who, EVERYONE, *(principal(g, bare="group", option="--group") for g in groups or ())})
