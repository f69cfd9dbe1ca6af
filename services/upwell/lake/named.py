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

MOST_REMEMBERED = 500_000
"""How many names a process remembers (some 60 MB): those it has written, and those it has read."""

_HERE = ACL_NAMES.c.tenant == sa.bindparam("of_tenant", type_=ACL_NAMES.c.tenant.type)
_COUNT = sa.select(sa.func.count()).select_from(ACL_NAMES).where(_HERE)
_ALL = sa.select(ACL_NAMES.c.name).where(_HERE)

Names = frozenset[tuple[str, str]]


class AclNames:
    """The names in one database. A process remembers what it has written, and writes it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._written: set[tuple[str, str]] = set()
        self._read: dict[str, frozenset[str]] = {}

    def new(self, tenant: str, acl: Acl) -> Names:
        """The names that may be new: to be written, and once that is committed `remember`ed."""
        names = frozenset((tenant, hashed(name)) for name in acl.deny.union(*acl.levels))
        with self._lock:
            return names - self._written

    def remember(self, names: Names) -> None:
        with self._lock:
            if len(self._written) + len(names) > MOST_REMEMBERED:
                self._written.clear()
            self._written |= names

    def among(self, connection: sa.Connection, tenant: str, principals: Iterable[str]) -> frozenset[str]:
        """Those of the principals that a permission of the tenant names or has named.

        As many names as were read are the names that were read, for none is ever taken away.
        """
        count = connection.execute(_COUNT, {"of_tenant": tenant}).scalar_one()
        with self._lock:
            known = self._read.get(tenant, frozenset())
        if len(known) != count:
            known = frozenset(connection.execute(_ALL, {"of_tenant": tenant}).scalars())
            with self._lock:
                if sum(map(len, self._read.values())) + len(known) > MOST_REMEMBERED:
                    self._read.clear()
                self._read[tenant] = known
        return frozenset(name for name in principals if hashed(name) in known)


def write(connection: sa.Connection, names: Names) -> None:
    """Write the names that are not there yet."""
    if names:
        # In one order, so that two writers wait for each other and never both.
        lines = [{"tenant": tenant, "name": name} for tenant, name in sorted(names)]
        connection.execute(insert(connection, ACL_NAMES).on_conflict_do_nothing(), lines)


def hashed(principal: str) -> str:
    """A principal's hash, 16 hex digits: two that share one are only asked for together."""
    return hashlib.blake2b(principal.encode(errors="surrogatepass"), digest_size=8).hexdigest()
