"""The audit's SQL: what a writer asks of its tables."""

from collections.abc import Sequence

import sqlalchemy as sa

from upwell.audit.chain import Head, Link
from upwell.audit.schema import AUDIT, SEALS

IN_LIMIT = 500

_HEAD = (
    sa.select(AUDIT.c.seq, AUDIT.c.hash)
    .where(AUDIT.c.writer == sa.bindparam("of"))
    .order_by(AUDIT.c.seq.desc())
    .limit(1)
)
_ORIGINS = sa.select(AUDIT.c.origin).where(AUDIT.c.origin.in_(sa.bindparam("origins", expanding=True)))
_LATEST = (
    sa.select(SEALS.c.writer)
    .group_by(SEALS.c.writer)
    .order_by(sa.func.max(SEALS.c.sealed_at).desc())
    .limit(sa.bindparam("most"))
)


def link_values(writer: str, link: Link) -> dict[str, object]:
    """A record's columns."""
    return {
        "writer": writer,
        "seq": link.seq,
        "at": link.at,
        "body": link.body,
        "hash": link.hash,
        "origin": link.origin,
    }


def head_of(connection: sa.Connection, writer: str) -> Head:
    """Where a chain ends; a chain that is not there yet ends before record 0."""
    found = connection.execute(_HEAD, {"of": writer}).one_or_none()
    return Head(writer=writer) if found is None else Head(writer=writer, seq=found.seq, hash=found.hash)


def latest_heads(connection: sa.Connection, most: int) -> list[Head]:
    """Where the chains end that were sealed last."""
    writers = connection.execute(_LATEST, {"most": most}).scalars().all()
    return [head_of(connection, writer) for writer in writers]


def known_origins(connection: sa.Connection, origins: Sequence[str]) -> set[str]:
    """Which of these acts have their record."""
    known: set[str] = set()
    for start in range(0, len(origins), IN_LIMIT):
        known.update(connection.execute(_ORIGINS, {"origins": origins[start : start + IN_LIMIT]}).scalars())
    return known
