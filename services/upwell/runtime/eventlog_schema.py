"""How an event log of an earlier version is brought forward."""

from collections.abc import Mapping

import msgspec
import sqlalchemy as sa
from msgspec.structs import replace

from upwell.database import Migration, migrate
from upwell.lake.family import INSIDE, STAGE
from upwell.records import ChangeEvent, DocKey
from upwell.runtime.eventlog_batches import row_of
from upwell.runtime.eventlog_tables import DEAD, EVENTS, METADATA, READ, REPLAYS, VERSION
from upwell.runtime.letterbox import order_of

_DECODER = msgspec.msgpack.Decoder(ChangeEvent)


def bring_forward(connection: sa.Connection) -> None:
    """Make the tables, or bring them to this code's schema. Raises Misconfigured for those of a newer version."""
    migrate(connection, VERSION, METADATA, STEPS, what="event log", founders=EVENTS.name)


def _order_by_content(connection: sa.Connection) -> None:
    """To schema 2: what is newer goes by content, not by arrival; letters are told apart by digest and origin.

    SQLite alone had schema 1. An event that had ended before keeps order 0: its version is not known any more.
    """
    connection.exec_driver_sql("ALTER TABLE events ADD COLUMN content_order BIGINT DEFAULT '0' NOT NULL")
    connection.exec_driver_sql("ALTER TABLE events ADD COLUMN moved_from VARCHAR")
    connection.exec_driver_sql("DROP INDEX events_document")
    for index in EVENTS.indexes:
        index.create(connection, checkfirst=True)
    for seq, body in connection.execute(sa.select(EVENTS.c.seq, EVENTS.c.body).where(EVENTS.c.body.is_not(None))).all():
        known = {name: row_of(_DECODER.decode(body))[name] for name in ("content_order", "moved_from")}
        connection.execute(sa.update(EVENTS).where(EVENTS.c.seq == seq).values(known))
    REPLAYS.create(connection, checkfirst=True)
    letters = connection.exec_driver_sql("SELECT * FROM dead_letters ORDER BY id").mappings().all()
    connection.exec_driver_sql("DROP TABLE dead_letters")
    DEAD.create(connection)
    for letter in letters:
        key = DocKey(tenant=letter["tenant"], source=letter["source"], doc_id=letter["doc_id"])
        order = order_of(_DECODER.decode(letter["body"])) if letter["body"] else 0
        whole = replace(key, doc_id=key.doc_id.partition(INSIDE)[0]) if _of_part(letter) else key
        fresh = {"document": key.digest, "family": whole.digest, "content_order": order}
        connection.execute(sa.insert(DEAD), {**letter, **fresh})


def _of_part(letter: sa.RowMapping) -> bool:
    return letter["event_id"] is None and letter["stage"] == STAGE and INSIDE in letter["doc_id"]


def _add_read(connection: sa.Connection) -> None:
    """To schema 3: how far the ledger of a distributed lake has read."""
    READ.create(connection)


STEPS: Mapping[int, Migration] = {2: _order_by_content, 3: _add_read}
"""What brings a log to each schema, from 2 on, from the one before it."""
