"""A document's first publication as one statement, for PostgreSQL: a server is asked once instead of ten times.

Row, glance, links, manifests, chunks, history and outbox are written together or not at all, as in a transaction. Lines
of which there may be many go as one JSON text, which costs less than a parameter a value.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from upwell.database import storable
from upwell.lake import rows as encoded
from upwell.lake import statements as sql
from upwell.lake.outbox import outbox_values
from upwell.lake.schema import APPLIED, BROWSING, CHUNKS, DOCUMENTS, LINKS, MANIFESTS, OUTBOX
from upwell.ports import AppliedEntry, Manifest

Values = Mapping[str, object]


def fits(manifests: Mapping[str, Manifest]) -> bool:
    """True if these look like a document's first manifests. Where others are, `write` violates a constraint."""
    return bool(manifests) and all(manifest.generation == 1 for manifest in manifests.values())


def write(
    connection: sa.Connection,
    document: Values,
    expected_rev: int,
    *,
    glance: Values,
    targets: Iterable[str],
    manifests: Mapping[str, Manifest],
    entry: AppliedEntry,
) -> bool:
    """Write it all; False, and nothing written, if the stored rev is not `expected_rev`. Raises IntegrityError for a
    row, a manifest or a chunk that is there already."""
    doc = str(document["doc"])
    chunks = [
        encoded.chunk_values(doc, pipeline, line)
        for pipeline, manifest in manifests.items()
        for line in manifest.entries
    ]
    generations = [{"doc": doc, "pipeline": name, "generation": known.generation} for name, known in manifests.items()]
    values = {
        **_named(DOCUMENTS, document),
        **_named(BROWSING, glance),
        **_named(APPLIED, encoded.applied_values(entry)),
        **_named(OUTBOX, outbox_values(entry)),
        **_lines(LINKS, [{"doc": doc, "target": target} for target in sorted(targets)]),
        **_lines(MANIFESTS, generations),
        **_lines(CHUNKS, chunks),
        "of": doc,
        "expected": expected_rev,
    }
    return bool(connection.execute(_INSERT if expected_rev == 0 else _UPDATE, values).scalar_one())


def _named(table: sa.Table, values: Values) -> dict[str, object]:
    return {f"{table.name}_{name}": value for name, value in values.items()}


def _lines(table: sa.Table, lines: list[dict[str, object]]) -> dict[str, object]:
    for line in lines:
        for name, value in line.items():
            if isinstance(value, str):
                line[name] = storable(value)
    return {table.name: encoded.json_of(lines)}


def _bound(table: sa.Table) -> dict[str, sa.BindParameter[Any]]:
    return {
        c.name: sa.bindparam(f"{table.name}_{c.name}", type_=c.type)
        for c in table.columns
        if c.autoincrement is not True
    }


def _told(table: sa.Table) -> sa.TableValuedAlias:
    """The lines of a table that come as JSON."""
    text = sa.cast(sa.bindparam(table.name, type_=sa.String()), postgresql.JSON)
    columns = [sa.column(c.name, c.type) for c in table.columns]
    return sa.func.json_to_recordset(text).table_valued(*columns).render_derived(f"told_{table.name}", with_types=True)


def _inserted(table: sa.Table, seen: sa.CTE) -> postgresql.Insert:
    told = _told(table)
    return postgresql.insert(table).from_select(
        table.columns.keys(), sa.select(*told.c).select_from(seen.join(told, sa.true()))
    )


def _statement(put: sa.Insert | sa.Update) -> sa.Select[Any]:
    """`put` writes the row, if it is still the one that was read; the rest is written if it is."""
    seen = put.returning(DOCUMENTS.c.doc).cte("seen")
    noted = postgresql.insert(BROWSING).from_select(
        BROWSING.columns.keys(), sa.select(*_bound(BROWSING).values()).select_from(seen)
    )
    called = _told(LINKS)
    uncalled = sa.delete(LINKS).where(LINKS.c.doc == seen.c.doc, ~LINKS.c.target.in_(sa.select(called.c.target)))
    applied = _bound(APPLIED)
    known = sa.exists().where(
        APPLIED.c.doc == applied["doc"],
        APPLIED.c.event_id == applied["event_id"],
        APPLIED.c.outcome == applied["outcome"],
    )
    ended = (
        sa.insert(APPLIED)
        .from_select(list(applied), sa.select(*applied.values()).select_from(seen).where(~known))
        .returning(APPLIED.c.seq)
        .cte("ended")
    )
    owed = _bound(OUTBOX)
    parts = [
        ended,
        sql.overwriting(noted).cte("noted"),
        uncalled.cte("uncalled"),
        _inserted(LINKS, seen).on_conflict_do_nothing().cte("called"),
        _inserted(MANIFESTS, seen).cte("counted"),
        _inserted(CHUNKS, seen).cte("held"),
        sa.insert(OUTBOX).from_select(list(owed), sa.select(*owed.values()).select_from(ended)).cte("owed"),
    ]
    return sa.select(sa.func.count()).select_from(seen).add_cte(*parts)


_INSERT = _statement(sa.insert(DOCUMENTS).values(_bound(DOCUMENTS)))
_UPDATE = _statement(sql.UPDATE_ROW.values(_bound(DOCUMENTS)))
