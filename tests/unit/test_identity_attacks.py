"""Forged tokens, one test an attack. None is taken, each is refused for its own reason, and no answer says which."""

import hmac
import json
import string
import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signing import AUDIENCE, CLAIMS, ISSUER, NOW_US, b64, hmac_token, jwk, key_set, part, pem, private, token
from upwell.config import IssuerSettings
from upwell.errors import Refusal, Unauthorized
from upwell.identity.keys import key_of
from upwell.identity.tokens import Verifier


def verifier_of(path: Path, keys: bytes, **more) -> Verifier:
    path.write_bytes(keys)
    issuer = IssuerSettings(issuer=ISSUER, audience=AUDIENCE, jwks=str(path), **more)
    return Verifier([issuer], None, "upwell", lambda: NOW_US)


KEY_SET = key_set(
    jwk("EdDSA", "one"), jwk("RS256", "rsa"), jwk("ES256", "ec"), jwk("RS256", "only-rs512", 1, alg="RS512")
)


@pytest.fixture(scope="module")
def verifying(tmp_path_factory) -> Verifier:
    return verifier_of(tmp_path_factory.mktemp("keys") / "keys.json", KEY_SET)


def refused(verifying: Verifier, text: str) -> Refusal:
    with pytest.raises(Unauthorized) as raised:
        verifying.verify(text)
    return raised.value.reason


def unsigned(header, claims=CLAIMS, signature=b"x") -> str:
    return f"{part(header)}.{part(claims)}.{b64(signature)}"


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE"])
def test_alg_none(verifying, name):
    header = {"alg": name, "kid": "one", "typ": "JWT"}
    assert refused(verifying, unsigned(header)) == Refusal.BAD_ALGORITHM
    assert refused(verifying, unsigned(header, signature=b"")) == Refusal.MALFORMED


@pytest.mark.parametrize("kid", ["one", "rsa", "ec"])
@pytest.mark.parametrize(
    "secret",
    [
        pem("EdDSA"),
        pem("RS256"),
        pem("RS256").strip(),
        json.dumps(jwk("RS256", "rsa")).encode(),
        jwk("EdDSA", "one")["x"].encode(),
        b"",
    ],
    ids=["pem", "rsa", "rsa without its line end", "jwk", "x", "nothing"],
)
def test_a_public_key_as_the_secret_of_an_hmac(verifying, kid, secret):
    assert refused(verifying, hmac_token(secret, kid=kid)) == Refusal.BAD_ALGORITHM


def test_a_shared_secret_in_the_key_set_verifies_nothing(tmp_path):
    secret = b"0123456789abcdef0123456789abcdef"
    verifying = verifier_of(tmp_path / "k", key_set({"kty": "oct", "kid": "one", "k": b64(secret), "alg": "HS256"}))
    assert refused(verifying, hmac_token(secret)) == Refusal.BAD_ALGORITHM
    assert refused(verifying, token()) == Refusal.UNKNOWN_KEY


@pytest.mark.parametrize(
    ("kid", "algorithm"), [("one", "RS256"), ("rsa", "ES256"), ("rsa", "EdDSA"), ("ec", "EdDSA"), ("ec", "RS256")]
)
def test_a_key_of_another_kind_than_the_algorithm(verifying, kid, algorithm):
    assert refused(verifying, token(algorithm=algorithm, kid=kid)) == Refusal.BAD_ALGORITHM


@pytest.mark.parametrize("algorithm", ["HS256", "none", "RS256", "ES256"])
def test_a_key_itself_verifies_by_no_algorithm_but_its_own(algorithm):
    key = key_of(jwk("EdDSA", "one"))
    secret = jwk("EdDSA", "one")["x"].encode()
    assert not key.verifies(algorithm, b"text", hmac.digest(secret, b"text", "sha256"))
    assert not key.verifies(algorithm, b"text", private("EdDSA", 0).sign(b"text"))
    assert key.verifies("EdDSA", b"text", private("EdDSA", 0).sign(b"text"))


def test_a_key_that_says_its_algorithm_is_used_with_no_other(verifying):
    assert refused(verifying, token(algorithm="RS256", kid="only-rs512", number=1)) == Refusal.BAD_ALGORITHM


