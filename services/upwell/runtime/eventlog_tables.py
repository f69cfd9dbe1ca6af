"""The event log's tables, and the statements that end an event: built once, for every event passes them."""

import sqlalchemy as sa

from upwell.database import Number, Text
from upwell.records import Op, Outcome

METADATA = sa.MetaData()

VERSION = sa.Table("eventlog_version", METADATA, sa.Column("version", sa.Integer, nullable=False))

_PENDING = sa.text("ended_at IS NULL")
_MOVED = sa.text("moved_from IS NOT NULL")

EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("seq", Number, primary_key=True, autoincrement=True),
    sa.Column("event_id", Text, nullable=False, unique=True),
    sa.Column("document", Text, nullable=False),  # DocKey.digest
    sa.Column("tenant", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("doc_id", Text, nullable=False),
    sa.Column("op", Text, nullable=False),
    sa.Column("lane", Text, nullable=False),
    sa.Column("received_at", sa.BigInteger, nullable=False),
    sa.Column("content_order", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("moved_from", Text),  # DocKey.digest of the id that a move leaves behind
    sa.Column("body", sa.LargeBinary),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("outcome", Text),
    sa.Column("reason", Text),
    sa.Index("events_unended", "seq", sqlite_where=_PENDING, postgresql_where=_PENDING),
    sa.Index("events_content", "document", "content_order"),
    sa.Index("events_moved", "moved_from", sqlite_where=_MOVED, postgresql_where=_MOVED),
    sqlite_autoincrement=True,
)
"""Every accepted event. `content_order` is of `order_of`; `body` is the event itself where the log has to keep it."""

DEAD = sa.Table(
    "dead_letters",
    METADATA,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("event_id", Text),
    sa.Column("document", Text, nullable=False),  # DocKey.digest, and that of the document it is a part of
    sa.Column("family", Text, nullable=False),
    sa.Column("tenant", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("doc_id", Text, nullable=False),
    sa.Column("stage", Text, nullable=False),
    sa.Column("reason", Text, nullable=False),
    sa.Column("detail", Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("content_order", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("origin", Text, nullable=False, server_default=""),
    sa.Column("body", sa.LargeBinary),
    sa.Column("raw", sa.LargeBinary),
    sa.UniqueConstraint("document", "stage", "reason", "origin", name="dead_letters_once"),
    sa.Index("dead_letters_family", "family"),
    sqlite_autoincrement=True,
)
"""What was refused: an event (`body`), what never became one (a folder's entry, a part of a document), or a message
that nobody could read (`raw`, from `origin`: topic/partition/offset)."""

REPLAYS = sa.Table(
    "replays",
    METADATA,
    sa.Column("event_id", Text, primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False),
)
"""How often a replayed event had been tried before: should it fail again, its letter counts on from there."""

READ = sa.Table(
    "ledger_read",
    METADATA,
    sa.Column("ledger", Text, primary_key=True),
    sa.Column("through", sa.BigInteger, nullable=False),
)
"""Up to when (us) the ledger has read all that was accepted: who asks it then need not ask the brokers."""

UNENDED = EVENTS.c.ended_at.is_(None)

END = (
    sa.update(EVENTS)
    .where(EVENTS.c.event_id == sa.bindparam("event"), UNENDED)
    .values({name: sa.bindparam(name) for name in ("ended_at", "outcome", "reason", "body")})
)
_FAMILY = DEAD.c.family == sa.bindparam("digest")
FORGET_FAMILY = sa.delete(DEAD).where(_FAMILY)
FORGET_EVENT = FORGET_FAMILY.where(DEAD.c.event_id == sa.bindparam("event"))
FORGET_EVENTS = FORGET_FAMILY.where(DEAD.c.event_id.is_not(None), DEAD.c.content_order <= sa.bindparam("order"))
"""The letters of a document's events up to one that was applied."""
_CHANGED = sa.and_(
    EVENTS.c.document == sa.bindparam("digest"), EVENTS.c.outcome == Outcome.APPLIED, EVENTS.c.op != Op.ACL
)
_MOVED_AWAY = sa.and_(
    EVENTS.c.moved_from == sa.bindparam("digest"), EVENTS.c.outcome.in_((Outcome.APPLIED, Outcome.DEAD))
)
GONE_ON = sa.select(EVENTS.c.seq).where(EVENTS.c.content_order > sa.bindparam("order"), sa.or_(_CHANGED, _MOVED_AWAY))
"""A newer event has changed the document already, or moved it: control overtakes, and a ledger hears of ends in any
order."""
FORGET_PARTS_UNLESS_GONE_ON = FORGET_FAMILY.where(DEAD.c.document != DEAD.c.family, ~GONE_ON.exists())
FAMILIES = sa.select(DEAD.c.family).distinct().where(DEAD.c.family.in_(sa.bindparam("digests", expanding=True)))
TRIED = sa.select(REPLAYS.c.attempts).where(REPLAYS.c.event_id == sa.bindparam("event"))
