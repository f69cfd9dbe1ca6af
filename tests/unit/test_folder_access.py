"""Access files: what they may say, and which ACL a document gets from those above it."""

import pytest

from upwell.access import admits, reader
from upwell.records import Acl
from upwell.sources.folder.access import (
    HIDDEN,
    NO_RULES,
    FileRule,
    NotUnderstoodError,
    Rules,
    acl_of,
    parse_access,
    same_effect,
)

OWNER = "user:ana"


def group(*names: str) -> frozenset[str]:
    return frozenset(f"group:{name}" for name in names)


def level(*names: str) -> frozenset[str]:
    return group(*names) | {OWNER}


def test_the_documented_example_is_understood():
    text = b"""
allow: [group:staff, user:ana]     # one level
deny:  [group:contractors]
inherit: true
files: {"salaries*.xlsx": {allow: [group:hr]}}
"""
    assert parse_access(text) == Rules(
        allow=frozenset({"group:staff", "user:ana"}),
        deny=group("contractors"),
        files=(FileRule(pattern="salaries*.xlsx", allow=group("hr")),),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "empty"),
        (b"# nothing yet\n", "empty"),
        (b"allow:\n", "allow is not a list"),
        (b"allow: group:staff\n", "allow is not a list"),
        (b"allow: [staff]\n", "is not user:"),
        (b"allow: ['group:']\n", "is not user:"),
        (b"allow: ['group: staff']\n", "is not user:"),
        (b"allow: ['team:staff']\n", "is not user:"),
        (b"allow: [[group:staff]]\n", "is not user:"),
        (b"allow: [1]\n", "is not user:"),
        (b"allow: [group:a]\nallow: [group:b]\n", "given twice"),
        (b"allow: [group:a]\nalow: [group:b]\n", "unknown key: 'alow'"),
        (b"inherit: 'false'\n", "inherit"),
        (b"inherit:\n", "inherit"),
        (b"deny: everyone\n", "deny is not a list"),
        (b"files: [a]\n", "files is not a mapping"),
        (b"files: {'a/b.md': {allow: [group:a]}}\n", "pattern of file names"),
        (b"files: {'': {allow: [group:a]}}\n", "pattern of file names"),
        (b"files: {'*.md': {}}\n", "says nothing"),
        (b"files: {'*.md': {inherit: false}}\n", "unknown key: 'inherit'"),
        (b"files: {'*.md': [group:a]}\n", "not a mapping"),
        (b"files: {1: {allow: [group:a]}}\n", "not a mapping of names"),
        (b"[allow]\n", "not a mapping"),
        (b"allow: [group:staff\n", "not YAML"),
        (b"allow: [user:jos\xe9]", "not YAML"),
        (b"allow: !!python/object/apply:os.system ['true']\n", "not YAML"),
        (b"[" * 30_000, "not YAML"),
        (b"#" * 70_000, "larger than"),
        (b"allow: [group:a]\n---\nallow: [group:b]\n", "not YAML"),
    ],
)
def test_anything_else_is_not_understood(text, why):
    with pytest.raises(NotUnderstoodError, match=why):
        parse_access(text)


def test_a_file_that_says_nothing_in_so_many_words_adds_nothing():
    assert parse_access(b"{}") == NO_RULES
    assert parse_access(b"files: {}") == NO_RULES


def test_principals_and_patterns_are_compared_in_nfc():
    rules = parse_access("allow: ['user:jose\u0301']\nfiles: {'re\u0301*.md': {deny: [everyone]}}".encode())
    assert rules.allow == {"user:jos\u00e9"}
    assert rules.denied("r\u00e9sum\u00e9.md") == {"everyone"}


def test_each_folder_adds_a_level_and_the_owner_is_in_each():
    trails = {"": (Rules(allow=group("staff")),), "hr": (Rules(allow=group("hr")),)}
    assert acl_of("hr/a.md", trails, OWNER) == Acl(levels=(level("staff"), level("hr")))
    assert acl_of("a.md", trails, OWNER) == Acl(levels=(level("staff"),))


def test_without_any_level_the_owner_is_alone():
    assert acl_of("a/b.md", {}, OWNER) == Acl(levels=(frozenset({OWNER}),))
    denied = {"": (Rules(deny=group("x")),)}
    assert acl_of("b.md", denied, OWNER) == Acl(levels=(frozenset({OWNER}),), deny=group("x"))