def test_an_algorithm_that_the_issuer_may_not_use(tmp_path):
    verifying = verifier_of(tmp_path / "k", KEY_SET, algorithms=("RS256",))
    assert verifying.verify(token(algorithm="RS256", kid="rsa")).subject == "ana"
    assert refused(verifying, token()) == Refusal.BAD_ALGORITHM


def test_a_curve_that_does_not_go_with_the_algorithm(tmp_path):
    verifying = verifier_of(tmp_path / "k", key_set(jwk("ES384", "one")), algorithms=("ES256", "ES384"))
    assert verifying.verify(token(algorithm="ES384")).subject == "ana"
    assert refused(verifying, token(algorithm="ES256")) == Refusal.BAD_ALGORITHM


def test_another_key_under_a_known_id(verifying):
    assert refused(verifying, token(number=1)) == Refusal.BAD_SIGNATURE


@pytest.mark.parametrize(
    "kid",
    [
        "two",
        "ONE",
        "one ",
        "../one",
        "/dev/null",
        "../../../../etc/passwd",
        "one' OR '1'='1",
        "one\x00",
        "http://evil.example/k",
        "*",
        "оne",
    ],
)
def test_a_key_id_is_a_name_and_nothing_else(verifying, kid):
    assert refused(verifying, token(kid=kid)) == Refusal.UNKNOWN_KEY


@pytest.mark.parametrize("kid", [None, "", 1, True, ["one"], {"one": 1}, "k" * 257])
def test_a_key_id_that_is_none(verifying, kid):
    assert refused(verifying, token(kid=kid)) == Refusal.MALFORMED


@pytest.mark.parametrize(
    "header",
    [
        {"jwk": jwk("EdDSA", "one", 1)},
        {"jku": "https://evil.example/jwks.json"},
        {"x5u": "https://evil.example/cert.pem"},
        {"x5c": ["MIIB"]},
        {"crit": ["exp"]},
        {"crit": []},
        {"b64": False, "crit": ["b64"]},
        {"b64": True},
        {"zip": "DEF"},
        {"enc": "A256GCM"},
        {"typ": "logout+jwt"},
        {"typ": "dpop+jwt"},
        {"typ": 1},
        {"alg": None},
        {"alg": ["EdDSA"]},
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_a_header_that_brings_a_key_or_changes_the_rules(verifying, header, number):
    assert refused(verifying, token(header=header, number=number)) == Refusal.MALFORMED


@pytest.mark.parametrize(
    "header", [{"typ": "at+jwt"}, {"typ": "application/at+JWT"}, {"typ": "jwt"}, {"x5t": "abc"}, {"cty": "x"}]
)
def test_headers_that_change_nothing_are_let_be(verifying, header):
    assert verifying.verify(token(header=header)).subject == "ana"


@pytest.mark.parametrize(
    ("header", "claims"),
    [
        (b'{"alg":"EdDSA","alg":"none","kid":"one"}', None),
        (b'{"alg":"EdDSA","kid":"one","kid":"rsa"}', None),
        (b'{"alg":"EdDSA","kid":"one","\\u006bid":"rsa"}', None),
        (None, json.dumps(CLAIMS).encode()[:-1] + b',"sub":"root"}'),
        (None, json.dumps(CLAIMS).encode()[:-1] + b',"\\u0073ub":"root"}'),
        (None, json.dumps(CLAIMS).encode()[:-1] + b',"act":{"sub":"a","sub":"b"}}'),
    ],
)
def test_a_name_that_stands_twice(verifying, header, claims):
    assert refused(verifying, token(claims, header=header)) == Refusal.MALFORMED


@pytest.mark.parametrize(
    "claims",
    [
        b"[" * 4000,
        b'{"a":' * 1500,
        b'{"a":' + b"[" * 3000 + b"]" * 3000 + b"}",
        b"",
        b"null",
        b"[]",
        b'"ana"',
        b"7",
        b"\xff\xfe",
        json.dumps({**CLAIMS, "x": float("nan")}).encode(),
        json.dumps({**CLAIMS, "x": float("inf")}).encode(),
        b"{}{}",
        b"{'a':1}",
        "{}".encode("utf-16"),
    ],
    ids=range(14),
)
def test_a_payload_that_is_no_object_or_a_bomb(verifying, claims):
    assert refused(verifying, token(claims)) == Refusal.MALFORMED


def test_a_bomb_that_is_sound_json_is_too_long_or_only_ignored(verifying):
    deep = json.dumps({**CLAIMS, "x": None}).encode().replace(b"null", b"[" * 400 + b"]" * 400)
    assert verifying.verify(token(deep)).subject == "ana"
    wide = {**CLAIMS, "x": [[]] * 5000}
    assert refused(verifying, token(wide)) == Refusal.MALFORMED


@pytest.mark.parametrize("size", [16 * 1024, 10_000_000])
def test_a_huge_token_is_refused_before_anything_is_decoded(verifying, size):
    assert refused(verifying, "a" * size + ".b.c") == Refusal.MALFORMED


def test_a_huge_header_is_refused(verifying):
    assert refused(verifying, token(header={"x": "x" * 2048})) == Refusal.MALFORMED


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t + "=",
        lambda t: t + ".",
        lambda t: "." + t,
        lambda t: t + "\n",
        lambda t: " " + t,
        lambda t: t.replace(".", "..", 1),
        lambda t: t + "." + t,
        lambda t: t.rpartition(".")[0],
        lambda t: t.rpartition(".")[0] + ".",
        lambda t: t.replace(".", "．", 1),
        lambda t: t[:-1] + "é",
        lambda t: "Bearer " + t,
        lambda t: t[:5] + "+" + t[6:],
        lambda t: "{}",
        lambda t: "a.b.c",
        lambda t: "e30.e30.e30",
    ],
)
def test_a_form_that_is_not_the_compact_one(verifying, change):
    assert refused(verifying, change(token())) == Refusal.MALFORMED


