"""Retention: whole sealed beginnings of chains go once they are old enough, and a signed checkpoint stands for them.

The one way in which records may leave: the tables let go of what a checkpoint covers, and of nothing else.
"""

from collections.abc import Callable

import msgspec
import sqlalchemy as sa

from upwell.audit import chain
from upwell.audit.chain import Head
from upwell.audit.read import AuditTables
from upwell.audit.schema import AUDIT, CHECKPOINTS, SEALS
from upwell.clock import Clock
from upwell.database import transaction
from upwell.ports import Signer


def expire(engine: sa.Engine, before: int, *, clock: Clock, signer: Callable[[], Signer | None]) -> int:
    """Remove the records up to each chain's last seal from before `before` (us); how many. Verify first: what a
    checkpoint stands for cannot be checked any more.

    Raises Retryable while the database cannot be used.
    """
    return sum(_expire(engine, writer, before, clock, signer) for writer in AuditTables(engine).writers())


def _expire(engine: sa.Engine, writer: str, before: int, clock: Clock, signer: Callable[[], Signer | None]) -> int:
    last = (
        sa.select(SEALS.c.through_seq, SEALS.c.hash)
        .where(SEALS.c.writer == writer, SEALS.c.sealed_at < before)
        .order_by(SEALS.c.through_seq.desc())
        .limit(1)
    )
    with transaction(engine, "audit") as connection:
        seal = connection.execute(last).one_or_none()
        if seal is None:
            return 0
        head = Head(writer=writer, seq=seal.through_seq, hash=seal.hash)
        checkpoint = chain.sealed(head, clock(), signer(), checkpoint=True)
        connection.execute(sa.insert(CHECKPOINTS), msgspec.structs.asdict(checkpoint))
        gone = connection.execute(sa.delete(AUDIT).where(AUDIT.c.writer == writer, AUDIT.c.seq <= head.seq)).rowcount
        connection.execute(sa.delete(SEALS).where(SEALS.c.writer == writer, SEALS.c.through_seq <= head.seq))
        return gone