def test_an_empty_allow_leaves_the_owner_alone():
    trails = {"": (Rules(allow=frozenset({"everyone"})),), "a": (Rules(allow=frozenset()),)}
    acl = acl_of("a/b.md", trails, OWNER)
    assert admits(acl, reader(OWNER))
    assert not admits(acl, reader("user:bob"))


def test_inherit_false_starts_afresh():
    trails = {
        "": (Rules(allow=group("staff"), deny=group("contractors")),),
        "open": (Rules(allow=frozenset({"everyone"}), inherit=False),),
    }
    assert acl_of("open/a.md", trails, OWNER) == Acl(levels=(frozenset({"everyone", OWNER}),))


def test_inherit_false_without_allow_leaves_the_owner_alone():
    trails = {"": (Rules(allow=group("staff")),), "a": (Rules(inherit=False),)}
    assert acl_of("a/b.md", trails, OWNER) == Acl(levels=(frozenset({OWNER}),))


def test_a_pattern_adds_one_more_level_for_names_here_and_below():
    rule = FileRule(pattern="salaries*.xlsx", allow=group("hr"), deny=group("interns"))
    trails = {"": (Rules(allow=group("staff"), files=(rule,)),)}
    narrowed = Acl(levels=(level("staff"), level("hr")), deny=group("interns"))
    assert acl_of("salaries-2024.xlsx", trails, OWNER) == narrowed
    assert acl_of("deep/down/salaries.xlsx", trails, OWNER) == narrowed
    assert acl_of("salaries.md", trails, OWNER) == Acl(levels=(level("staff"),))


def test_a_file_not_understood_hides_its_subtree_even_below_a_fresh_start():
    trails = {"a": (HIDDEN,), "a/b": (Rules(allow=frozenset({"everyone"}), inherit=False),)}
    for doc_id in ("a/x.md", "a/b/x.md"):
        assert not admits(acl_of(doc_id, trails, OWNER), reader("user:bob"))
        assert admits(acl_of(doc_id, trails, OWNER), reader(OWNER))


def test_the_owner_can_be_denied():
    assert not admits(acl_of("a.md", {"": (Rules(deny=frozenset({OWNER})),)}, OWNER), reader(OWNER))


@pytest.mark.parametrize("who", ["user:ana", "user:bob", "group:staff", "group:hr", "everyone"])
@pytest.mark.parametrize("above", [NO_RULES, Rules(allow=group("staff")), HIDDEN, Rules(deny=group("hr"))])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NO_RULES, Rules(allow=group("staff"))),
        (NO_RULES, Rules(allow=frozenset({"everyone"}), inherit=False)),
        (Rules(allow=group("staff")), HIDDEN),
        (Rules(allow=group("staff")), Rules(allow=group("hr", "staff"))),
        (Rules(allow=group("hr"), inherit=False), Rules(inherit=True, deny=group("staff"))),
        (Rules(inherit=False), Rules(allow=frozenset({"everyone"}))),
    ],
)
def test_a_trail_admits_exactly_whom_each_reading_admits(first, second, above, who):
    def admitted(*trail: Rules) -> bool:
        return admits(acl_of("f/x.md", {"": (above,), "f": trail}, OWNER), reader(who))

    assert admitted(first, second) == (admitted(first) and admitted(second))
    assert admitted(second, first) == admitted(first, second)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([{"a"}, {"b"}], [{"b"}, {"a"}], True),
        ([{"a"}, {"a", "b"}], [{"a"}], True),
        ([{"a"}, {"b", "everyone"}], [{"a"}], True),
        ([{"a", "everyone"}], [{"b", "everyone"}], True),
        ([{"a"}], [{"a", "b"}], False),
        ([{"everyone"}], [], False),
        ([{"a"}, {"b"}], [{"a"}], False),
    ],
)
def test_levels_without_effect_make_no_difference(one, other, same):
    first, second = (Acl(levels=tuple(frozenset(each) for each in levels)) for levels in (one, other))
    assert same_effect(first, second) is same
    assert not same_effect(first, Acl(levels=first.levels, deny=frozenset({"x"})))