def test_no_second_spelling_of_a_signature_is_taken(verifying):
    """64 bytes end in a base64url digit of which only two bits count: the other fifteen spellings are refused."""
    good = token()
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    others = [good[:-1] + letter for letter in alphabet if letter != good[-1]]
    assert {refused(verifying, other) for other in others} == {Refusal.MALFORMED, Refusal.BAD_SIGNATURE}


def test_parts_of_two_good_tokens_make_no_third(verifying):
    first, second = token().split("."), token({**CLAIMS, "sub": "root"}).split(".")
    for mixed in ((first[0], second[1], first[2]), (first[0], second[1], ""), (first[0], first[1], second[2])):
        assert refused(verifying, ".".join(mixed)) in {Refusal.BAD_SIGNATURE, Refusal.MALFORMED}


@pytest.mark.parametrize("signature", [b"\x00" * 64, b"\x00" * 256, b"\x30\x06\x02\x01\x00\x02\x01\x00", b"\x00"])
@pytest.mark.parametrize(("kid", "algorithm"), [("one", "EdDSA"), ("rsa", "RS256"), ("ec", "ES256")])
def test_signatures_of_zeroes(verifying, signature, kid, algorithm):
    """CVE-2022-21449: a verifier that takes r = s = 0 takes everything."""
    text = unsigned({"alg": algorithm, "kid": kid, "typ": "JWT"}, signature=signature)
    assert refused(verifying, text) == Refusal.BAD_SIGNATURE


