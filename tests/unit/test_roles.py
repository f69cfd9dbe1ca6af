"""k8s/roles: the readers' role may select what answers come from, and nothing that has no business there."""

import re

import pytest

from deployment import ROOT
from upwell.audit import schema as audit
from upwell.lake import schema as registry
from upwell.runtime import eventlog_tables as ledger

BEFORE, AFTER = ((ROOT / f"k8s/roles/{name}-init.sql").read_text() for name in ("before", "after"))
STATEMENTS = [" ".join(one.split()) for one in re.sub("--.*", "", AFTER).split(";") if one.strip()]
HIDDEN = {"outbox", "dead_letters", "replays", "audit_checkpoints"}
IN_PART = {"events", "audit", "audit_seals"}


def granted():
    """table -> the columns that readers may select; None: all."""
    found = {}
    for statement in STATEMENTS:
        match = re.fullmatch(r"GRANT (?:INSERT, )?SELECT(?: \((.*)\))? ON (.*) TO lake_readers", statement)
        if match:
            columns = match[1] and set(match[1].split(", "))
            found |= dict.fromkeys(match[2].split(", "), columns)
    return found


def tables():
    """Every table of a distributed lake's database, by name."""
    return {**registry.METADATA.tables, **ledger.METADATA.tables, **audit.METADATA.tables}


def test_every_table_is_granted_in_whole_or_in_part_or_hidden_on_purpose():
    """A table that is new must be here."""
    found = granted()
    assert set(found) | HIDDEN == set(tables())
    assert not set(found) & HIDDEN
    assert {name for name, columns in found.items() if columns is not None} == IN_PART


@pytest.mark.parametrize("name", sorted(IN_PART))
def test_columns_that_are_granted_exist_and_hold_no_words(name):
    columns = granted()[name]
    assert columns <= {column.name for column in tables()[name].columns}
    assert not columns & {"body", "raw", "detail", "signature", "doc_id"}


def test_readers_write_the_audit_and_nothing_else():
    inserts = [statement for statement in STATEMENTS if "INSERT" in statement]
    assert [one.split(" ON ")[1] for one in inserts] == ["audit TO lake_readers", "audit_seals TO lake_readers"]
    assert not [one for one in STATEMENTS if re.search(r"GRANT.*(UPDATE|DELETE|TRUNCATE|ALL)", one)]


def test_the_workers_cannot_change_the_audit_and_the_readers_sessions_are_confined():
    assert STATEMENTS[0] == "REVOKE UPDATE, DELETE ON audit, audit_seals, audit_checkpoints FROM lake_workers"
    assert "ALTER ROLE lake_readers SET upwell.reading = 'on';" in BEFORE
    assert "SUPERUSER" not in BEFORE.upper().replace("MAY BE A SUPERUSER", "")
