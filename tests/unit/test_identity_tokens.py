"""A token becomes a reader only when everything about it is right."""

import json
from pathlib import Path

import jwt
import pytest

from signing import AUDIENCE, CLAIMS, ISSUER, NOW_S, NOW_US, jwk, key_set, private, token, without
from upwell.access import Asker
from upwell.clock import now_us
from upwell.config import IssuerSettings
from upwell.errors import KeyLookupFailed, Misconfigured, Refusal, Unauthorized
from upwell.identity.issue import Grant, issue
from upwell.identity.own_key import LakeKey
from upwell.identity.tokens import Verifier, bearer_of
from upwell.reading import Reader


class At:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.us = NOW_US

    def __call__(self) -> int:
        return self.us


@pytest.fixture
def clock() -> At:
    return At()


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_bytes(key_set(jwk("EdDSA", "one"), jwk("RS256", "rsa"), jwk("ES256", "ec")))
    return path


def verifier(keys: Path, clock: At, own: LakeKey | None = None, **settings) -> Verifier:
    issuer = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": str(keys), **settings}
    return Verifier([IssuerSettings(**issuer)], own, "upwell", clock)


def refused(verifying: Verifier, text: str) -> Refusal:
    with pytest.raises(Unauthorized) as raised:
        verifying.verify(text)
    assert str(raised.value) == "a valid bearer token is needed"
    return raised.value.reason


@pytest.mark.parametrize(("algorithm", "kid"), [("EdDSA", "one"), ("RS256", "rsa"), ("ES256", "ec")])
def test_a_good_token_is_its_bearer(keys, clock, algorithm, kid):
    caller = verifier(keys, clock).verify(
        token({**CLAIMS, "scope": "read write"}, algorithm=algorithm, kid=kid), via="mcp"
    )
    asker = Asker(tenant="default", principals=frozenset({"user:ana"}), claimed=frozenset({"group:eng"}))
    assert caller.reader == Reader(asker=asker, actor="user:ana", via="mcp")
    assert (caller.tenant, caller.subject, caller.issuer, caller.token_id) == ("default", "ana", ISSUER, "t1")
    assert caller.expires_at == (NOW_S + 600) * 1_000_000
    assert caller.scopes == ("read", "write")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"exp": NOW_S - 31}, Refusal.EXPIRED),
        ({"exp": NOW_S - 30}, Refusal.EXPIRED),
        ({"nbf": NOW_S + 31}, Refusal.NOT_YET_VALID),
        ({"iat": NOW_S + 31}, Refusal.NOT_YET_VALID),
        ({"aud": "another"}, Refusal.WRONG_AUDIENCE),
        ({"aud": ["another", "third"]}, Refusal.WRONG_AUDIENCE),
        ({"aud": [AUDIENCE, 7]}, Refusal.WRONG_AUDIENCE),
        ({"aud": {AUDIENCE: 1}}, Refusal.WRONG_AUDIENCE),
        ({"aud": AUDIENCE + "x"}, Refusal.WRONG_AUDIENCE),
        ({"aud": []}, Refusal.WRONG_AUDIENCE),
        ({"aud": None}, Refusal.WRONG_AUDIENCE),
        ({"iss": "https://evil.example"}, Refusal.UNKNOWN_ISSUER),
        ({"iss": ISSUER + "/"}, Refusal.UNKNOWN_ISSUER),
        ({"iss": ISSUER.upper()}, Refusal.UNKNOWN_ISSUER),
        ({"iss": [ISSUER]}, Refusal.MALFORMED),
        ({"iss": None}, Refusal.MALFORMED),
    ],
)
def test_times_audience_and_issuer_must_be_right(keys, clock, change, reason):
    assert refused(verifier(keys, clock), token({**CLAIMS, **change})) == reason


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("iss", Refusal.MALFORMED),
        ("aud", Refusal.WRONG_AUDIENCE),
        ("exp", Refusal.BAD_CLAIM),
        ("sub", Refusal.BAD_CLAIM),
    ],
)
def test_what_must_be_there_is_missed(keys, clock, claim, reason):
    assert refused(verifier(keys, clock), token(without(claim))) == reason


