"""The algebra of permissions: inheritance only narrows, deny is over all, and every form of an ACL says the same."""

from hypothesis import given
from hypothesis import strategies as st

from upwell.access import EVERYONE, NOBODY, admits, both, payload_of, reader
from upwell.records import Acl

NAMES = ("user:ana", "user:ben", "group:eng", "group:hr", "role:admin", "domain:example.org")
names = st.frozensets(st.sampled_from((*NAMES, EVERYONE)), max_size=4)
some_names = st.frozensets(st.sampled_from(NAMES), max_size=4)
acls = st.builds(
    lambda levels, deny: Acl(levels=tuple(levels), deny=deny),
    st.lists(names, max_size=6),
    st.one_of(st.just(frozenset()), some_names),
)
readers = some_names.map(lambda who: reader(*who))


def inherited(parent, level, deny):
    """A child under a parent: one more level (None: none of its own), and more who are denied."""
    return Acl(levels=parent.levels if level is None else (*parent.levels, level), deny=parent.deny | deny)


def payload_admits(payload, who):
    """The store's filter, in Python (see `lake.store.filters.readable`)."""
    level = [set(payload[f"allow_{i}"]) for i in range(3)]
    second = payload["acl_n"] == 1 or bool(level[1] & who)
    third = payload["acl_n"] in {1, 2} or bool(level[2] & who)
    return bool(level[0] & who) and second and third and not set(payload["deny"]) & who


@given(acls, st.one_of(st.none(), names), some_names, readers)
def test_a_child_never_widens_its_parent(parent, level, deny, who):
    """Whoever may read a child may read its parent; under a parent that admits nobody a level of its own decides alone,
    which is why a source says of such a parent that it has one level that is empty."""
    child = inherited(parent, level, deny)
    if parent.levels:
        assert admits(parent, who) or not admits(child, who)
    closed = inherited(Acl(levels=(frozenset(),)), level, deny)
    assert not admits(closed, who)


@given(
    st.lists(st.tuples(st.one_of(st.none(), names), some_names), max_size=6), acls.filter(lambda a: a.levels), readers
)
def test_a_line_of_descent_only_narrows(generations, root, who):
    """However deep: who falls out at one level is never let in again below it."""
    line = [root]
    for level, deny in generations:
        line.append(inherited(line[-1], level, deny))
    verdicts = [admits(acl, who) for acl in line]
    assert verdicts == sorted(verdicts, reverse=True)


@given(acls, readers, st.sampled_from(NAMES))
def test_deny_is_over_all(acl, who, name):
    """A denied principal is not admitted by any level, nor by everyone; who is not denied loses nothing by it."""
    denied = Acl(levels=acl.levels, deny=acl.deny | {name})
    assert not admits(denied, who | {name})
    if name not in who:
        assert admits(denied, who) == admits(acl, who)


@given(acls, readers, st.frozensets(st.sampled_from(NAMES)))
def test_more_groups_widen_only_where_nobody_is_denied(acl, who, more):
    """A membership adds what levels admit, and takes what deny names."""
    if admits(acl, who):
        assert admits(acl, who | more) == (not acl.deny & more)
    if not acl.deny & (who | more):
        assert admits(acl, who | more) or not admits(acl, who)


@given(st.lists(acls, max_size=4), readers)
def test_both_admits_whom_each_admits(found, who):
    """Of none: nobody. Order and repetition do not matter."""
    expected = bool(found) and all(admits(acl, who) for acl in found)
    assert admits(both(found), who) == expected
    assert admits(both([*reversed(found), *found]), who) == expected


@given(acls, readers)
def test_no_level_admits_nobody(acl, who):
    """Nor does a level that is empty, wherever it stands."""
    assert not admits(NOBODY, who)
    assert not admits(Acl(deny=acl.deny), who)
    for at in range(len(acl.levels) + 1):
        assert not admits(Acl(levels=(*acl.levels[:at], frozenset(), *acl.levels[at:])), who)


@given(acls, readers)
def test_the_order_of_levels_does_not_matter(acl, who):
    """Each has its say, in any place."""
    assert admits(Acl(levels=tuple(reversed(acl.levels)), deny=acl.deny), who) == admits(acl, who)


@given(acls, readers)
def test_the_stored_form_loses_nobody_a_right(acl, who):
    """It admits whom the ACL admits, and of up to three levels nobody else; nobody without principals."""
    stored = payload_of(acl)
    if admits(acl, who):
        assert payload_admits(stored, who)
    if len(acl.levels) <= 3:
        assert payload_admits(stored, who) == admits(acl, who)
    assert not payload_admits(stored, frozenset())


@given(acls, readers)
def test_a_filter_of_those_who_are_named_admits_as_the_whole_reader(acl, who):
    """What a permission names is all of a reader that it can meet."""
    named = who & acl.deny.union(*acl.levels)
    assert admits(acl, named) == admits(acl, who)
    assert payload_admits(payload_of(acl), named) == payload_admits(payload_of(acl), who)
