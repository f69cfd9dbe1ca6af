"""What the folder source remembers, as tables beside the event log: saved in the transaction that accepts the events.

Create the tables with `METADATA.create_all(engine)`.
"""

from collections.abc import Iterable, Mapping

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    LargeBinary,
    MetaData,
    String,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.sql import ColumnElement

from upwell.errors import Misconfigured
from upwell.records import Acl
from upwell.sources.folder.records import AccessState, Changes, Fault, Held, Observed, State, Verdict

METADATA = MetaData()
_IDENTITY = ("tenant", "source")


def _keys(*names: str) -> list[Column[str]]:
    return [Column(name, String, primary_key=True) for name in (*_IDENTITY, *names)]


FOLDERS = Table("folder_sources", METADATA, *_keys(), Column("path", String), Column("owner", String))
DOCUMENTS = Table(
    "folder_documents",
    METADATA,
    *_keys("doc_id"),
    Column("path", String, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("inode", BigInteger, nullable=False),
    Column("observed_at", BigInteger, nullable=False),
    Column("sha256", String, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("acl_version", BigInteger, nullable=False),
    Column("acl", LargeBinary, nullable=False),
    Column("present", Boolean, nullable=False),
    Column("target", String),
)
ACCESS = Table("folder_access", METADATA, *_keys("folder"), Column("state", LargeBinary, nullable=False))
FAULTS = Table("folder_faults", METADATA, *_keys("fault"), Column("state", LargeBinary, nullable=False))
HELD = Table(
    "folder_held",
    METADATA,
    *_keys("doc_id"),
    Column("since", BigInteger, nullable=False),
    Column("verdict", String, nullable=False),
)

_ENCODE = msgspec.json.Encoder(order="deterministic").encode


def bind(conn: Connection, tenant: str, source: str, path: str, owner: str) -> None:
    """Bind a source's name to the real path of its folder, and remember the owner it has now.

    Raises Misconfigured when the name is bound to another path.
    """
    here = _of(FOLDERS, tenant, source)
    bound = conn.execute(select(FOLDERS.c.path).where(here)).scalar_one_or_none()
    if bound is None:
        conn.execute(insert(FOLDERS).values(tenant=tenant, source=source, path=path, owner=owner))
    elif bound == path:
        conn.execute(update(FOLDERS).where(here).values(owner=owner))
    else:
        raise Misconfigured(f"the source {source!r} is the folder {bound}, not {path}: give this one another --source")


def bound(conn: Connection) -> list[tuple[str, str, str, str]]:
    """(tenant, source, path, owner) of every folder that this lake knows."""
    rows = conn.execute(select(FOLDERS).order_by(FOLDERS.c.tenant, FOLDERS.c.source))
    return [(row.tenant, row.source, row.path, row.owner) for row in rows]


def load(conn: Connection, tenant: str, source: str) -> State:
    """Everything remembered of one folder."""
    acls: dict[bytes, Acl] = {}
    documents = {}
    for row in conn.execute(select(DOCUMENTS).where(_of(DOCUMENTS, tenant, source))):
        if row.acl not in acls:
            acls[row.acl] = msgspec.json.decode(row.acl, type=Acl)
        documents[row.doc_id] = Observed(
            doc_id=row.doc_id,
            path=row.path,
            signature=(row.size, row.mtime_ns, row.inode),
            observed_at=row.observed_at,
            sha256=row.sha256,
            version=row.version,
            acl_version=row.acl_version,
            acl=acls[row.acl],
            present=row.present,
            target=row.target,
        )
    access = conn.execute(select(ACCESS.c.folder, ACCESS.c.state).where(_of(ACCESS, tenant, source)))
    faults = conn.execute(select(FAULTS.c.state).where(_of(FAULTS, tenant, source))).scalars()
    return State(
        documents=documents,
        access={row.folder: msgspec.json.decode(row.state, type=AccessState) for row in access},
        faults=frozenset(msgspec.json.decode(state, type=Fault) for state in faults),
        held=load_held(conn, tenant, source),
    )


def load_held(conn: Connection, tenant: str, source: str) -> dict[str, Held]:
    """The deletes of one folder that wait, or did until somebody decided."""
    rows = conn.execute(select(HELD).where(_of(HELD, tenant, source)))
    return {row.doc_id: Held(doc_id=row.doc_id, since=row.since, verdict=Verdict(row.verdict)) for row in rows}


def waiting(conn: Connection, tenant: str, source: str | None = None) -> list[tuple[str, str, int, int]]:
    """(source, path, how many, since when in us) of the tenant's folders, or of one, where deletes wait."""
    counted = (
        select(FOLDERS.c.source, FOLDERS.c.path, func.count(), func.min(HELD.c.since))
        .join(HELD, and_(HELD.c.tenant == FOLDERS.c.tenant, HELD.c.source == FOLDERS.c.source))
        .where(FOLDERS.c.tenant == tenant, HELD.c.verdict == Verdict.WAITS)
        .group_by(FOLDERS.c.source, FOLDERS.c.path)
        .order_by(FOLDERS.c.source)
    )
    if source is not None:
        counted = counted.where(FOLDERS.c.source == source)
    return [(name, path, count, since) for name, path, count, since in conn.execute(counted)]


def decide(conn: Connection, tenant: str, source: str, verdict: Verdict) -> None:
    """Say what becomes of all deletes of a folder that wait."""
    here = and_(_of(HELD, tenant, source), HELD.c.verdict == Verdict.WAITS)
    conn.execute(update(HELD).where(here).values(verdict=str(verdict)))


def save(conn: Connection, tenant: str, source: str, changes: Changes) -> None:
    """Write one batch's changes, in the caller's transaction."""
    identity = {"tenant": tenant, "source": source}
    _put(conn, DOCUMENTS, "doc_id", [identity | _row(document) for document in changes.documents])
    kept = {folder: _ENCODE(state) for folder, state in changes.access.items() if state is not None}
    _forget(conn, ACCESS, "folder", [identity | {"folder": folder} for folder in changes.access])
    _add(conn, ACCESS, [identity | {"folder": folder, "state": state} for folder, state in kept.items()])
    _forget(conn, HELD, "doc_id", [identity | {"doc_id": doc_id} for doc_id in changes.held])
    still = [held for held in changes.held.values() if held is not None]
    _add(
        conn,
        HELD,
        [identity | {"doc_id": one.doc_id, "since": one.since, "verdict": str(one.verdict)} for one in still],
    )
    if changes.faults is not None:
        conn.execute(delete(FAULTS).where(_of(FAULTS, tenant, source)))
        _add(conn, FAULTS, [identity | {"fault": _fault_key(one), "state": _ENCODE(one)} for one in changes.faults])


def _row(document: Observed) -> dict[str, object]:
    size, mtime_ns, inode = document.signature
    return {
        "doc_id": document.doc_id,
        "path": document.path,
        "size": size,
        "mtime_ns": mtime_ns,
        "inode": inode,
        "observed_at": document.observed_at,
        "sha256": document.sha256,
        "version": document.version,
        "acl_version": document.acl_version,
        "acl": _ENCODE(document.acl),
        "present": document.present,
        "target": document.target,
    }


def _put(conn: Connection, table: Table, key: str, rows: list[dict[str, object]]) -> None:
    """The last of rows with one key wins."""
    last = {row[key]: row for row in rows}
    _forget(conn, table, key, [{name: row[name] for name in (*_IDENTITY, key)} for row in last.values()])
    _add(conn, table, list(last.values()))


def _forget(conn: Connection, table: Table, key: str, keys: Iterable[Mapping[str, object]]) -> None:
    # A Core delete with many parameter sets needs named binds that are not the column's own names.
    rows = [{f"at_{name}": value for name, value in one.items()} for one in keys]
    if rows:
        here = and_(*(table.c[name] == bindparam(f"at_{name}") for name in (*_IDENTITY, key)))
        conn.execute(delete(table).where(here), rows)


def _add(conn: Connection, table: Table, rows: list[dict[str, object]]) -> None:
    if rows:
        conn.execute(insert(table), rows)


def _of(table: Table, tenant: str, source: str) -> ColumnElement[bool]:
    return and_(table.c.tenant == tenant, table.c.source == source)


def _fault_key(fault: Fault) -> str:
    return _ENCODE([fault.doc_id, fault.reason, fault.detail]).decode()
