"""What a source may have fetched, and settings that could never work."""

import pytest
from pydantic import SecretStr

from upwell.config import AclSettings, SourceSettings
from upwell.errors import Misconfigured
from upwell.records import Acl
from upwell.sources.terms import check, terms_of, within

SECRET = SecretStr("s")


@pytest.mark.parametrize(
    "uri", ["s3://b/docs/a.md", "s3://b/docs/x/..y/a b.md", "s3://b/docs/a..b", "s3://b/docs/...", "s3://b/docs"]
)
def test_below_a_root(uri):
    assert within(uri, ("s3://b/docs",))


@pytest.mark.parametrize(
    "uri",
    [
        "s3://b/docs2/a.md",
        "s3://bb/docs/a.md",
        "s3://b/docs/../a.md",
        "s3://b/docs/./a.md",
        "s3://b/docs/..",
        "s3://b/docs/%2e%2e/a.md",
        "s3://b/docs/%252e%252E/a.md",
        "s3://b/docs/..%5ca.md",
        "s3://b/docs/..\\a.md",
        "s3://b/docs/a?versionId=1",
        "s3://b/docs/a\0",
        "file:///etc/passwd",
        "/etc/passwd",
        "S3://b/docs/a.md",
        "simplecache::s3://b/docs/a.md",
        "",
    ],
)
def test_outside_every_root(uri):
    assert not within(uri, ("s3://b/docs/",))
    assert not within(uri, ())


def test_another_tenants_settings_say_nothing():
    settings = SourceSettings(
        tenant="acme", acl=AclSettings(levels=(frozenset({"everyone"}),)), connector="s3", roots=("s3://b/",)
    )
    assert terms_of("x", settings, "acme").roots == ("s3://b/",)
    found = terms_of("x", settings, "default")
    assert (found.tenant, found.acl, found.roots, found.connector) == ("default", Acl(), (), None)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (SourceSettings(hook="hmac"), "secret"),
        (SourceSettings(hook="hmac", secret=SecretStr("")), "secret"),
        (SourceSettings(connector="file", roots=("file:///srv/",)), "connector"),
        (SourceSettings(acl=AclSettings(levels=(frozenset({"staff"}),))), "acl"),
        (SourceSettings(acl=AclSettings(levels=(frozenset({"everyone"}),), deny=frozenset({"group:"}))), "acl"),
        (SourceSettings(roots=("s3://b/",)), "connector"),
        (SourceSettings(connector="s3", roots=("/srv",)), "roots"),
        (SourceSettings(connector="s3", roots=("s3://",)), "roots"),
        (SourceSettings(connector="s3", roots=("s3://b/../c",)), "roots"),
        (SourceSettings(hook="s3", secret=SECRET), "roots"),
        (SourceSettings(hook="s3", secret=SECRET, connector="s3", roots=("s3://a/", "s3://b/")), "roots"),
    ],
)
def test_settings_that_could_never_work_are_named(settings, named):
    with pytest.raises(Misconfigured, match=rf"sources\.x\.{named}"):
        check("x", settings)


def test_settings_that_work():
    check("x", SourceSettings(acl=AclSettings(levels=(frozenset({"everyone"}),))))
    check("x", SourceSettings(hook="s3", secret=SECRET, connector="s3", roots=("s3://b/a/", "s3://b/c/")))