def test_what_may_be_left_out_is_not_missed(keys, clock):
    bare = {name: CLAIMS[name] for name in ("iss", "aud", "sub", "exp")}
    first = verifier(keys, clock).verify(token(bare))
    second = verifier(keys, clock).verify(token({**bare, "sub": "bob"}))
    assert first.reader.asker.claimed == frozenset()
    assert first.scopes == ()
    assert len(first.token_id) == 32
    assert first.token_id != second.token_id


def test_a_clock_may_be_wrong_by_the_leeway_and_no_more(keys, clock):
    verifying = verifier(keys, clock)
    assert verifying.verify(token({**CLAIMS, "exp": NOW_S - 29, "nbf": NOW_S + 29, "iat": NOW_S + 30}))
    clock.us += 1_000_000
    assert refused(verifying, token({**CLAIMS, "exp": NOW_S - 29})) == Refusal.EXPIRED


def test_an_audience_among_others_counts(keys, clock):
    assert verifier(keys, clock).verify(token({**CLAIMS, "aud": ["other", AUDIENCE]})).subject == "ana"


@pytest.mark.parametrize("value", [True, "1", None, [], {}, -1, 1e30, pytest.param(10**400, id="10**400")])
@pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
def test_a_time_that_is_no_number_of_seconds_is_refused(keys, clock, claim, value):
    assert refused(verifier(keys, clock), token({**CLAIMS, claim: value})) == Refusal.BAD_CLAIM


@pytest.mark.parametrize(
    "claims", [b'{"exp":1e999}', b'{"exp":NaN}', b'{"exp":Infinity}', b"{" + b'"a":1' + b"9" * 5000 + b"}"]
)
def test_numbers_that_are_none_are_refused(keys, clock, claims):
    inner = json.dumps(without("exp")).encode()
    assert refused(verifier(keys, clock), token(inner[:-1] + b"," + claims[1:])) in {
        Refusal.MALFORMED,
        Refusal.BAD_CLAIM,
    }


@pytest.mark.parametrize(
    "subject", ["group:admin", "everyone", "user:bob", "role:x", "a:b:c", ":", "аna", "../../root", "' OR 1=1"]
)
def test_a_subject_is_a_user_whatever_it_is_called(keys, clock, subject):
    asker = verifier(keys, clock).verify(token({**CLAIMS, "sub": subject})).reader.asker
    assert asker.principals == {f"user:{subject}"}


@pytest.mark.parametrize("group", ["user:ana", "everyone", "group:admin", "a:b", "admin,root"])
def test_a_group_is_a_group_whatever_it_is_called(keys, clock, group):
    asker = verifier(keys, clock).verify(token({**CLAIMS, "groups": [group]})).reader.asker
    assert asker.claimed == {f"group:{group}"}
    assert asker.principals == {"user:ana"}


