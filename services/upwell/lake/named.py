"""Which principals the permissions of a tenant name at all, so that a reader in thousands of groups asks a store for
those few that could matter.

Kept as hashes, and only ever added to: a name too many costs a search a little, a name too few would cost it hits.
"""

import hashlib
import threading
from collections.abc import Iterable

import sqlalchemy as sa

from upwell.database import insert
from upwell.lake.schema import ACL_NAMES
from upwell.records import Acl

PORTION = 500
MOST_REMEMBERED = 100_000
"""How many names a process remembers to have written."""

_AMONG = sa.select(ACL_NAMES.c.name).where(
    ACL_NAMES.c.tenant == sa.bindparam("of_tenant", type_=ACL_NAMES.c.tenant.type),
    ACL_NAMES.c.name.in_(sa.bindparam("names", expanding=True, type_=ACL_NAMES.c.name.type)),
)

Names = frozenset[tuple[str, str]]


class AclNames:
    """The names in one database. A process remembers what it has written, and writes it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._written: set[tuple[str, str]] = set()

    def note(self, connection: sa.Connection, tenant: str, acl: Acl) -> Names:
        """Write the names that may be new; they are `remember`ed once the transaction is committed."""
        names = frozenset((tenant, hashed(name)) for name in acl.deny.union(*acl.levels))
        with self._lock:
            new = names - self._written
        if new:
            # In one order, so that two writers wait for each other and never both.
            lines = [{"tenant": tenant, "name": name} for tenant, name in sorted(new)]
            connection.execute(insert(connection, ACL_NAMES).on_conflict_do_nothing(), lines)
        return new

    def remember(self, names: Names) -> None:
        with self._lock:
            if len(self._written) + len(names) > MOST_REMEMBERED:
                self._written.clear()
            self._written |= names


def named_among(connection: sa.Connection, tenant: str, principals: Iterable[str]) -> frozenset[str]:
    """Those of the principals that a permission of the tenant names or has named."""
    by_hash = {hashed(principal): principal for principal in principals}
    asked = sorted(by_hash)
    found: set[str] = set()
    for start in range(0, len(asked), PORTION):
        some = {"of_tenant": tenant, "names": asked[start : start + PORTION]}
        found.update(by_hash[name] for name in connection.execute(_AMONG, some).scalars())
    return frozenset(found)


def hashed(principal: str) -> str:
    """A principal's hash, 16 hex digits: two that share one are only asked for together."""
    return hashlib.blake2b(principal.encode(errors="surrogatepass"), digest_size=8).hexdigest()
