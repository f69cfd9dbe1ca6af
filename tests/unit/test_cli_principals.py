"""Names on the command line become principals, and a typing error never becomes one."""

import pytest

from upwell.cli.principals import login, owner_of, principal, reader_of
from upwell.errors import Misconfigured


@pytest.mark.parametrize(
    ("given", "bare", "wanted"),
    [
        ("ana", "user", "user:ana"),
        ("user:ana", "user", "user:ana"),
        ("eng", "group", "group:eng"),
        ("role:admin", "group", "role:admin"),
        ("domain:example.org", "user", "domain:example.org"),
        ("everyone", "user", "everyone"),
        (" ana\n", "user", "user:ana"),
        ("Jose\u0301", "user", "user:Jos\u00e9"),
    ],
)
def test_a_name_becomes_a_principal(given, bare, wanted):
    assert principal(given, bare=bare, option="--as") == wanted


@pytest.mark.parametrize("given", ["", "  ", "user:", "usr:ana", "a:b:c", "user:a\x1b"])
def test_what_is_no_principal_is_refused_with_the_option_named(given):
    with pytest.raises(Misconfigured, match="--as"):
        principal(given, bare="user", option="--as")


def test_a_reader_is_everyone_and_has_its_groups():
    assert reader_of("ana", ["eng", "group:hr"]) == {"user:ana", "group:eng", "group:hr", "everyone"}


def test_owner_and_reader_default_to_the_same_login_name():
    assert login().startswith("user:")
    assert owner_of(None) == login()
    assert login() in reader_of(None, None)
