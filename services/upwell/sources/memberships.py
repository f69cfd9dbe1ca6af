"""Memberships as directories tell them: who a principal is, and which groups it is directly in.

{"member_of": ["group:eng", "group:staff"]}
"""

import threading
from typing import Annotated

import msgspec
from msgspec import Meta

from upwell.access import KINDS
from upwell.errors import Reason, Rejected
from upwell.records import Membership, Record
from upwell.sources.offers import Number, decode

MOST_GROUPS = 100_000
NAME_LENGTH = 200
HOLDERS = ("group", "role", "domain")
"""What others can be in: to be in a user would be to read as they."""

Groups = Annotated[tuple[str, ...], Meta(max_length=MOST_GROUPS)]


class Told(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is told of one principal. `version` orders it; left out it is the time of arrival in microseconds, and newer
    than all that is known. `gone`: the directory knows it no more, and whoever reads as it sees nothing."""

    member_of: Groups = ()
    version: Number | None = None
    gone: bool = False


GONE = Told(gone=True)
_DECODER = msgspec.json.Decoder(Told)


def told(body: bytes) -> Told:
    """What a hostile body says. Raises Rejected `invalid_event`."""
    return decode(_DECODER, body)


def membership_of(told: Told, *, tenant: str, principal: str, version: int, now: int) -> Membership:
    """The membership that was told of, at `version`. Raises Rejected `invalid_event` for what is no principal."""
    if told.gone and told.member_of:
        raise Rejected(Reason.INVALID_EVENT, "member_of: a principal that is gone is in no group")
    check_principal(principal, "the principal", KINDS)
    for turn, group in enumerate(told.member_of):
        check_principal(group, f"member_of[{turn}]", HOLDERS)
    return Membership(
        tenant=tenant,
        principal=principal,
        version=version,
        member_of=frozenset(told.member_of),
        gone=told.gone,
        received_at=now,
    )


def check_principal(text: str, where: str, kinds: tuple[str, ...]) -> None:
    """Raises Rejected, saying `where` and quoting nothing, for what is not `kind:name` of one of these kinds."""
    kind, _, name = text.partition(":")
    if kind not in kinds:
        raise Rejected(Reason.INVALID_EVENT, f"{where}: a principal is {', '.join(f'{one}:…' for one in kinds)}")
    if not name or name != name.strip():
        raise Rejected(Reason.INVALID_EVENT, f"{where}: its name is missing, or blanks surround it")
    if len(text.encode("utf-8", "surrogatepass")) > NAME_LENGTH:
        raise Rejected(Reason.INVALID_EVENT, f"{where}: longer than {NAME_LENGTH} bytes")
    if not text.isprintable():
        raise Rejected(Reason.INVALID_EVENT, f"{where}: holds control characters")


class Numbering:
    """Numbers what comes without a version: each above all that is known, and above what was numbered before."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def next(self, known: int, now: int) -> int:
        with self._lock:
            self._last = max(now, known + 1, self._last + 1)
            return self._last
