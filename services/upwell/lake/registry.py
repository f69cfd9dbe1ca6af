"""The registry, the lake's truth, in SQL: rows, manifests and history change together or not at all.

Written in SQLAlchemy Core over an engine, so that the same code serves SQLite and PostgreSQL. Every statement is built
once and its compiled form is cached by SQLAlchemy.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from upwell.access import Asker, Standing
from upwell.clock import Clock, now_us
from upwell.database import insert, mapped, migrate, open_database, transaction
from upwell.errors import Retryable
from upwell.grouped import GroupedWrites
from upwell.lake import browsing, first, remnants
from upwell.lake import rows as encoded
from upwell.lake import statements as sql
from upwell.lake.directory import SqlDirectory, Standings
from upwell.lake.isolation import confine
from upwell.lake.links import targets_of
from upwell.lake.manifests import manifest_in, manifests_of, put_manifest
from upwell.lake.named import AclNames, Names, write
from upwell.lake.outbox import SqlOutbox, put_act, put_ended
from upwell.lake.schema import META, METADATA, STEPS, VERSION
from upwell.ports import AppliedEntry, DocumentRow, LiveChunk, Manifest, Snapshot, SourceCounts
from upwell.ports.browsing import Browsing
from upwell.records import DocKey
from upwell.sqlite import rewritten, truncate_wal

IN_LIMIT = 500
"""How many values one IN list carries."""

ACTIVE_PIPELINE = "pipeline"
"""The meta name under which the active pipeline's fingerprint is kept."""


NEVER = -(2**63)
"""Before all times."""


class _Lost(Exception):
    """Another writer moved the row first."""


class _Shared(threading.local):
    """The transaction that a thread's calls have together, if they have one, and the names of permissions in it."""

    connection: sa.Connection | None = None
    named: Names = frozenset()


