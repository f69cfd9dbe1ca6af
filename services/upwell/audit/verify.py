"""Verifying the audit: every chain walked from its first record to its last, against its seals and what others saw.

Found is: a body, number, time or hash that was changed, a record that is missing, moved or added in between, an end
that was cut off before the last seal, a seal that nobody with the key has made, a chain that another one has seen and
that is gone. Not found can be what was cut off after the last seal of a process that was killed, unless a later one saw
it: that is why the unsealed records are told.
"""

from collections.abc import Iterator

from upwell.audit import chain
from upwell.audit.chain import BEFORE_ALL, Closing, Head, Opening, Seal, Verifier
from upwell.audit.group import MOST_TOGETHER
from upwell.audit.log import SEAL_AFTER_RECORDS
from upwell.audit.read import AuditTables, Stored
from upwell.records import Record

MOST_UNSEALED = SEAL_AFTER_RECORDS + MOST_TOGETHER
"""More records than a writer ever leaves without a seal."""


class ChainReport(Record, frozen=True, kw_only=True):
    """What is to be said of one chain. `bad` is the first bad place, as `record 7: its body was changed`.

    `started` (us) and `host` are the writer's own words. `expired` records are gone behind a checkpoint, `unsealed` are
    those after the last seal; `closed` if the writer stopped in order.
    """

    writer: str
    records: int = 0
    expired: int = 0
    unsealed: int = 0
    signed: bool = False
    closed: bool = False
    host: str = ""
    started: int = 0
    bad: str | None = None


def verify(tables: AuditTables, verifier: Verifier | None = None, *, all_signed: bool = False) -> Iterator[ChainReport]:
    """Each chain's report. Without a verifier signatures are not looked at; with `all_signed` each chain needs them.

    Of a chain that is bad only because of what others saw of it there comes a second report, at the end.
    """
    seen: dict[str, Head] = {}
    for writer in tables.writers():
        yield _Walk(tables, writer, verifier, seen, all_signed=all_signed).report()
    for head in seen.values():
        bad = _gone(tables, head)
        if bad is not None:
            yield ChainReport(writer=head.writer, bad=bad)


def _gone(tables: AuditTables, head: Head) -> str | None:
    """What another chain has seen of this one, and is not so."""
    found = tables.record(head.writer, head.seq)
    if found is not None:
        return None if found.hash == head.hash else f"record {head.seq}: not the one that another chain has seen"
    checkpoint = tables.checkpoint(head.writer)
    if checkpoint is not None and checkpoint.through_seq >= head.seq:
        return None
    return f"record {head.seq}: another chain has seen it, and it is gone"


class _Bad(Exception):
    """The first bad place of a chain."""


