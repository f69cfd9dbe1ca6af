"""The audit's log: one chain a process, written by group commit, sealed now and then and at the end."""

import secrets
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import sqlalchemy as sa

from upwell.audit import chain, statements
from upwell.audit.chain import Closing, Head, Link, Opening, Seal
from upwell.audit.group import WAIT_S, GroupCommit, Lot
from upwell.audit.schema import AUDIT, METADATA, SEALS, STEPS, VERSION
from upwell.clock import Clock, now_us
from upwell.database import migrate, open_database, transaction
from upwell.errors import Misconfigured, Retryable
from upwell.ports import AuditEntry, Signer

SEAL_AFTER_S = 5.0
SEAL_AFTER_RECORDS = 256
TRIES = 4
"""How often a batch is tried again that another process's record of the same act got in the way of."""
SEEN = 16
"""How many other chains an opening vouches for: those sealed last."""


class SqlAudit:
    """`ports.Audit` over an engine: thread-safe, and as many processes as there are may write beside one another.

    Nothing is opened or made before the first record: a process that audits nothing pays nothing and leaves nothing.
    `signer` is asked for then. While the database cannot be used, or is damaged or newer, `write` raises Retryable.
    """

    def __init__(
        self,
        engine: Callable[[], sa.Engine],
        *,
        clock: Clock = now_us,
        signer: Callable[[], Signer | None] = lambda: None,
    ) -> None:
        """`engine` makes the engine, which is closed with the audit."""
        self._make_engine = engine
        self._engine: sa.Engine | None = None
        self._clock = clock
        self._find_signer = signer
        self._signer: Signer | None = None
        self._head = _new_head()
        self._attempted: str | None = None
        self._unsealed = 0
        self._unsealed_since = 0.0
        self._group = GroupCommit(self._commit, due=self._seal_due_s, finish=self._finish)

    @classmethod
    def at(
        cls, where: Path | str, *, clock: Clock = now_us, signer: Callable[[], Signer | None] = lambda: None
    ) -> "SqlAudit":
        """The audit at a `postgresql://` URL or in the SQLite file at a path."""
        return cls(lambda: open_database(where, "upwell audit"), clock=clock, signer=signer)

    def prepare(self) -> None:
        """Have the tables ready, before anybody writes. Raises Retryable while the database is away, Misconfigured when
        it refuses us: a process that could not write down what it shows should not begin to answer.
        """
        with transaction(self._opened(), "audit") as connection:
            if connection.dialect.name != "postgresql":
                return
            for table in (AUDIT, SEALS):
                allowed = sa.select(sa.func.has_table_privilege(table.name, "INSERT"))
                if not connection.execute(allowed).scalar_one():
                    raise Misconfigured(f"registry: this role may not write the audit: GRANT INSERT ON {table.name}")

    @property
    def writer(self) -> str:
        """The name of this process's chain."""
        return self._head.writer

    def write(self, entry: AuditEntry) -> None:
        """See `ports.Audit.write`. A record given up for time (30 s) may still become durable."""
        self._group.put(Lot(acts=((entry, None),)))

    def write_once(self, acts: Sequence[tuple[AuditEntry, str]], wait_s: float = WAIT_S) -> None:
        """Write each act down unless a record of the same origin is there, from whichever process; as durable."""
        if acts:
            self._group.put(Lot(acts=tuple(acts)), wait_s)

    def close(self) -> None:
        """Write what waits, say that this writer stops, seal. Nothing can be written afterwards."""
        self._group.close()
        if self._engine is not None:
            self._engine.dispose()

    def _commit(self, lots: list[Lot]) -> None:
        acts = [act for lot in lots for act in lot.acts]
        for _ in range(TRIES):
            try:
                self._append(acts)
            except sa.exc.IntegrityError:  # our place is taken, or the act was written down meanwhile: look again
                continue
            return
        raise Retryable("the audit cannot be written: others write the same acts all the time")

    def _append(self, acts: Sequence[tuple[AuditEntry, str | None]], *, closing: bool = False) -> None:
        """The next records of the chain, and a seal when one is due, in one transaction."""
        with transaction(self._opened(), "audit") as connection:
            head = self._certain_head(connection)
            links = [] if head.seq >= 0 else [self._opening(connection, head)]
            known = statements.known_origins(connection, [origin for _, origin in acts if origin is not None])
            for entry, origin in acts:
                if origin is None or origin not in known:
                    known.add(origin or "")
                    links.append(chain.linked(_after(head, links), entry, entry.at, origin))
            if closing:
                now = self._clock()
                links.append(chain.linked(_after(head, links), Closing(stopped=now), now))
            seal = self._seal(head, links, closing=closing)
            self._attempted = links[-1].hash if links else None
            if links:
                connection.execute(sa.insert(AUDIT), [statements.link_values(head.writer, link) for link in links])
            if seal is not None:
                connection.execute(sa.insert(SEALS), msgspec.structs.asdict(seal))
        self._head, self._attempted = _after(head, links), None
        self._note_seal(len(links), seal)

    def _opened(self) -> sa.Engine:
        """The engine, its tables made or brought forward."""
        if self._engine is None:
            engine = self._make_engine()
            try:
                with transaction(engine, "audit") as connection:
                    migrate(connection, VERSION, METADATA, STEPS, what="audit")
            except BaseException:
                engine.dispose()
                raise
            self._engine = engine
        return self._engine

    def _certain_head(self, connection: sa.Connection) -> Head:
        """Where our chain ends. After a commit whose end nobody saw it may have come further than we know.

        A chain that somebody else has changed is left as it is, for `verify` to find, and a new one begun.
        """
        if self._attempted is None:
            return self._head
        found = statements.head_of(connection, self._head.writer)
        if found.hash not in (self._head.hash, self._attempted):
            self._head = _new_head()
            return self._head
        return found

    def _opening(self, connection: sa.Connection, head: Head) -> Link:
        self._signer = self._find_signer()
        now = self._clock()
        opening = Opening(
            writer=head.writer,
            host=socket.gethostname(),
            started=now,
            key=self._signer.kid if self._signer else "",
            seen=tuple(statements.latest_heads(connection, SEEN)),
        )
        return chain.linked(head, opening, now)

    def _seal(self, head: Head, links: list[Link], *, closing: bool) -> Seal | None:
        due_s = self._seal_due_s()
        many = self._unsealed + len(links) >= SEAL_AFTER_RECORDS
        if not (closing or many or (links and links[0].seq == 0) or (due_s is not None and due_s <= 0)):
            return None
        return chain.sealed(_after(head, links), self._clock(), self._signer)

    def _note_seal(self, added: int, seal: Seal | None) -> None:
        if seal is not None:
            self._unsealed = 0
        elif added:
            if not self._unsealed:
                self._unsealed_since = time.monotonic()
            self._unsealed += added

    def _seal_due_s(self) -> float | None:
        """In how many seconds a seal is wanted; None while nothing is unsealed."""
        if not self._unsealed:
            return None
        return self._unsealed_since + SEAL_AFTER_S - time.monotonic()

    def _finish(self) -> None:
        if self._head.seq >= 0:
            self._append((), closing=True)


def _new_head() -> Head:
    return Head(writer=secrets.token_hex(8))


def _after(head: Head, links: list[Link]) -> Head:
    return Head(writer=head.writer, seq=links[-1].seq, hash=links[-1].hash) if links else head
