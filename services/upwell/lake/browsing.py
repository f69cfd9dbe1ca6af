"""The index that readers browse by, in the registry's database and written in its transactions.

A narrow table, so that a look through all that changed, or through the permissions of a source, reads no documents.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

import sqlalchemy as sa

from upwell.database import insert, transaction
from upwell.lake import rows as encoded
from upwell.lake import statements as sql
from upwell.lake.links import names_of, targets_of
from upwell.lake.named import AclNames, write
from upwell.lake.schema import BROWSING, DOCUMENTS, LINKS
from upwell.ports import DocumentRow
from upwell.ports.browsing import Glance
from upwell.records import Acl, DocKey

PORTION = 500
ERASED = 2
"""The rank of an erased document."""

_TENANT: sa.BindParameter[str] = sa.bindparam("of_tenant", type_=BROWSING.c.tenant.type)
_HERE = BROWSING.c.tenant == _TENANT
_ALIVE = BROWSING.c.alive == 1
_NEXT_SOURCE = sa.select(sa.func.min(BROWSING.c.source)).where(
    _HERE, BROWSING.c.source > sa.bindparam("after", type_=BROWSING.c.source.type)
)
_NEXT_PERMISSION = (
    sa.select(BROWSING.c.acl_class, BROWSING.c.doc)
    .where(
        _HERE,
        BROWSING.c.source == sa.bindparam("of_source", type_=BROWSING.c.source.type),
        _ALIVE,
        BROWSING.c.acl_class > sa.bindparam("after", type_=BROWSING.c.acl_class.type),
    )
    .order_by(BROWSING.c.acl_class)
    .limit(1)
)
_NAMES = sa.bindparam("names", expanding=True, type_=LINKS.c.target.type)
_OWN_NAME = sa.select(BROWSING.c.doc.label("name"), BROWSING.c.doc).where(_HERE, BROWSING.c.doc.in_(_NAMES), _ALIVE)
_BY_URL = sa.select(BROWSING.c.url_name.label("name"), BROWSING.c.doc).where(
    _HERE, BROWSING.c.url_name.in_(_NAMES), _ALIVE
)
_KEYS = sa.select(DOCUMENTS.c.doc, DOCUMENTS.c.tenant, DOCUMENTS.c.source, DOCUMENTS.c.doc_id).where(
    DOCUMENTS.c.tenant == _TENANT, DOCUMENTS.c.doc.in_(sa.bindparam("docs", expanding=True, type_=DOCUMENTS.c.doc.type))
)
_OF = sa.bindparam("of", type_=LINKS.c.doc.type)
_TARGETS = sa.select(LINKS.c.target).where(LINKS.c.doc == _OF)
_PUTS: dict[str, sa.Insert] = {}
_FORGET = sa.delete(BROWSING).where(BROWSING.c.doc == _OF)


class SqlBrowsing:
    """`ports.browsing.Browsing` of one tenant, over the registry's engine."""

    def __init__(self, engine: sa.Engine, tenant: str) -> None:
        self._engine = engine
        self._tenant = tenant

    def sources(self) -> list[str]:
        found: list[str] = []
        with self._reading() as connection:
            after = ""
            while (
                name := connection.execute(_NEXT_SOURCE, {"of_tenant": self._tenant, "after": after}).scalar()
            ) is not None:
                found.append(name)
                after = name
        return found

    def permissions(self, source: str, limit: int) -> list[str]:
        docs: list[str] = []
        after = ""
        with self._reading() as connection:
            while len(docs) < limit:
                asked = {"of_tenant": self._tenant, "of_source": source, "after": after}
                found = connection.execute(_NEXT_PERMISSION, asked).one_or_none()
                if found is None:
                    break
                after = found.acl_class
                docs.append(found.doc)
        return docs

    def changed(self, after: tuple[int, str], *, sources: Iterable[str] = (), limit: int) -> Sequence[Glance]:
        with self._reading() as connection:
            found = connection.execute(_changed(after, frozenset(sources), limit), {"of_tenant": self._tenant})
            return [
                Glance(doc=row.doc, source=row.source, acl_class=row.acl_class, changed_at=row.changed_at)
                for row in found
            ]

    def named(self, names: Iterable[str]) -> dict[str, list[str]]:
        docs: dict[str, list[str]] = {}
        with self._reading() as connection:
            for some in _portions(names):
                for query in (_OWN_NAME, _BY_URL):
                    for row in connection.execute(
                        query.order_by(BROWSING.c.doc), {"of_tenant": self._tenant, "names": some}
                    ):
                        docs.setdefault(row.name, []).append(row.doc)
        return docs

    def callers(self, names: Iterable[str], after: str, limit: int) -> Sequence[str]:
        calling = (
            sa.select(LINKS.c.doc)
            .distinct()
            .where(LINKS.c.target.in_(_NAMES), LINKS.c.doc > sa.literal(after, LINKS.c.doc.type))
            .order_by(LINKS.c.doc)
            .limit(limit)
        )
        with self._reading() as connection:
            return list(connection.execute(calling, {"names": list(names)}).scalars())

    def keys(self, docs: Iterable[str]) -> dict[str, DocKey]:
        found: dict[str, DocKey] = {}
        with self._reading() as connection:
            for some in _portions(docs):
                for row in connection.execute(_KEYS, {"of_tenant": self._tenant, "docs": some}):
                    found[row.doc] = DocKey(tenant=row.tenant, source=row.source, doc_id=row.doc_id)
        return found

    def _reading(self) -> AbstractContextManager[sa.Connection]:
        return transaction(self._engine, "registry", read_only=True, tenant=self._tenant)