BAD_NAMES = [
    "",
    " ",
    " ana",
    "ana ",
    "a\nb",
    "a\x00b",
    "a\u200bna",
    "ana\u202e",
    "jose\u0301",
    "\ud800",
    "a\u00a0b",
    "x" * 257,
    7,
    True,
    None,
    ["ana"],
    {"a": 1},
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_cannot_be_told_apart_at_sight_or_is_no_text_refuses_the_token(keys, clock, name):
    verifying = verifier(keys, clock, tenant_claim="org")
    good = {**CLAIMS, "org": "acme"}
    assert verifying.verify(token(good)).tenant == "acme"
    for bad in ({"sub": name}, {"groups": ["eng", name]}, {"org": name}, {"jti": name}):
        assert refused(verifying, token({**good, **bad})) == Refusal.BAD_CLAIM


@pytest.mark.parametrize("groups", ["eng", None, {"eng": True}, 1, True, [["eng"]], ["g"] * 1001])
def test_groups_that_are_no_list_of_names_refuse_the_token(keys, clock, groups):
    assert refused(verifier(keys, clock), token({**CLAIMS, "groups": groups})) == Refusal.BAD_CLAIM


@pytest.mark.parametrize("scope", [None, 1, {"a": 1}, "a  b", "a\tb", ["a", 1], [""], ["s"] * 101])
def test_scopes_that_are_not_understood_refuse_the_token(keys, clock, scope):
    assert refused(verifier(keys, clock), token({**CLAIMS, "scope": scope})) == Refusal.BAD_CLAIM


def test_a_thousand_groups_are_taken(keys, clock):
    groups = [f"g{n}" for n in range(1000)]
    assert len(verifier(keys, clock).verify(token({**CLAIMS, "groups": groups})).reader.asker.claimed) == 1000


def test_the_settings_say_which_claims_are_read(keys, clock):
    verifying = verifier(keys, clock, user_claim="email", groups_claim="https://x/roles", tenant_claim="org")
    claims = {**CLAIMS, "email": "ana@x", "https://x/roles": ["hr"], "org": "acme", "tenant": "evil"}
    asker = verifying.verify(token(claims)).reader.asker
    assert asker == Asker(tenant="acme", principals=frozenset({"user:ana@x"}), claimed=frozenset({"group:hr"}))
    assert refused(verifying, token({**claims, "org": None})) == Refusal.BAD_CLAIM


def test_a_tenant_in_a_token_counts_only_where_the_settings_name_its_claim(keys, clock):
    caller = verifier(keys, clock, tenant="acme").verify(token({**CLAIMS, "tenant": "evil"}))
    assert caller.tenant == caller.reader.asker.tenant == "acme"


def test_each_issuer_signs_for_itself_alone(tmp_path, clock):
    places = []
    for number in (0, 1):
        path = tmp_path / f"{number}.json"
        path.write_bytes(key_set(jwk("EdDSA", "one", number)))
        places.append(
            IssuerSettings(issuer=f"https://{number}", audience=f"for-{number}", jwks=str(path), tenant=f"t{number}")
        )
    verifying = Verifier(places, None, "upwell", clock)
    claims = [{**CLAIMS, "iss": f"https://{n}", "aud": f"for-{n}"} for n in (0, 1)]
    assert [verifying.verify(token(claims[n], number=n)).tenant for n in (0, 1)] == ["t0", "t1"]
    assert refused(verifying, token(claims[1], number=0)) == Refusal.BAD_SIGNATURE
    assert refused(verifying, token({**claims[1], "aud": "for-0"}, number=1)) == Refusal.WRONG_AUDIENCE


def test_the_lake_takes_its_own_tokens_and_those_of_its_older_keys(tmp_path, clock):
    own = LakeKey.at(tmp_path / "key.json")
    verifying = Verifier([], own, "upwell", clock)
    grant = Grant(subject="ana", groups=frozenset({"eng"}), tenant="acme", ttl_s=60)
    old = issue(own, grant, audience="upwell", now_us=NOW_US)
    LakeKey.at(tmp_path / "key.json").rotate()
    new = issue(own, grant, audience="upwell", now_us=NOW_US)
    for issued in (old, new):
        caller = verifying.verify(issued.token)
        assert caller.reader.asker == Asker(
            tenant="acme", principals=frozenset({"user:ana"}), claimed=frozenset({"group:eng"})
        )
        assert (caller.token_id, caller.expires_at) == (issued.token_id, issued.expires_at)
    assert old.kid != new.kid
    clock.us += 91_000_000
    assert refused(verifying, new.token) == Refusal.EXPIRED


def test_another_library_takes_the_lakes_tokens_and_makes_such_that_we_take(tmp_path, keys, clock):
    own = LakeKey.at(tmp_path / "key.json")
    grant = Grant(subject="ana", groups=frozenset({"eng"}), tenant="acme", ttl_s=60)
    issued = issue(own, grant, audience="upwell", now_us=now_us())
    key = jwt.PyJWK(own.public_jwk(issued.kid))
    claims = jwt.decode(issued.token, key, algorithms=["EdDSA"], audience="upwell", issuer=own.issuer)
    assert (claims["sub"], claims["groups"], claims["jti"]) == ("ana", ["eng"], issued.token_id)
    made = jwt.encode(CLAIMS, private("RS256", 0), algorithm="RS256", headers={"kid": "rsa"})
    assert verifier(keys, clock).verify(made).subject == "ana"


def test_another_lakes_token_is_an_unknown_issuers(tmp_path, clock):
    ours, theirs = LakeKey.at(tmp_path / "ours.json"), LakeKey.at(tmp_path / "theirs.json")
    issued = issue(theirs, Grant(subject="ana", tenant="t", ttl_s=60), audience="upwell", now_us=NOW_US)
    assert refused(Verifier([], ours, "upwell", clock), issued.token) == Refusal.UNKNOWN_ISSUER
    assert refused(Verifier([], None, "upwell", clock), issued.token) == Refusal.UNKNOWN_ISSUER


def test_another_lake_is_trusted_by_its_published_keys(tmp_path, clock):
    theirs = LakeKey.at(tmp_path / "theirs.json")
    (tmp_path / "theirs.jwks").write_text(json.dumps(theirs.public_jwks()))
    settings = IssuerSettings(
        issuer=theirs.issuer, audience="upwell", jwks=str(tmp_path / "theirs.jwks"), tenant="guests"
    )
    issued = issue(theirs, Grant(subject="ana", tenant="t", ttl_s=60), audience="upwell", now_us=NOW_US)
    assert Verifier([settings], None, "upwell", clock).verify(issued.token).tenant == "guests"
    with pytest.raises(Misconfigured, match="lake itself"):
        Verifier([settings], theirs, "upwell", clock)


def test_while_the_lakes_key_cannot_be_read_its_tokens_wait_and_others_pass(tmp_path, keys, clock):
    own = LakeKey.at(tmp_path / "key.json")
    issued = issue(own, Grant(subject="ana", tenant="t", ttl_s=60), audience="upwell", now_us=NOW_US)
    verifying = verifier(keys, clock, own)
    (tmp_path / "key.json").unlink()
    with pytest.raises(KeyLookupFailed) as raised:
        verifying.verify(issued.token)
    assert "key.json" in raised.value.detail
    assert "key" not in str(raised.value)
    assert verifying.verify(token()).subject == "ana"


@pytest.mark.parametrize("ttl_s", [0, -1, float("nan"), float("inf"), 400 * 86_400])
def test_a_token_without_an_end_in_sight_is_not_signed(tmp_path, ttl_s):
    with pytest.raises(Misconfigured, match="366 days"):
        issue(LakeKey.at(tmp_path / "k"), Grant(subject="a", tenant="t", ttl_s=ttl_s), audience="a", now_us=0)


@pytest.mark.parametrize("count", [990, 1001])
def test_a_token_that_no_verifier_would_take_is_not_signed(tmp_path, count):
    grant = Grant(subject="a", groups=frozenset(f"group-number-{n}" for n in range(count)), tenant="t", ttl_s=1)
    with pytest.raises(Misconfigured, match="principals set"):
        issue(LakeKey.at(tmp_path / "k"), grant, audience="a", now_us=0)


@pytest.mark.parametrize("name", [name for name in BAD_NAMES if isinstance(name, str)])
def test_no_token_is_signed_for_a_name_that_would_be_refused(tmp_path, name):
    good = {"subject": "a", "groups": frozenset({"g"}), "tenant": "t", "ttl_s": 1}
    for bad in ({"subject": name}, {"groups": frozenset({"g", name})}, {"tenant": name}):
        with pytest.raises(Misconfigured, match="a name is"):
            issue(LakeKey.at(tmp_path / "k"), Grant(**{**good, **bad}), audience="a", now_us=0)


@pytest.mark.parametrize("algorithms", [("HS256",), ("none",), ("RS256", "HS512"), ("rs256",), ()])
def test_only_asymmetric_algorithms_can_be_allowed(keys, clock, algorithms):
    with pytest.raises(Misconfigured, match=r"issuers\.algorithms"):
        verifier(keys, clock, algorithms=algorithms)


def test_an_issuer_that_stands_twice_is_refused(keys, clock):
    settings = IssuerSettings(issuer=ISSUER, audience="a", jwks=str(keys))
    with pytest.raises(Misconfigured, match="twice"):
        Verifier([settings, settings], None, "upwell", clock)


@pytest.mark.parametrize(("value", "found"), [("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("BEARER abc", "abc")])
def test_the_header_holds_a_bearer_token(value, found):
    assert bearer_of(value) == found


@pytest.mark.parametrize("value", [None, "", " ", "Basic abc", "abc", "Bearer", "Bearerabc"])
def test_a_header_without_one_is_no_token(value):
    with pytest.raises(Unauthorized) as raised:
        bearer_of(value)
    assert raised.value.reason == Refusal.NO_TOKEN
