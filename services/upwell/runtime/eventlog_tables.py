"""The event log's tables, and the statements that end an event: built once, for every event passes them."""

import sqlalchemy as sa

from upwell.lake.family import STAGE
from upwell.records import Op, Outcome

METADATA = sa.MetaData()

EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("event_id", sa.String, nullable=False, unique=True),
    sa.Column("document", sa.String, nullable=False),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("source", sa.String, nullable=False),
    sa.Column("doc_id", sa.String, nullable=False),
    sa.Column("op", sa.String, nullable=False),
    sa.Column("lane", sa.String, nullable=False),
    sa.Column("received_at", sa.Integer, nullable=False),
    sa.Column("body", sa.LargeBinary),
    sa.Column("ended_at", sa.Integer),
    sa.Column("outcome", sa.String),
    sa.Column("reason", sa.String),
    sa.Index("events_unended", "seq", sqlite_where=sa.text("ended_at IS NULL")),
    sa.Index("events_document", "document"),
    sqlite_autoincrement=True,
)

DEAD = sa.Table(
    "dead_letters",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("event_id", sa.String),
    sa.Column("tenant", sa.String, nullable=False),
    sa.Column("source", sa.String, nullable=False),
    sa.Column("doc_id", sa.String, nullable=False),
    sa.Column("stage", sa.String, nullable=False),
    sa.Column("reason", sa.String, nullable=False),
    sa.Column("detail", sa.String, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("at", sa.Integer, nullable=False),
    sa.Column("body", sa.LargeBinary),
    sa.UniqueConstraint("tenant", "source", "doc_id", "stage", "reason"),
    sqlite_autoincrement=True,
)

REPLAYS = sa.Table(
    "replays",
    METADATA,
    sa.Column("event_id", sa.String, primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False),
)
"""How often a replayed event had been tried before: should it fail again, its letter counts on from there."""

UNENDED = EVENTS.c.ended_at.is_(None)

END = (
    sa.update(EVENTS)
    .where(EVENTS.c.event_id == sa.bindparam("event"), UNENDED)
    .values({name: sa.bindparam(name) for name in ("ended_at", "outcome", "reason", "body")})
)
_OF_DOCUMENT = (DEAD.c.tenant == sa.bindparam("of_tenant"), DEAD.c.source == sa.bindparam("of_source"))
FORGET_EVENTS = sa.delete(DEAD).where(
    *_OF_DOCUMENT, DEAD.c.doc_id == sa.bindparam("of_doc_id"), DEAD.c.event_id.is_not(None)
)
GONE_ON = sa.select(EVENTS.c.seq).where(
    EVENTS.c.document == sa.bindparam("digest"),
    EVENTS.c.seq > sa.select(EVENTS.c.seq).where(EVENTS.c.event_id == sa.bindparam("event")).scalar_subquery(),
    EVENTS.c.outcome == Outcome.APPLIED,
    EVENTS.c.op != Op.ACL,
)
"""An event accepted after this one has changed the document already: the control lane overtakes."""
_INSIDE = (
    *_OF_DOCUMENT,
    DEAD.c.doc_id >= sa.bindparam("first"),
    DEAD.c.doc_id < sa.bindparam("after"),
    DEAD.c.stage == STAGE,
    DEAD.c.event_id.is_(None),
)
"""Dead letters of a document's parts: doc_ids between `parent!/` and what follows that in byte order."""
FORGET_INSIDE = sa.delete(DEAD).where(*_INSIDE)
FORGET_INSIDE_UNLESS_GONE_ON = FORGET_INSIDE.where(~GONE_ON.exists())