def shown(row: DocumentRow) -> bool:
    """True if there is anything to browse: not before a document's first content, nor after its erasure."""
    return row.version >= 0 and row.rank != ERASED


def class_of(acl: Acl) -> str:
    """Equal permissions, equal class."""
    return _hashed(acl)


def note(connection: sa.Connection, row: DocumentRow, now: int, *, links: bool, fresh: bool = False) -> None:
    """Write what this row is at a glance, and with `links` where it points to, into the transaction that commits it.

    Of a `fresh` document nothing is here yet, and nothing is looked for.
    """
    doc = row.key.digest
    if not shown(row):
        if not fresh:
            forget(connection, doc)
        return
    connection.execute(_put(connection), glance_values(row, now))
    if links:
        _put_links(connection, doc, set(targets_of(row)), fresh=fresh)


def glance_values(row: DocumentRow, now: int) -> dict[str, object]:
    """The columns of what a row is at a glance."""
    url = names_of(row)[1:]
    return {
        "doc": row.key.digest,
        "tenant": row.key.tenant,
        "source": row.key.source,
        "alive": int(not row.deleted),
        "acl_class": class_of(row.effective_acl),
        "url_name": url[0] if url else None,
        "mark": _mark(row),
        "changed_at": now,
    }


def forget(connection: sa.Connection, doc: str) -> None:
    """Leave nothing of a document here."""
    connection.execute(_FORGET, {"of": doc})
    connection.execute(sql.FORGET_LINKS, {"of": doc})


def fill(connection: sa.Connection) -> None:
    """Note every document that there is, at the time when it became what it is: for a registry that had no index."""
    after, names = "", AclNames()
    while True:
        page = sa.select(DOCUMENTS).where(DOCUMENTS.c.doc > sa.literal(after, DOCUMENTS.c.doc.type))
        found = connection.execute(page.order_by(DOCUMENTS.c.doc).limit(PORTION)).mappings().all()
        for columns in found:
            row = encoded.document_of(columns)
            note(connection, row, row.searchable_at or row.received_at or 0, links=True)
            new = names.new(row.key.tenant, row.effective_acl)
            write(connection, new)
            names.remember(new)
        if len(found) < PORTION:
            return
        after = found[-1]["doc"]


def _put(connection: sa.Connection) -> sa.Insert:
    """Insert or overwrite a glance, built once."""
    name = connection.dialect.name
    if name not in _PUTS:
        _PUTS[name] = sql.overwriting(insert(connection, BROWSING))
    return _PUTS[name]


def _changed(after: tuple[int, str], sources: frozenset[str], limit: int) -> sa.Select[tuple[str, str, str, int]]:
    at, doc = after
    found = (
        sa.select(BROWSING.c.doc, BROWSING.c.source, BROWSING.c.acl_class, BROWSING.c.changed_at)
        .where(
            _HERE,
            BROWSING.c.changed_at >= at,
            sa.or_(BROWSING.c.changed_at > at, BROWSING.c.doc > doc),
        )
        .order_by(BROWSING.c.changed_at, BROWSING.c.doc)
        .limit(limit)
    )
    return found.where(BROWSING.c.source.in_(sorted(sources))) if sources else found


def _mark(row: DocumentRow) -> str:
    """What a reader could see of a change: equal marks, nothing to tell of."""
    content = (row.version, row.rank, row.content_sha256, row.moved_to, row.searchable_at, row.title, row.url)
    return _hashed(*content, row.effective_acl)


def _hashed(*parts: object) -> str:
    return hashlib.sha256(encoded.json_of(parts).encode()).hexdigest()[:32]


def _put_links(connection: sa.Connection, doc: str, wanted: set[str], *, fresh: bool) -> None:
    stored: set[str] = set() if fresh else set(connection.execute(_TARGETS, {"of": doc}).scalars())
    if stored == wanted:
        return
    if stored:
        connection.execute(sql.FORGET_LINKS, {"of": doc})
    if wanted:
        connection.execute(sa.insert(LINKS), [{"doc": doc, "target": target} for target in sorted(wanted)])


def _portions(values: Iterable[str]) -> Iterator[list[str]]:
    distinct = sorted(set(values))
    for start in range(0, len(distinct), PORTION):
        yield distinct[start : start + PORTION]
