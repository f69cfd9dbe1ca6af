"""When an access file binds: narrowing at once, widening once it has rested."""

from upwell.sources.folder.access import HIDDEN, NO_RULES, Rules
from upwell.sources.folder.listing import REST_US
from upwell.sources.folder.settle import LONGEST_TRAIL, Said, rests_at, settled

STAFF = Rules(allow=frozenset({"group:staff"}))
PUBLIC = Rules(allow=frozenset({"everyone"}))
NOW = 1_700_000_000_000_000


def said(rules: Rules, written_us: int, size: int = 10) -> Said:
    return Said(rules=rules, observed_at=written_us, signature=(size, written_us * 1000, 7))


def test_a_file_that_has_rested_binds_alone():
    state = settled("", None, said(STAFF, NOW - REST_US), NOW)
    assert state is not None
    assert state.trail == (STAFF,)
    assert rests_at({"": state}) is None


def test_a_new_file_that_has_not_rested_binds_with_what_was_before():
    state = settled("", None, said(PUBLIC, NOW - 1), NOW)
    assert state is not None
    assert state.trail == (NO_RULES, PUBLIC)
    assert rests_at({"": state}) == NOW - 1 + REST_US
    later = settled("", state, said(PUBLIC, NOW - 1), NOW - 1 + REST_US)
    assert later is not None
    assert later.trail == (PUBLIC,)


def test_everything_said_since_the_last_rest_binds():
    first = settled("", None, said(PUBLIC, NOW - REST_US), NOW)
    second = settled("", first, said(STAFF, NOW + 1), NOW + 2)
    third = settled("", second, said(PUBLIC, NOW + 3), NOW + 4)
    assert third is not None
    assert third.trail == (STAFF, PUBLIC)


def test_a_long_trail_hides():
    state = None
    for at in range(LONGEST_TRAIL):
        state = settled("", state, said(Rules(allow=frozenset({f"user:{at}"})), NOW + at), NOW + at)
    assert state is not None
    assert state.trail == (HIDDEN, Rules(allow=frozenset({f"user:{LONGEST_TRAIL - 1}"})))


def test_a_removed_file_binds_until_its_absence_has_rested():
    state = settled("a", None, said(STAFF, NOW - REST_US), NOW)
    removed = settled("a", state, Said(), NOW + 1)
    assert removed is not None
    assert removed.trail == (STAFF, NO_RULES)
    assert rests_at({"a": removed}) == NOW + 1 + REST_US
    assert settled("a", removed, Said(), NOW + 1 + REST_US) is None


def test_a_file_from_the_future_rests_from_when_it_was_noticed():
    ahead = said(PUBLIC, NOW + 10**15)
    state = settled("", None, ahead, NOW)
    assert rests_at({"": state}) == NOW + REST_US if state else False
    later = settled("", state, ahead, NOW + REST_US)
    assert later is not None
    assert later.trail == (PUBLIC,)


def test_nothing_changes_while_a_file_stands():
    state = settled("", None, said(STAFF, NOW - REST_US), NOW)
    assert settled("", state, said(STAFF, NOW - REST_US), NOW + 5) == state
    assert settled("", None, Said(), NOW) is None


def test_a_hidden_folder_opens_again_when_its_file_can_be_read():
    hidden = settled("", None, Said(rules=HIDDEN, error="cannot be read"), NOW)
    assert hidden is not None
    assert hidden.trail == (NO_RULES, HIDDEN)
    opened = settled("", hidden, said(STAFF, NOW - REST_US), NOW + 1)
    assert opened is not None
    assert opened.trail == (STAFF,)
