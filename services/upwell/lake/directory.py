"""Directories: who is in which group, as a stream of its own beside the documents, and who an asker is by it.

A change of membership is effective when `put` returns: whoever reads asks in the same snapshot that checks what is
shown (`Standings`), and no point is rewritten. Groups may hold groups to any depth, and each other.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from uuid import uuid4

import sqlalchemy as sa

from upwell.access import EVERYONE, Asker, Standing, reader
from upwell.database import insert, transaction
from upwell.errors import Reason, Rejected
from upwell.lake.outbox import put_membership
from upwell.lake.schema import DIRECTORIES, MEMBER_OF, PRINCIPALS
from upwell.records import Membership

UNKNOWN_USER = "unknown_user"
"""Why a user is nobody: the tenant's directory is fed, and does not know them (any more)."""

USER = "user:"

PAGE = 500
"""How many names one statement carries, and one page holds."""

MOST_NAMES = 200_000
"""How many names of groups are kept in memory, of all askers together (some 30 MB)."""

_TENANT = sa.bindparam("of_tenant", type_=MEMBER_OF.c.tenant.type)
_NAMES = sa.bindparam("names", expanding=True, type_=PRINCIPALS.c.principal.type)
_HERE = (PRINCIPALS.c.tenant == _TENANT, PRINCIPALS.c.gone == 0)

_MARK = sa.select(DIRECTORIES.c.mark).where(DIRECTORIES.c.tenant == _TENANT)
_KNOWN = sa.select(PRINCIPALS.c.principal).where(*_HERE, PRINCIPALS.c.principal.in_(_NAMES))


def _closure(*, lateral: bool) -> sa.Select[str]:
    """All groups that these principals are in. UNION keeps each once, which ends cycles. A group that is gone is none,
    whoever is still said to be in it; it is in no other itself.

    `lateral` has PostgreSQL look each group up by the index: it expects millions where there are few, and would read
    the whole table at each step. SQLite does so by itself.
    """
    of_tenant = sa.select(MEMBER_OF.c.member_of.label("principal")).where(MEMBER_OF.c.tenant == _TENANT)
    found = of_tenant.where(MEMBER_OF.c.principal.in_(_NAMES)).cte("found", recursive=True)
    if lateral:
        next_ones = of_tenant.where(MEMBER_OF.c.principal == found.c.principal).offset(sa.literal_column("0")).lateral()
        found = found.union(sa.select(next_ones.c.principal).select_from(found.join(next_ones, sa.true())))
    else:
        found = found.union(of_tenant.join(found, MEMBER_OF.c.principal == found.c.principal))
    gone = sa.exists().where(
        PRINCIPALS.c.tenant == _TENANT, PRINCIPALS.c.principal == found.c.principal, PRINCIPALS.c.gone == 1
    )
    return sa.select(found.c.principal).where(~gone)


_CLOSURES = {"sqlite": _closure(lateral=False), "postgresql": _closure(lateral=True)}


