"""The oracle can lose patience: each promise of the read side that is taken away is found out, and as what it is."""

import pytest
from oracle_library import search_library

from upwell.access import EVERYONE, Acl, Standing
from upwell.lake import directory
from upwell.ports import DocumentRow
from upwell.search import govern

SEARCHES = 5000
"""A quarter of what a run of the oracle has."""


def found(kind):
    """Whether a run finds this kind of fault."""
    return search_library(11, 0, 1, SEARCHES, until=lambda tally: tally.kind(kind)).kind(kind) > 0


def test_nothing_is_wrong_with_the_lake_as_it_is():
    assert search_library(11, 0, 1, 400).faults == []


def test_no_re_check_leaks(monkeypatch):
    monkeypatch.setattr(govern.Reading, "allows", lambda _self, _row, _moment: True)
    assert found("leak")


def test_a_re_check_without_deny_leaks(monkeypatch):
    """The store's own filter has it, but a permission or a membership that comes in a search's midst has not."""
    whole = govern.admits
    monkeypatch.setattr(govern, "admits", lambda acl, who: whole(Acl(levels=acl.levels), who))
    assert found("leak")


def test_a_re_check_of_the_last_level_alone_leaks(monkeypatch):
    whole = govern.admits
    monkeypatch.setattr(govern, "admits", lambda acl, who: whole(Acl(levels=acl.levels[-1:], deny=acl.deny), who))
    assert found("leak")


def test_memberships_of_before_the_search_leak(monkeypatch):
    """A re-check that goes by who the asker was when the search began, not by its own snapshot."""
    search = govern.governed_search

    class Earlier:
        def __init__(self, registry):
            self._registry, self._first = registry, None

        def standing(self, asker):
            self._first = self._registry.standing(asker)
            return self._first

        def snapshot(self, *given, **named):
            return govern.Snapshot(
                **{
                    name: self._first if name == "standing" else getattr(found, name)
                    for found in [self._registry.snapshot(*given, **named)]
                    for name in found.__struct_fields__
                }
            )

        def __getattr__(self, name):
            return getattr(self._registry, name)

    def earlier(*given, registry, **named):
        return search(*given, registry=Earlier(registry), **named)

    monkeypatch.setattr("upwell.search.answer.governed_search", earlier)
    assert found("leak")


def test_a_token_believed_where_a_directory_is_fed_leaks(monkeypatch):
    known = directory._standing

    def gullible(connection, asker):
        found = known(connection, asker)
        return found if found.reason else Standing(principals=found.principals | asker.claimed)

    monkeypatch.setattr(directory, "_standing", gullible)
    assert found("leak")


def test_an_unknown_user_who_is_still_everyone_leaks(monkeypatch):
    known = directory._standing

    def polite(connection, asker):
        found = known(connection, asker)
        return Standing(principals=frozenset({EVERYONE})) if found.reason else found

    monkeypatch.setattr(directory, "_standing", polite)
    assert found("leak")


def test_a_token_unbelieved_where_no_directory_is_fed_loses_rights(monkeypatch):
    monkeypatch.setattr(directory, "_believed", lambda asker: Standing(principals=asker.principals | {EVERYONE}))
    assert found("part")


@pytest.mark.parametrize(("late", "kind"), [(1, "leak"), (-1, "part")])
def test_an_unknown_permission_that_holds_a_microsecond_too_long_or_too_short_is_found(monkeypatch, late, kind):
    whole = DocumentRow.acl_expired

    def expired(row, at, max_age_us):
        return whole(row, at - late, max_age_us)

    monkeypatch.setattr(DocumentRow, "acl_expired", expired)
    assert found(kind)


def test_a_pending_permission_that_does_not_narrow_leaks(monkeypatch):
    monkeypatch.setattr(DocumentRow, "effective_acl", property(lambda row: row.acl))
    assert found("leak")


def test_one_hit_that_is_dropped_is_a_lost_right(monkeypatch):
    search = govern.governed_search

    def dropping(*given, **named):
        whole = search(*given, **named)
        return govern.Governed(admitted=whole.admitted[1:], as_of=whole.as_of, standing=whole.standing)

    monkeypatch.setattr("upwell.search.answer.governed_search", dropping)
    assert found("part")


def test_a_group_in_a_group_that_is_not_followed_loses_rights(monkeypatch):
    names = directory._names

    def shallow(connection, statement, tenant, asked):
        if statement is directory._KNOWN:
            return names(connection, statement, tenant, asked)
        return {g for name in asked for g in directory._groups(connection, tenant, [name]).get(name, ())}

    monkeypatch.setattr(directory, "_names", shallow)
    assert found("part")