class _Walk:
    """One chain, from its first record or its checkpoint to its end."""

    def __init__(
        self, tables: AuditTables, writer: str, verifier: Verifier | None, seen: dict[str, Head], *, all_signed: bool
    ) -> None:
        self._tables = tables
        self._writer = writer
        self._verifier = verifier
        self._seen = seen
        self._all_signed = all_signed
        self._key: str | None = None  # not known yet
        self._head = Head(writer=writer, seq=-1, hash=BEFORE_ALL)
        self._sealed = -1
        self._expired = 0
        self._opening: Opening | None = None
        self._closed = False

    def report(self) -> ChainReport:
        bad: str | None = None
        try:
            self._walk()
        except _Bad as e:
            bad = str(e)
        return ChainReport(
            writer=self._writer,
            records=self._head.seq + 1 - self._expired,
            expired=self._expired,
            unsealed=self._head.seq - max(self._sealed, self._expired - 1),
            signed=bool(self._key),
            closed=self._closed,
            host=self._opening.host if self._opening else "",
            started=self._opening.started if self._opening else 0,
            bad=bad,
        )

    def _walk(self) -> None:
        through = self._tables.last_seal(self._writer)  # before the records: what it covers is there by now
        self._begin()
        seals = self._tables.seals(self._writer, self._head.seq, through)
        seal = next(seals, None)
        for stored in self._tables.chain(self._writer, self._head.seq):
            self._step(stored)
            if seal is not None and seal.through_seq == stored.seq:
                self._check_seal(seal)
                self._sealed = seal.through_seq
                seal = next(seals, None)
            self._check_sealing(stored.seq)
        if seal is not None:
            raise _Bad(f"record {self._head.seq + 1}: missing, though sealed (up to {seal.through_seq})")
        if self._head.seq < 0:
            raise _Bad("record 0: missing")
        if self._sealed < 0:
            raise _Bad("record 0: not sealed, as a chain's first records always are")
        if self._closed and self._sealed != self._head.seq:
            raise _Bad(f"record {self._head.seq}: closes the chain, and is not sealed")

    def _begin(self) -> None:
        """At a checkpoint, if the first records have expired."""
        checkpoint = self._tables.checkpoint(self._writer)
        if checkpoint is None:
            return
        self._check_signature(checkpoint, checkpoint=True)
        self._key = None if checkpoint.key else ""  # the key may have been another one when it was written
        self._expired = checkpoint.through_seq + 1
        self._head = Head(writer=self._writer, seq=checkpoint.through_seq, hash=checkpoint.hash)
        self._sealed = checkpoint.through_seq

    def _step(self, stored: Stored) -> None:
        expected = self._head.seq + 1
        if stored.seq != expected:
            raise _Bad(f"record {expected}: missing (the next is {stored.seq})")
        if self._closed:
            raise _Bad(f"record {expected}: comes after the chain was closed")
        if chain.link_hash(self._head.hash, expected, stored.body) != stored.hash:
            raise _Bad(f"record {expected}: its body, its hash or its place in the chain was changed")
        try:
            content = chain.content_of(stored.body.decode("ascii"))
        except (ValueError, RecursionError):
            raise _Bad(f"record {expected}: not a record") from None
        if isinstance(content, Opening) != (expected == 0):
            raise _Bad(f"record {expected}: " + ("does not say who writes" if expected == 0 else "opens another chain"))
        if isinstance(content, Opening):
            self._open(content)
        self._closed = isinstance(content, Closing)
        if stored.at != _at(content):
            raise _Bad(f"record {expected}: its time was changed")
        self._head = Head(writer=self._writer, seq=expected, hash=stored.hash)

    def _open(self, opening: Opening) -> None:
        if opening.writer != self._writer:
            raise _Bad("record 0: opens another writer's chain")
        self._opening, self._key = opening, opening.key
        for head in opening.seen:
            known = self._seen.get(head.writer)
            if known is None or known.seq < head.seq:
                self._seen[head.writer] = head

    def _check_sealing(self, seq: int) -> None:
        if seq - self._sealed > MOST_UNSEALED:
            raise _Bad(f"record {self._sealed + 1}: too many records from here without a seal; seals are missing")

    def _check_seal(self, seal: Seal) -> None:
        if seal.hash != self._head.hash:
            raise _Bad(f"record {seal.through_seq}: not the one that was sealed")
        self._check_signature(seal)

    def _check_signature(self, seal: Seal, *, checkpoint: bool = False) -> None:
        where = f"record {seal.through_seq}"
        if self._key is None:
            self._key = seal.key
        if seal.key != self._key:
            raise _Bad(f"{where}: sealed with another key than the chain's")
        if not seal.key:
            if self._all_signed:
                raise _Bad(f"{where}: sealed without a signature")
            return
        if self._verifier is None:
            return
        try:
            signature = bytes.fromhex(seal.signature)
        except ValueError:
            signature = b""
        verdict = self._verifier(seal.key, chain.signed_bytes(seal, checkpoint=checkpoint), signature)
        if not verdict:
            raise _Bad(f"{where}: " + ("sealed with an unknown key" if verdict is None else "its seal is forged"))


def _at(content: chain.Body) -> int:
    if isinstance(content, Opening):
        return content.started
    return content.stopped if isinstance(content, Closing) else content.at
