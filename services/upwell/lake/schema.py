"""The registry's tables, as SQLAlchemy Core draws them for SQLite and later PostgreSQL, and how a file gets them.

Words that may have to be erased stand in `documents`, `chunks` and `applied`; what orders changes (versions, ranks,
generations) outlives them.
"""

from collections.abc import Callable

import sqlalchemy as sa

from upwell.errors import Misconfigured

SCHEMA = 1
"""The newest schema this code knows. A change to the tables is a migration here and one more."""

METADATA = sa.MetaData()

VERSION = sa.Table("schema_version", METADATA, sa.Column("version", sa.Integer, nullable=False))

META = sa.Table(
    "meta",
    METADATA,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)

DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("doc", sa.String(32), primary_key=True),  # DocKey.digest
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("source", sa.String, nullable=False),
    sa.Column("doc_id", sa.String, nullable=False),
    sa.Column("rev", sa.BigInteger, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("rank", sa.SmallInteger, nullable=False),
    sa.Column("content_sha256", sa.String, nullable=False),
    sa.Column("deleted", sa.SmallInteger, nullable=False),
    sa.Column("acl", sa.String, nullable=False),  # JSON, like pending, metadata, lineage and children
    sa.Column("acl_version", sa.BigInteger, nullable=False),
    sa.Column("pending", sa.String, nullable=False),
    sa.Column("moved_to", sa.String),
    sa.Column("hold", sa.SmallInteger, nullable=False),
    sa.Column("title", sa.String),
    sa.Column("url", sa.String),
    sa.Column("media_type", sa.String),
    sa.Column("language", sa.String),
    sa.Column("metadata", sa.String, nullable=False),
    sa.Column("modified_at", sa.BigInteger),
    sa.Column("received_at", sa.BigInteger),
    sa.Column("searchable_at", sa.BigInteger),
    sa.Column("status", sa.String),
    sa.Column("failed_version", sa.BigInteger, nullable=False),
    sa.Column("stale_since", sa.BigInteger),
    sa.Column("stale_reason", sa.String),
    sa.Column("lineage", sa.String, nullable=False),
    sa.Column("children", sa.String, nullable=False),
    sa.UniqueConstraint("tenant", "source", "doc_id", name="documents_key"),
    sa.Index("documents_doc_id", "doc_id"),
)

MANIFESTS = sa.Table(
    "manifests",
    METADATA,
    sa.Column("doc", sa.String(32), primary_key=True),
    sa.Column("pipeline", sa.String, primary_key=True),
    sa.Column("generation", sa.BigInteger, nullable=False),
)

CHUNKS = sa.Table(
    "chunks",
    METADATA,
    sa.Column("pipeline", sa.String, primary_key=True),
    sa.Column("point_id", sa.String(36), primary_key=True),
    sa.Column("doc", sa.String(32), nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("chunk_key", sa.String, nullable=False),
    sa.Column("embed_key", sa.String, nullable=False),
    sa.Column("born", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("text_hash", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("heading_path", sa.String, nullable=False),  # JSON, like bbox and spans
    sa.Column("page", sa.Integer),
    sa.Column("bbox", sa.String),
    sa.Column("parent", sa.Integer, nullable=False),
    sa.Column("spans", sa.String, nullable=False),
    sa.Column("child", sa.String),
    sa.Index("chunks_doc", "doc", "pipeline"),
    sa.Index("chunks_embed_key", "embed_key"),
    sqlite_with_rowid=False,
)

APPLIED = sa.Table(
    "applied",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("doc", sa.String(32), nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("event_id", sa.String, nullable=False),
    sa.Column("op", sa.String, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("acl_version", sa.BigInteger, nullable=False),
    sa.Column("outcome", sa.String, nullable=False),
    sa.Column("detail", sa.String, nullable=False),
    sa.UniqueConstraint("doc", "event_id", "outcome", name="applied_once"),
    sqlite_autoincrement=True,
)

Migration = Callable[[sa.Connection], None]

MIGRATIONS: dict[int, Migration] = {1: METADATA.create_all}
"""What brings a registry to each schema from the one before it."""


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to this code's schema. Raises Misconfigured for a registry that a newer version has written."""
    VERSION.create(connection, checkfirst=True)
    found = connection.execute(sa.select(sa.func.coalesce(sa.func.max(VERSION.c.version), 0))).scalar_one()
    if found > SCHEMA:
        raise Misconfigured(f"this lake was written by a newer version (registry schema {found}, here {SCHEMA})")
    for version in range(found + 1, SCHEMA + 1):
        MIGRATIONS[version](connection)
        connection.execute(sa.insert(VERSION).values(version=version))