class Standings:
    """Who an asker is, by the memberships that a transaction sees.

    With a fed directory what a token claims counts for nothing, and a user whom the directory does not know is nobody.
    A directory that was ever fed stays so, also when all whom it knew are gone: an empty one knows nobody.

    What was found is kept under the mark that the tenant's directory had then: each change of it writes another, so
    what is kept is never older than the transaction that asks.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Asker, tuple[str, Standing]] = OrderedDict()
        self._names = 0

    def of(self, connection: sa.Connection, asker: Asker) -> Standing:
        mark = connection.execute(_MARK, {"of_tenant": asker.tenant}).scalar_one_or_none()
        if mark is None:
            return _believed(asker)
        with self._lock:
            known = self._kept.get(asker)
        if known is not None and known[0] == mark:
            return known[1]
        standing = _standing(connection, asker)
        self._keep(asker, mark, standing)
        return standing

    def _keep(self, asker: Asker, mark: str, standing: Standing) -> None:
        with self._lock:
            self._drop(self._kept.pop(asker, None))
            self._kept[asker] = mark, standing
            self._names += 1 + len(standing.principals)
            while self._names > MOST_NAMES:
                self._drop(self._kept.popitem(last=False)[1])

    def _drop(self, kept: tuple[str, Standing] | None) -> None:
        if kept is not None:
            self._names -= 1 + len(kept[1].principals)


def _believed(asker: Asker) -> Standing:
    return Standing(principals=reader(*asker.principals, *asker.claimed))


def _standing(connection: sa.Connection, asker: Asker) -> Standing:
    users = {name for name in asker.principals if name.startswith(USER)}
    if users - _names(connection, _KNOWN, asker.tenant, users):
        return Standing(reason=UNKNOWN_USER)
    groups = _names(connection, _CLOSURES[connection.dialect.name], asker.tenant, asker.principals)
    return Standing(principals=reader(*asker.principals, *groups))


class SqlDirectory:
    """`ports.Directory` in the registry's database. Errors as the registry has them.

    Raises Rejected for what is no membership: of `everyone`, or in a user.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def put(self, member: Membership) -> bool:
        if member.principal == EVERYONE or any(name.startswith(USER) for name in member.member_of):
            raise Rejected(Reason.INVALID_EVENT, "a membership is of a user or a group, in groups")
        with transaction(self._engine, "registry") as connection:
            if not _put_principal(connection, member):
                return False
            _put_groups(connection, member, frozenset() if member.gone else member.member_of)
            put_membership(connection, member)
            put = insert(connection, DIRECTORIES).values(tenant=member.tenant, mark=uuid4().hex)
            connection.execute(put.on_conflict_do_update(index_elements=["tenant"], set_={"mark": put.excluded.mark}))
        return True

    def members(self, tenant: str, principal: str | None = None) -> Iterator[Membership]:
        """See `ports.Directory.members`: pages, each of one moment, never one long transaction."""
        last = ""
        while True:
            named = PRINCIPALS.c.principal > last if principal is None else PRINCIPALS.c.principal == principal
            page = sa.select(PRINCIPALS).where(PRINCIPALS.c.tenant == tenant, PRINCIPALS.c.gone == 0, named)
            with transaction(self._engine, "registry", read_only=True, tenant=tenant) as connection:
                found = connection.execute(page.order_by(PRINCIPALS.c.principal).limit(PAGE)).all()
                groups = _groups(connection, tenant, [row.principal for row in found])
            for row in found:
                yield Membership(
                    tenant=tenant,
                    principal=row.principal,
                    version=row.version,
                    member_of=frozenset(groups.get(row.principal, ())),
                    received_at=row.received_at,
                )
            if len(found) < PAGE:
                return
            last = found[-1].principal

    def forget(self, tenant: str) -> bool:
        """See `ports.Directory.forget`. Whoever says something of a principal meanwhile has changed the mark."""
        known = sa.select(PRINCIPALS.c.principal).where(*_HERE).limit(1)
        with transaction(self._engine, "registry") as connection:
            mark = connection.execute(_MARK, {"of_tenant": tenant}).scalar_one_or_none()
            if connection.execute(known, {"of_tenant": tenant}).first() is not None:
                return False
            fed = sa.delete(DIRECTORIES).where(DIRECTORIES.c.tenant == tenant, DIRECTORIES.c.mark == mark)
            return mark is None or connection.execute(fed).rowcount == 1

    def version(self, tenant: str, principal: str) -> int:
        written = sa.select(PRINCIPALS.c.version).where(
            PRINCIPALS.c.tenant == tenant, PRINCIPALS.c.principal == principal
        )
        with transaction(self._engine, "registry", read_only=True, tenant=tenant) as connection:
            found = connection.execute(written).scalar_one_or_none()
        return -1 if found is None else int(found)


def _put_principal(connection: sa.Connection, member: Membership) -> bool:
    """Write the principal's line if it is newer; who has written it holds the principal until the transaction ends."""
    said = {"version": member.version, "gone": int(member.gone), "received_at": member.received_at}
    put = insert(connection, PRINCIPALS).values(tenant=member.tenant, principal=member.principal, **said)
    newer = put.on_conflict_do_update(
        index_elements=["tenant", "principal"], set_=said, where=PRINCIPALS.c.version < member.version
    )
    return connection.execute(newer.returning(PRINCIPALS.c.version)).first() is not None


def _put_groups(connection: sa.Connection, member: Membership, wanted: frozenset[str]) -> None:
    """Write only what changed: a user in thousands of groups joins one more in one line."""
    stored = _groups(connection, member.tenant, [member.principal]).get(member.principal, set())
    of = {"tenant": member.tenant, "principal": member.principal}
    if gone := stored - wanted:
        left = sa.delete(MEMBER_OF).where(
            MEMBER_OF.c.tenant == member.tenant,
            MEMBER_OF.c.principal == member.principal,
            MEMBER_OF.c.member_of == sa.bindparam("group"),
        )
        connection.execute(left, [{"group": name} for name in sorted(gone)])
    if new := wanted - stored:
        connection.execute(sa.insert(MEMBER_OF), [of | {"member_of": name} for name in sorted(new)])


def _groups(connection: sa.Connection, tenant: str, principals: list[str]) -> dict[str, set[str]]:
    """The groups that each of these (at most PAGE) is directly in."""
    found: dict[str, set[str]] = {}
    direct = sa.select(MEMBER_OF.c.principal, MEMBER_OF.c.member_of).where(
        MEMBER_OF.c.tenant == tenant, MEMBER_OF.c.principal.in_(principals)
    )
    for row in connection.execute(direct):
        found.setdefault(row.principal, set()).add(row.member_of)
    return found


def _names(connection: sa.Connection, statement: sa.Select[str], tenant: str, names: Iterable[str]) -> set[str]:
    """What a statement over names finds, however many they are."""
    asked = sorted(names)
    found: set[str] = set()
    for start in range(0, len(asked), PAGE):
        some = {"of_tenant": tenant, "names": asked[start : start + PAGE]}
        found.update(name for (name,) in connection.execute(statement, some))
    return found
