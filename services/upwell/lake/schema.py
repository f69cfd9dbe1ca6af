"""The registry's tables, as SQLAlchemy Core draws them for SQLite and PostgreSQL, and how a database gets them.

Words that may have to be erased stand in `documents`, `chunks` and `applied`; what orders changes (versions, ranks,
generations) outlives them.
"""

from collections.abc import Mapping

import sqlalchemy as sa

from upwell.database import Migration, Number, Text
from upwell.lake.isolation import secure, secure_created

METADATA = sa.MetaData()
sa.event.listen(METADATA, "after_create", secure_created)

VERSION = sa.Table("schema_version", METADATA, sa.Column("version", sa.Integer, nullable=False))

META = sa.Table(
    "meta",
    METADATA,
    sa.Column("name", Text, primary_key=True),
    sa.Column("value", Text, nullable=False),
)

DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("doc", Text, primary_key=True),  # DocKey.digest
    sa.Column("tenant", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("doc_id", Text, nullable=False),
    sa.Column("rev", sa.BigInteger, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("rank", sa.SmallInteger, nullable=False),
    sa.Column("content_sha256", Text, nullable=False),
    sa.Column("deleted", sa.SmallInteger, nullable=False),
    sa.Column("acl", Text, nullable=False),  # JSON, like pending, metadata, lineage and children
    sa.Column("acl_version", sa.BigInteger, nullable=False),
    sa.Column("pending", Text, nullable=False),
    sa.Column("moved_to", Text),
    sa.Column("hold", sa.SmallInteger, nullable=False),
    sa.Column("title", Text),
    sa.Column("url", Text),
    sa.Column("media_type", Text),
    sa.Column("language", Text),
    sa.Column("metadata", Text, nullable=False),
    sa.Column("modified_at", sa.BigInteger),
    sa.Column("received_at", sa.BigInteger),
    sa.Column("searchable_at", sa.BigInteger),
    sa.Column("status", Text),
    sa.Column("failed_version", sa.BigInteger, nullable=False),
    sa.Column("stale_since", sa.BigInteger),
    sa.Column("stale_reason", Text),
    sa.Column("lineage", Text, nullable=False),
    sa.Column("children", Text, nullable=False),
    sa.Column("links", Text, nullable=False, server_default="[]"),
    sa.Column("acl_missing", Text, nullable=False, server_default="[]"),
    sa.Column("acl_missing_since", sa.BigInteger),  # the oldest of acl_missing that counts
    sa.Column("acl_read", sa.BigInteger, nullable=False, server_default="-1"),
    sa.Column("reserve", Text, nullable=False, server_default="[]"),
    sa.Column("ends", Text, nullable=False, server_default="[]"),
    sa.UniqueConstraint("tenant", "source", "doc_id", name="documents_key"),
    sa.Index("documents_doc_id", "doc_id"),
)

MANIFESTS = sa.Table(
    "manifests",
    METADATA,
    sa.Column("doc", Text, primary_key=True),
    sa.Column("pipeline", Text, primary_key=True),
    sa.Column("generation", sa.BigInteger, nullable=False),
)

CHUNKS = sa.Table(
    "chunks",
    METADATA,
    sa.Column("pipeline", Text, primary_key=True),
    sa.Column("point_id", Text, primary_key=True),
    sa.Column("doc", Text, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("chunk_key", Text, nullable=False),
    sa.Column("embed_key", Text, nullable=False),
    sa.Column("born", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("text_hash", Text, nullable=False),
    sa.Column("kind", Text, nullable=False),
    sa.Column("heading_path", Text, nullable=False),  # JSON, like bbox and spans
    sa.Column("page", sa.Integer),
    sa.Column("bbox", Text),
    sa.Column("parent", sa.Integer, nullable=False),
    sa.Column("spans", Text, nullable=False),
    sa.Column("child", Text),
    sa.Index("chunks_doc", "doc", "pipeline"),
    sa.Index("chunks_embed", "embed_key", "pipeline"),
    sqlite_with_rowid=False,
)

APPLIED = sa.Table(
    "applied",
    METADATA,
    sa.Column("seq", Number, primary_key=True, autoincrement=True),
    sa.Column("doc", Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("event_id", Text, nullable=False),
    sa.Column("op", Text, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("acl_version", sa.BigInteger, nullable=False),
    sa.Column("outcome", Text, nullable=False),
    sa.Column("detail", Text, nullable=False),
    sa.UniqueConstraint("doc", "event_id", "outcome", name="applied_once"),
    sqlite_autoincrement=True,
)

OUTBOX = sa.Table(
    "outbox",
    METADATA,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("tenant", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("doc_id", Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("event_id", Text, nullable=False),
    sa.Column("op", Text, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("acl_version", sa.BigInteger, nullable=False),
    sa.Column("outcome", Text, nullable=False),
    sa.Column("reason", Text, nullable=False),
    sqlite_autoincrement=True,
)
"""What publishing owes the audit: written with the act, gone once it is audited."""

PRINCIPALS = sa.Table(
    "principals",
    METADATA,
    sa.Column("tenant", Text, primary_key=True),
    sa.Column("principal", Text, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("gone", sa.SmallInteger, nullable=False),
    sa.Column("received_at", sa.BigInteger, nullable=False),
)
"""Whom a tenant's directory has told of; `gone` ones keep their version."""

MEMBER_OF = sa.Table(
    "member_of",
    METADATA,
    sa.Column("tenant", Text, primary_key=True),
    sa.Column("principal", Text, primary_key=True),
    sa.Column("member_of", Text, primary_key=True),
)
"""The groups that a principal is directly in."""

DIRECTORIES = sa.Table(
    "directories",
    METADATA,
    sa.Column("tenant", Text, primary_key=True),
    sa.Column("mark", Text, nullable=False),
)
"""A name of the state that a tenant's directory is in; no two states have the same. Whoever changes anything in
`principals` or `member_of` writes another in the same transaction. A directory with a line here has been fed, and stays
so when the last of its principals is gone."""

ACL_NAMES = sa.Table(
    "acl_names",
    METADATA,
    sa.Column("tenant", Text, primary_key=True),
    sa.Column("name", Text, primary_key=True),
)
"""Hashes of the principals that permissions name or have named (see `named`)."""

LINKS = sa.Table(
    "links",
    METADATA,
    sa.Column("doc", Text, primary_key=True),
    sa.Column("target", Text, primary_key=True),
    sa.Index("links_target", "target", "doc"),
)
"""Which names a document's links call (see `links.targets_of`); `documents.links` has them as they are written."""

BROWSING = sa.Table(
    "browsing",
    METADATA,
    sa.Column("doc", Text, primary_key=True),
    sa.Column("tenant", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("alive", sa.SmallInteger, nullable=False),
    sa.Column("acl_class", Text, nullable=False),
    sa.Column("url_name", Text),
    sa.Column("mark", Text, nullable=False),
    sa.Column("changed_at", sa.BigInteger, nullable=False),
    sa.Index("browsing_changed", "tenant", "changed_at", "doc"),
    sa.Index("browsing_permission", "tenant", "source", "alive", "acl_class"),
    sa.Index("browsing_url", "url_name"),
)
"""Documents at a glance (see `browsing`): what changed when, and who may read it, as a hash. No erased ones."""


def _add_governance(connection: sa.Connection) -> None:
    """To schema 2: memberships, links, what readers browse by, since when a permission could not be read, and row
    security."""
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN links VARCHAR DEFAULT '[]' NOT NULL")
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN acl_missing VARCHAR DEFAULT '[]' NOT NULL")
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN acl_missing_since BIGINT")
    _add_ends(connection)
    secure(connection, ["documents", "manifests", "chunks", "applied"])
    METADATA.create_all(connection, tables=[PRINCIPALS, MEMBER_OF, DIRECTORIES, ACL_NAMES, LINKS, BROWSING])
    from upwell.lake.browsing import fill  # noqa: PLC0415 it reads rows, whose columns stand here

    fill(connection)


def _add_ends(connection: sa.Connection) -> None:
    """Permissions that end with their document. What binds now was read with content that is reached; which exactly
    nobody knows any more, and the newest is taken for it: tombstones to come end it."""
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN acl_read BIGINT DEFAULT -1 NOT NULL")
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN reserve VARCHAR DEFAULT '[]' NOT NULL")
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN ends VARCHAR DEFAULT '[]' NOT NULL")
    connection.exec_driver_sql("UPDATE documents SET acl_read = version")
    connection.exec_driver_sql(
        """UPDATE documents SET ends = '[{"acl_version":0,"version":' || version || '}]' WHERE deleted = 1"""
    )


def _add_outbox(connection: sa.Connection) -> None:
    """To schema 3: what is applied from now on is audited."""
    METADATA.create_all(connection, tables=[OUTBOX])


def _find_chunks_by_both(connection: sa.Connection) -> None:
    """To schema 4: with an index on one of the two, PostgreSQL without statistics reads all chunks of the pipeline."""
    connection.exec_driver_sql("DROP INDEX IF EXISTS chunks_embed_key")
    connection.exec_driver_sql("CREATE INDEX IF NOT EXISTS chunks_embed ON chunks (embed_key, pipeline)")


STEPS: Mapping[int, Migration] = {2: _add_governance, 3: _add_outbox, 4: _find_chunks_by_both}
"""What brings a registry to each schema, from 2 on, from the one before it. A change to the tables is a step here."""
