"""Certificates: what is signed is what is said, and nothing else passes."""

import base64
import json

import msgspec
import pytest

from upwell.answers import Certificate, EraseAnswer, ErasedDocument, Remainder, Scope
from upwell.cli.output import as_json
from upwell.erase.certificate import jwks_verifier, signed, signed_bytes, verified
from upwell.identity.own_key import LakeKey

CERTIFICATE = Certificate(
    id="c1",
    issued_at="2026-03-01T00:00:00.000000Z",
    lake="/lake",
    scope=Scope.DOCUMENT,
    name="Größe \x7f \u202e.md",
    tenant="default",
    documents=(ErasedDocument(digest="d", source="s", doc_id="a.md", version=2**53 - 1),),
    events={"ended": 3, "pending": 0},
    removed={"points": 2, "blobs": 1},
    searched=("blobs",),
    remaining=(Remainder(place="registry", what="the fence", until=None, bound="stays"),),
    kid="",
)


@pytest.fixture
def key(tmp_path):
    return LakeKey.at(tmp_path / "signing-key.json")


@pytest.fixture
def certificate(key):
    return signed(CERTIFICATE, key.signing_key())


def fields(certificate):
    return json.loads(as_json(certificate))


def test_it_verifies_by_the_public_half_alone_however_it_is_laid_out(key, certificate):
    public = jwks_verifier(json.dumps(key.public_jwks()).encode())
    answer = EraseAnswer(doc_id="a.md", source="s", removed={}, remaining=(), certificate=certificate)
    for data in (
        as_json(certificate).encode(),
        as_json(answer).encode(),
        msgspec.json.encode(certificate),
        json.dumps(dict(reversed(fields(certificate).items())), indent=7).encode(),
    ):
        found = verified(data, public)
        assert (found.valid, found.reason, found.id, found.kid) == (True, "", "c1", key.kid)
        assert verified(data, key.verify).valid


def test_an_older_key_still_verifies_after_a_rotation(key, certificate):
    key.rotate()
    assert verified(as_json(certificate).encode(), key.verify).valid
    assert certificate.kid != key.kid


@pytest.mark.parametrize("name", [name for name in CERTIFICATE.__struct_fields__ if name != "signature"])
def test_no_field_can_be_changed_or_left_out(key, certificate, name):
    changed = fields(certificate)
    changed[name] = [changed[name], 1]
    assert not verified(json.dumps(changed).encode(), key.verify).valid
    left_out = {one: value for one, value in fields(certificate).items() if one != name}
    assert not verified(json.dumps(left_out).encode(), key.verify).valid


def test_a_field_that_was_not_signed_cannot_be_added(key, certificate):
    assert not verified(json.dumps({**fields(certificate), "note": "x"}).encode(), key.verify).valid


def test_a_name_that_comes_twice_is_refused(key, certificate):
    data = as_json(certificate).encode().replace(b'"id"', b'"id": "other", "id"', 1)
    assert not verified(data, key.verify).valid


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"null", b"\xff", b'"c"', b'{"kid": NaN}', b"[" * 100_000, b'{"certificate": null}',
     b'{"kid": "\\ud800", "signature": "AAAA"}', b'{"kid": 5, "signature": 5}', b'{"kid": "k", "signature": "*"}'],
)  # fmt: skip
def test_what_is_no_certificate_is_not_valid_and_raises_nothing(key, data):
    found = verified(data, key.verify)
    assert not found.valid
    assert found.reason


def test_anothers_signature_or_key_does_not_pass(key, certificate, tmp_path):
    other = LakeKey.at(tmp_path / "other.json")
    data = as_json(certificate).encode()
    assert not verified(data, other.verify).valid
    forged = signed(CERTIFICATE, other.signing_key())
    named = msgspec.structs.replace(forged, kid=key.kid)
    assert not verified(as_json(named).encode(), key.verify).valid
    cut = fields(certificate)
    cut["signature"] = base64.urlsafe_b64encode(bytes(64)).decode().rstrip("=")
    assert not verified(json.dumps(cut).encode(), key.verify).valid


@pytest.mark.parametrize(
    "jwks", [b"", b"[]", b"{}", b'{"keys": 5}', b'{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]}']
)
def test_what_is_no_key_set_is_refused(jwks):
    with pytest.raises(ValueError):
        jwks_verifier(jwks)


def test_the_signed_bytes_are_as_documented(certificate):
    """Anybody can make them from the JSON with a standard library."""
    plain = fields(certificate)
    signature = plain.pop("signature")
    assert signed_bytes(fields(certificate)) == json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")
    assert len(base64.urlsafe_b64decode(signature + "==")) == 64
