"""Audits for tests: sample acts, a key, what verifying finds, and a forger who has the database in hand."""

from contextlib import closing, contextmanager
from types import SimpleNamespace

import sqlalchemy as sa
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from upwell.audit.log import SqlAudit
from upwell.audit.read import AuditTables
from upwell.audit.verify import verify
from upwell.database import open_database
from upwell.ports import Act, AuditEntry
from upwell.records import DocKey

GUARDED = ("audit", "audit_seals", "audit_checkpoints")


class Key:
    """An Ed25519 key that signs and verifies; another key is unknown to it."""

    def __init__(self, kid="k1"):
        self.kid = kid
        self._private = Ed25519PrivateKey.generate()

    def sign(self, data):
        return self._private.sign(data)

    def verify(self, kid, data, signature):
        """As `audit.chain.Verifier`."""
        if kid != self.kid:
            return None
        try:
            self._private.public_key().verify(signature, data)
        except InvalidSignature:
            return False
        return True


def searched(number=0, **changes):
    """A search that showed two hits."""
    fields = {
        "act": Act.SEARCH,
        "at": 1_700_000_000_000_000 + number,
        "tenant": "default",
        "actor": "user:ana",
        "via": "http",
        "principals": ("everyone", "user:ana"),
        "query": f"{number:032x}",
        "hits": ("docs/a.md#1", "docs/b.md#2"),
        "refused": number % 3,
    }
    return AuditEntry(**{**fields, **changes})


def published(number=0, **changes):
    """A publish of document `number`."""
    key = DocKey(tenant="default", source="docs", doc_id=f"{number}.md")
    entry = AuditEntry(
        act=Act.PUBLISH,
        at=1_700_000_000_000_000 + number,
        tenant="default",
        actor="source:docs",
        document=key,
        version=1,
    )
    return AuditEntry(**{**{field: getattr(entry, field) for field in entry.__struct_fields__}, **changes})


def written(where, count, *, signer=None):
    """Write `count` searches as one process that stops in order; the writer's name."""
    audit = SqlAudit.at(where, signer=lambda: signer)
    audit.write_once([(searched(n), f"{audit.writer}-{n}") for n in range(count)])
    audit.close()
    return audit.writer


def reports(where, key=None, *, all_signed=False):
    """What verifying says of each chain."""
    with closing(AuditTables(open_database(where))) as tables:
        return list(verify(tables, key.verify if key else None, all_signed=all_signed))


def bad(where, key=None, *, all_signed=False):
    """The first bad place of each chain that has one."""
    return [report.bad for report in reports(where, key, all_signed=all_signed) if report.bad]


def entries(where):
    """The acts of all chains, by time."""
    with closing(AuditTables(open_database(where))) as tables:
        return [stored.body.decode() for stored in tables.by_time() if b'"act"' in stored.body]


@contextmanager
def forging(where):
    """A connection of somebody who owns the database and has taken its triggers away."""
    engine = open_database(where)
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
            for name in names:
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        else:
            for table in GUARDED:
                connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield SimpleNamespace(run=lambda text, **values: connection.execute(sa.text(text), values))
    engine.dispose()