class SqlRegistry:
    """`ports.Registry` over an engine. Safe from several threads and processes.

    Raises Retryable while the database cannot be used (locked, disk full), Misconfigured when it is damaged or newer.
    """

    def __init__(self, engine: sa.Engine, clock: Clock = now_us, *, migrated: bool = False) -> None:
        self._engine = engine
        self._clock = clock
        self.directory = SqlDirectory(engine)
        self._standings = Standings()
        self._named = AclNames()
        self._shared = _Shared()
        self.outbox = SqlOutbox(engine)
        self._grouped = GroupedWrites(self._transaction) if engine.dialect.name == "sqlite" else None
        if migrated:
            return
        try:
            with self._transaction() as connection:
                migrate(connection, VERSION, METADATA, STEPS, what="registry")
        except BaseException:
            engine.dispose()
            raise

    @classmethod
    def at(cls, where: Path | str, clock: Clock = now_us, *, reading: bool = False) -> "SqlRegistry":
        """The registry at a `postgresql://` URL or in the SQLite file at a path, its tables made or brought forward.

        `reading` is for who answers askers: in PostgreSQL its sessions write nothing, and each transaction sees the
        rows of the one tenant that is asked for (without one: none), whatever its statements say.
        """
        registry = cls(open_database(where, "upwell registry"), clock)
        if not reading:
            return registry
        registry.close()
        engine = open_database(where, "upwell reading")
        confine(engine)
        return cls(engine, clock, migrated=True)

    def row(self, key: DocKey) -> DocumentRow | None:
        with self._transaction(key.tenant, read_only=True, single=True) as connection:
            found = connection.execute(sql.ROW, {"of": key.digest}).mappings().one_or_none()
        return None if found is None else encoded.document_of(found)

    def manifest(self, key: DocKey, pipeline: str) -> Manifest:
        return self.read(key)[1].get(pipeline, Manifest())

    def read(self, key: DocKey) -> tuple[DocumentRow | None, dict[str, Manifest]]:
        server = self._engine.dialect.name == "postgresql"
        with self._transaction(key.tenant, read_only=True, single=server) as connection:
            row = connection.execute(sql.ROW_AND_GENERATIONS, {"of": key.digest}).mappings().first()
            if row is None:
                return None, {}
            if row["generation"] is None:  # no manifest, so no chunks: that was all
                return encoded.document_of(row), {}
            if not server:
                return encoded.document_of(row), manifests_of(connection, key.digest)
        with self._transaction(key.tenant, read_only=True) as connection:
            row = connection.execute(sql.ROW, {"of": key.digest}).mappings().one()
            return encoded.document_of(row), manifests_of(connection, key.digest)

    def commit(
        self,
        row: DocumentRow,
        *,
        expected_rev: int,
        manifests: dict[str, Manifest] | None = None,
        entry: AppliedEntry | None = None,
        act: AppliedEntry | None = None,
    ) -> bool:
        """See `ports.Registry.commit`. Of a manifest only the chunks that differ from what is stored are written."""
        values = encoded.document_values(row) | {"rev": expected_rev + 1}
        fresh = expected_rev == 0
        named = self._named.new(row.key.tenant, row.effective_acl)
        if manifests and entry and not (act or named) and self._is_first(row, manifests):
            with suppress(_Lost):  # of what there is already, the long way knows more
                return self._put_first(row, values, expected_rev, manifests, entry)

        def put(connection: sa.Connection) -> None:
            _put_row(connection, values, expected_rev)
            browsing.note(connection, row, self._clock(), links=manifests is not None, fresh=fresh)
            write(connection, named)
            for pipeline, manifest in (manifests or {}).items():
                put_manifest(connection, row.key.digest, pipeline, manifest)
            if entry is not None:
                _put_entry(connection, entry)
            if act is not None:
                put_act(connection, act)

        try:
            self._put(put, single=fresh and not (manifests or entry or act or named or browsing.shown(row)))
        except _Lost:
            return False
        if self._shared.connection is None:
            self._named.remember(named)
        else:
            self._shared.named |= named
        return True

    def _put(self, put: Callable[[sa.Connection], None], *, single: bool) -> None:
        if self._grouped is not None and self._shared.connection is None:
            self._grouped(put)
            return
        with self._transaction(single=single) as connection:
            put(connection)

    def _is_first(self, row: DocumentRow, manifests: dict[str, Manifest]) -> bool:
        server = self._engine.dialect.name == "postgresql"
        return server and self._shared.connection is None and browsing.shown(row) and first.fits(manifests)

    def _put_first(
        self,
        row: DocumentRow,
        values: dict[str, Any],
        expected_rev: int,
        manifests: dict[str, Manifest],
        entry: AppliedEntry,
    ) -> bool:
        with self._transaction(single=True) as connection:
            return first.write(
                connection,
                values,
                expected_rev,
                glance=browsing.glance_values(row, self._clock()),
                targets=targets_of(row),
                manifests=manifests,
                entry=entry,
            )

    @contextmanager
    def together(self) -> Iterator[None]:
        shared = self._shared
        shared.named = frozenset()
        with self._transaction() as connection:
            shared.connection = connection
            try:
                yield
            finally:
                shared.connection = None
        self._named.remember(shared.named)

    def record(self, entry: AppliedEntry) -> None:
        with suppress(_Lost), self._transaction() as connection:
            _put_entry(connection, entry)

    def ended(self, key: DocKey, event_id: str) -> AppliedEntry | None:
        with self._transaction(key.tenant, read_only=True, single=True) as connection:
            found = connection.execute(sql.ENDED, {"of": key.digest, "event": event_id}).mappings().first()
        return None if found is None else encoded.applied_of(key, found)

    def points_of(self, tenant: str, pipeline: str, embed_keys: Iterable[str]) -> dict[str, str]:
        points: dict[str, str] = {}
        for some in _portions(embed_keys):  # of no common moment: a point may be gone as soon as it is read
            with self._transaction(tenant, read_only=True, single=True) as connection:
                found = connection.execute(sql.POINTS_OF, {"tenant": tenant, "pipeline": pipeline, "keys": some})
                points.update((embed_key, point_id) for embed_key, point_id in found)
        return points

    def snapshot(
        self, pipeline: str, point_ids: Iterable[str] = (), *, asker: Asker, documents: Iterable[DocKey] = ()
    ) -> Snapshot:
        live: dict[str, LiveChunk] = {}
        as_of = self._clock()  # before the first statement, whose time the transaction sees
        with self._transaction(asker.tenant, read_only=True) as connection:
            standing = self._standings.of(connection, asker)
            rows: dict[str, DocumentRow] = {}
            for some in _portions(point_ids):
                chunks = connection.execute(sql.LIVE_CHUNKS, {"pipeline": pipeline, "points": some}).mappings().all()
                _add_rows(connection, rows, {chunk["doc"] for chunk in chunks})
                for chunk in chunks:
                    row = rows[chunk["doc"]]
                    live[chunk["point_id"]] = LiveChunk(row=row, entry=encoded.chunk_of(chunk))
            wanted = {key.digest: key for key in documents}
            _add_rows(connection, rows, wanted)
            known = {
                key: (rows[doc], manifest_in(connection, doc, pipeline)) for doc, key in wanted.items() if doc in rows
            }
        return Snapshot(as_of=as_of, standing=standing, live=live, documents=known)

    def standing(self, asker: Asker) -> Standing:
        with self._transaction(asker.tenant, read_only=True) as connection:
            return self._standings.of(connection, asker)

    def named(self, tenant: str, principals: Iterable[str]) -> frozenset[str]:
        with self._transaction(tenant, read_only=True) as connection:
            return self._named.among(connection, tenant, principals)

    def history(self, key: DocKey) -> list[AppliedEntry]:
        with self._transaction(key.tenant, read_only=True, single=True) as connection:
            found = connection.execute(sql.HISTORY, {"of": key.digest}).mappings()
            return [encoded.applied_of(key, line) for line in found]

    def find(self, doc_id: str, tenant: str | None = None, source: str | None = None) -> list[DocumentRow]:
        with self._transaction(tenant, read_only=True, single=True) as connection:
            found = connection.execute(sql.find(doc_id, tenant, source)).mappings()
            return [encoded.document_of(row) for row in found]

    def rows(self, tenant: str | None = None, source: str | None = None) -> Iterator[DocumentRow]:
        last: DocKey | None = None
        while True:
            with self._transaction(tenant, read_only=True, single=True) as connection:
                found = connection.execute(sql.page(tenant, source, last, IN_LIMIT)).mappings().all()
            for row in found:
                yield encoded.document_of(row)
            if len(found) < IN_LIMIT:
                return
            last = encoded.key_of(found[-1])

    def counts(self, *, tenant: str | None = None, acl_max_age_us: int | None = None) -> list[SourceCounts]:
        oldest = NEVER if acl_max_age_us is None else self._clock() - acl_max_age_us
        with self._transaction(tenant, read_only=True) as connection:
            active = connection.execute(sql.META_GET, {"of": ACTIVE_PIPELINE}).scalar_one_or_none()
            chunks = {(c.tenant, c.source): c.chunks for c in connection.execute(sql.chunk_counts(active, tenant))}
            return [
                SourceCounts(
                    tenant=found.tenant,
                    source=found.source,
                    documents=found.documents,
                    chunks=chunks.get((found.tenant, found.source), 0),
                    deleted=found.deleted,
                    stale=found.stale,
                    acl_missing=found.acl_missing,
                    acl_hidden=found.acl_hidden,
                )
                for found in connection.execute(sql.document_counts(tenant), {"oldest": oldest})
            ]

    def purge(self, key: DocKey, *, files: bool = True) -> None:
        with self._transaction() as connection:
            if connection.execute(sql.FORGET_WORDS, {"of": key.digest}).rowcount:
                connection.execute(sql.FORGET_CHUNKS, {"of": key.digest})
                connection.execute(sql.FORGET_HISTORY, {"of": key.digest})
                browsing.forget(connection, key.digest)
        if files:
            self._truncate_log()

    def traces(self, key: DocKey) -> dict[str, int]:
        with self._transaction(key.tenant, read_only=True) as connection:
            return remnants.traces(connection, key)

    def moved_here(self, key: DocKey) -> list[DocKey]:
        with self._transaction(read_only=True) as connection:
            return remnants.moved_here(connection, key)

    def rewrite(self) -> None:
        """Leave no byte of what was deleted in SQLite's file; a server's pages are its own. Raises Retryable while a
        reader holds the file's log."""
        with mapped("registry"):
            if self._engine.dialect.name == "sqlite" and not rewritten(self._engine):
                raise Retryable("the registry's log is in use by a reader; its erased words leave it when that ends")

    def meta(self, name: str) -> str | None:
        with self._transaction(read_only=True, single=True) as connection:
            return connection.execute(sql.META_GET, {"of": name}).scalar_one_or_none()

    def set_meta(self, name: str, value: str) -> None:
        with self._transaction() as connection:
            put = insert(connection, META).values(name=name, value=value)
            connection.execute(put.on_conflict_do_update(index_elements=["name"], set_={"value": value}))

    def browsing(self, tenant: str) -> Browsing:
        """What a tenant's readers browse by, kept up by every commit."""
        return browsing.SqlBrowsing(self._engine, tenant)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _transaction(
        self, tenant: str | None = None, *, read_only: bool = False, single: bool = False
    ) -> Iterator[sa.Connection]:
        shared = self._shared.connection
        try:
            if shared is None:
                with transaction(
                    self._engine, "registry", read_only=read_only, single=single, tenant=tenant
                ) as connection:
                    yield connection
            else:
                with mapped("registry"), nullcontext() if read_only else shared.begin_nested():
                    yield shared
        except sa.exc.IntegrityError as e:
            raise _Lost from e

    def _truncate_log(self) -> None:
        """Leave no erased word in SQLite's write-ahead log. Raises Retryable while a reader holds it."""
        if self._engine.dialect.name != "sqlite":
            return
        with mapped("registry"):
            if not truncate_wal(self._engine):
                raise Retryable("the registry's log is in use by a reader; its erased words leave it when that ends")


def _add_rows(connection: sa.Connection, rows: dict[str, DocumentRow], docs: Iterable[str]) -> None:
    """Read the rows of these documents that are not there yet."""
    for some in _portions(set(docs) - rows.keys()):
        found = connection.execute(sql.ROWS_OF, {"docs": some}).mappings()
        rows.update((row["doc"], encoded.document_of(row)) for row in found)


def _put_row(connection: sa.Connection, values: dict[str, Any], expected_rev: int) -> None:
    if expected_rev == 0:
        connection.execute(sql.INSERT_ROW, values)
    elif connection.execute(sql.UPDATE_ROW, values | {"of": values["doc"], "expected": expected_rev}).rowcount != 1:
        raise _Lost


def _put_entry(connection: sa.Connection, entry: AppliedEntry) -> None:
    """One line an end: an event that is delivered again, after a crash, ends in the line it has."""
    put_ended(connection, encoded.applied_values(entry), entry)


def _portions(values: Iterable[str]) -> Iterator[Sequence[str]]:
    distinct = sorted(set(values))
    for start in range(0, len(distinct), IN_LIMIT):
        yield distinct[start : start + IN_LIMIT]
