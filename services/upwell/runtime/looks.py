"""When a source was last looked at, and what it had to say: the notices that `status` shows."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from upwell.records import Record

METADATA = sa.MetaData()

LOOKS = sa.Table(
    "source_looks",
    METADATA,
    sa.Column("tenant", sa.String, primary_key=True),
    sa.Column("source", sa.String, primary_key=True),
    sa.Column("looked_at", sa.Integer, nullable=False),
    sa.Column("notices", sa.LargeBinary, nullable=False),
)


class Look(Record, frozen=True, kw_only=True):
    """The last complete look at a source, in us, and its notices, a line each."""

    looked_at: int
    notices: tuple[str, ...] = ()


def save(connection: sa.Connection, tenant: str, source: str, looked_at: int, notices: Sequence[str]) -> None:
    """Remember a look, in the caller's transaction."""
    seen = {"looked_at": looked_at, "notices": msgspec.json.encode(notices)}
    connection.execute(
        insert(LOOKS)
        .values(tenant=tenant, source=source, **seen)
        .on_conflict_do_update(index_elements=["tenant", "source"], set_=seen)
    )


def quiet(connection: sa.Connection, tenant: str, source: str, codes: AbstractSet[str]) -> None:
    """Forget the notices of these codes, which no longer hold, in the caller's transaction."""
    seen = load(connection).get((tenant, source))
    if seen is not None:
        still = [line for line in seen.notices if line.partition(":")[0] not in codes]
        save(connection, tenant, source, seen.looked_at, still)


def load(connection: sa.Connection) -> dict[tuple[str, str], Look]:
    """(tenant, source) -> its last look."""
    return {
        (row.tenant, row.source): Look(
            looked_at=row.looked_at, notices=msgspec.json.decode(row.notices, type=tuple[str, ...])
        )
        for row in connection.execute(sa.select(LOOKS))
    }
