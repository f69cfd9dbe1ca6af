"""A writer's hash chain, pure: what a record's bytes are, how each holds on to the one before, what a seal signs.

    hash(n) = sha256 of three lines: hash(n-1), n, body(n)        n counts from 0; before it the hash is empty

A writer is one run of one process. Its record 0 says who writes (`Opening`), the last one that it stopped (`Closing`);
between them stand the acts. A seal signs how far the chain has come, so that nothing before it can be cut off or
written anew without the key.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from upwell.ports import AuditEntry, Signer
from upwell.records import Record

BEFORE_ALL = ""
"""The hash that record 0 holds on to."""

_SEAL, _CHECKPOINT = "upwell-audit-seal-1", "upwell-audit-checkpoint-1"


class Head(Record, frozen=True, kw_only=True):
    """How far a chain has come: its last record's number and hash."""

    writer: str
    seq: int = -1
    hash: str = BEFORE_ALL


class Opening(Record, frozen=True, kw_only=True):
    """Record 0: which run of which process writes here, since when (us), and with which key it seals.

    `seen` are other chains as they stood then: to take one of those away, or its end, this one must be forged too.
    """

    writer: str
    host: str
    started: int
    key: str = ""
    seen: tuple[Head, ...] = ()


class Closing(Record, frozen=True, kw_only=True):
    """The last record of a writer that stopped in order."""

    stopped: int


Body = AuditEntry | Opening | Closing


class Link(Record, frozen=True, kw_only=True):
    """One record in its place. `origin` names what it is the record of, where that must never be written twice."""

    seq: int
    at: int
    body: str
    hash: str
    origin: str | None = None


class Seal(Record, frozen=True, kw_only=True):
    """How far a chain had come at `sealed_at` (us). `signature` is empty where the process has no key.

    A checkpoint is one in place of the records up to it, which have expired.
    """

    writer: str
    through_seq: int
    hash: str
    sealed_at: int
    key: str = ""
    signature: str = ""


Verifier = Callable[[str, bytes, bytes], bool | None]
"""(key id, what was signed, signature) -> whether it is; None for a key that is not known here."""


def body_of(content: Body) -> str:
    """Canonical JSON in ASCII: equal content, equal bytes, in whatever text a database keeps them."""
    plain: Any = msgspec.to_builtins(content)
    if isinstance(content, Opening):
        plain = {"opens": plain}
    elif isinstance(content, Closing):
        plain = {"closes": plain}
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def content_of(body: str) -> Body:
    """What a body says. Raises ValueError for what is no record."""
    plain = json.loads(body)
    if not isinstance(plain, Mapping):
        raise ValueError("not a record")  # noqa: TRY004 what is wrong is the value
    if "opens" in plain:
        return msgspec.convert(plain["opens"], Opening)
    if "closes" in plain:
        return msgspec.convert(plain["closes"], Closing)
    return msgspec.convert(plain, AuditEntry)


def link_hash(previous: str, seq: int, body: bytes) -> str:
    """The hash of record `seq` in 64 hex digits, given that of the record before it."""
    return hashlib.sha256(b"%s\n%d\n%s" % (previous.encode(), seq, body)).hexdigest()


def linked(head: Head, content: Body, at: int, origin: str | None = None) -> Link:
    """The next record after `head`."""
    body, seq = body_of(content), head.seq + 1
    return Link(seq=seq, at=at, body=body, hash=link_hash(head.hash, seq, body.encode()), origin=origin)


def sealed(head: Head, at: int, signer: Signer | None, *, checkpoint: bool = False) -> Seal:
    """A seal over everything up to `head`."""
    seal = Seal(writer=head.writer, through_seq=head.seq, hash=head.hash, sealed_at=at)
    if signer is None:
        return seal
    seal = msgspec.structs.replace(seal, key=signer.kid)
    return msgspec.structs.replace(seal, signature=signer.sign(signed_bytes(seal, checkpoint=checkpoint)).hex())


def signed_bytes(seal: Seal, *, checkpoint: bool = False) -> bytes:
    """What a seal's signature is over."""
    kind = _CHECKPOINT if checkpoint else _SEAL
    parts = [kind, seal.writer, seal.through_seq, seal.hash, seal.sealed_at, seal.key]
    return json.dumps(parts, separators=(",", ":")).encode()