def test_weak_secret_and_doubtful_keys_of_a_set_are_passed_over(tmp_path):
    from cryptography.hazmat.primitives.asymmetric import rsa
    from jwt.algorithms import RSAAlgorithm

    weak = RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024).public_key(), as_dict=True)
    good = jwk("EdDSA", "one")
    leaked = {**good, "kid": "leaked", "d": b64(private("EdDSA", 0).private_bytes_raw())}
    doubtful = [
        {**weak, "kid": "weak"},
        leaked,
        {**good, "kid": "enc", "use": "enc"},
        {**good, "kid": "ops", "key_ops": ["sign"]},
        {**good, "kid": "ops2", "key_ops": "verify"},
        {**good, "kid": "kind", "kty": "EC"},
        {**good, "kid": "curve", "crv": "Ed448"},
        {**good, "kid": "alg", "alg": "HS256"},
        {**good, "kid": "algs", "alg": ["EdDSA"]},
        {**good, "kid": "short", "x": "AAAA"},
        {**good, "kid": "number", "x": 7},
        {**good, "kid": ""},
        {**good, "kid": "twice"},
        {**jwk("EdDSA", "twice", 1)},
    ]
    verifying = verifier_of(tmp_path / "k", key_set(*doubtful, good))
    assert verifying.verify(token()).subject == "ana"
    for kid in ("leaked", "enc", "ops", "ops2", "kind", "curve", "alg", "algs", "short", "number", "twice"):
        assert refused(verifying, token(kid=kid)) == Refusal.UNKNOWN_KEY
    assert refused(verifying, token(kid="twice", number=1)) == Refusal.UNKNOWN_KEY
    assert refused(verifying, token(kid="weak", algorithm="RS256")) == Refusal.UNKNOWN_KEY


def test_no_refusal_repeats_what_the_token_holds(verifying):
    secret = "canary-7c1"
    for claims in (
        {**CLAIMS, "sub": f"{secret}\n"},
        {**CLAIMS, "iss": secret},
        {**CLAIMS, "groups": secret},
        {**CLAIMS, "aud": secret},
        f'{{"{secret}'.encode(),
    ):
        with pytest.raises(Unauthorized) as raised:
            verifying.verify(token(claims))
        assert secret not in f"{raised.value} {raised.value.detail}"
        assert secret not in "".join(traceback.format_exception(raised.value)).partition("verifying.verify")[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from(["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "groups", "scope", "scp", "tenant", "act"])


def outcome(verifying: Verifier, text: str):
    """The caller or None: nothing but Unauthorized may come out of any text."""
    try:
        return verifying.verify(text)
    except Unauthorized:
        return None


@settings(max_examples=100, deadline=None)
@given(changes=st.dictionaries(NAMES, JSON, max_size=4))
def test_whatever_a_signed_token_claims_its_bearer_is_one_user_of_the_issuers_tenant(verifying, changes):
    caller = outcome(verifying, token({**CLAIMS, **changes}))
    if caller is not None:
        asker = caller.reader.asker
        assert asker.tenant == "default"
        assert asker.principals == {f"user:{caller.subject}"}
        assert all(name.startswith("group:") and name.isprintable() for name in asker.claimed)
        assert caller.subject == {**CLAIMS, **changes}["sub"]
        assert caller.expires_at > NOW_US - 30_000_000


@settings(max_examples=100, deadline=None)
@given(
    text=st.one_of(
        st.text(max_size=200),
        st.from_regex(r"[A-Za-z0-9_=.-]{0,80}", fullmatch=True),
        st.binary(max_size=60).map(lambda b: f"{b64(b)}.{b64(b)}.{b64(b)}"),
    )
)
def test_no_text_is_a_token_by_chance(verifying, text):
    assert outcome(verifying, text) is None


@settings(max_examples=100, deadline=None)
@given(
    at=st.integers(0, 10_000),
    letter=st.sampled_from(string.ascii_letters + string.digits + "-_.= \x00é"),
    kind=st.sampled_from([("EdDSA", "one"), ("RS256", "rsa"), ("ES256", "ec")]),
)
def test_no_changed_letter_leaves_a_token_good(verifying, at, letter, kind):
    good = token(algorithm=kind[0], kid=kind[1])
    at %= len(good)
    changed = good[:at] + letter + good[at + 1 :]
    assert (outcome(verifying, changed) is None) == (changed != good)


@settings(max_examples=100, deadline=None)
@given(
    header=st.dictionaries(
        st.sampled_from(["alg", "kid", "typ", "jwk", "jku", "crit", "b64", "x5c", "cty"]), JSON, max_size=4
    )
)
def test_no_header_makes_an_unsigned_token_good(verifying, header):
    assert outcome(verifying, unsigned({"alg": "EdDSA", "kid": "one", **header}, signature=b"\x01" * 64)) is None
