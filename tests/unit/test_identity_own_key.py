"""The lake's own key: made once, private, rotated without losing what older keys signed."""

import base64
import hashlib
import json
import multiprocessing
from pathlib import Path

import pytest

from upwell.config import Settings
from upwell.errors import Misconfigured
from upwell.identity.own_key import LakeKey, signing_key_of

DATA = b"a certificate"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lake" / "signing-key.json"


def test_a_key_is_made_once_and_found_again(path: Path) -> None:
    first, second = LakeKey.at(path), LakeKey.at(path)
    assert first.kid == second.kid
    assert first.issuer == second.issuer == f"upwell:{first.kid}"
    assert second.verify(first.kid, DATA, first.sign(DATA))


def test_the_file_and_what_lies_beside_it_is_private(path: Path) -> None:
    LakeKey.at(path).rotate()
    assert [p.name for p in path.parent.iterdir()] == ["signing-key.json"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_changed_byte_another_key_and_an_unknown_kid_do_not_verify(path: Path) -> None:
    key = LakeKey.at(path)
    signature = key.sign(DATA)
    assert not key.verify(key.kid, DATA + b"!", signature)
    assert not key.verify(key.kid, DATA, signature[:-1])
    assert not key.verify(key.kid, DATA, b"")
    assert not key.verify("../" + key.kid, DATA, signature)
    other = LakeKey.at(path.with_name("other.json"))
    assert not key.verify(key.kid, DATA, other.sign(DATA))


def test_what_older_keys_signed_still_verifies_and_their_private_half_is_gone(path: Path) -> None:
    key = LakeKey.at(path)
    signed = [(key.kid, key.sign(DATA))]
    for _ in range(3):
        key.rotate()
        signed.append((key.kid, key.sign(DATA)))
    assert len({kid for kid, _ in signed}) == 4
    assert all(key.verify(kid, DATA, signature) for kid, signature in signed)
    assert key.issuer == f"upwell:{signed[0][0]}"
    kept = json.loads(path.read_bytes())["keys"]
    assert ["d" in one for one in kept] == [False, False, False, True]


def test_a_rotation_elsewhere_is_seen_without_restart(path: Path) -> None:
    running = LakeKey.at(path)
    old = running.signing_key()
    new = LakeKey.at(path).rotate()
    assert running.kid == new != old.kid
    assert running.verify(old.kid, DATA, old.sign(DATA))


def test_what_is_published_holds_no_private_half_and_the_rfc_7638_thumbprint(path: Path) -> None:
    key = LakeKey.at(path)
    key.rotate()
    published = key.public_jwks()["keys"]
    assert [set(one) for one in published] == [{"kty", "crv", "kid", "x", "alg", "use"}] * 2
    for one in published:
        canonical = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": one["x"]}, separators=(",", ":"))
        digest = base64.urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).rstrip(b"=").decode()
        assert one["kid"] == digest
        assert key.public_jwk(digest) == one
    assert key.public_jwk("nobody") is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_file_that_others_may_use_is_refused_even_while_running(path: Path, mode: int) -> None:
    running = LakeKey.at(path)
    path.chmod(mode)
    with pytest.raises(Misconfigured, match="chmod 600"):
        LakeKey.at(path)
    with pytest.raises(Misconfigured, match="chmod 600"):
        running.sign(DATA)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{}",
        b"[]",
        b'{"issuer":"upwell:x","keys":[]}',
        b'{"issuer":"upwell:x","keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"AA","d":"AA"}]}',
        b'{"issuer":"upwell:x","keys":[{"kty":"oct","crv":"Ed25519","kid":"k","x":"AA"}]}',
        b"\xff" * 10,
        b" " * 300_000,
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_quotes_nothing_and_is_left_as_it_is(
    path: Path, damage: bytes
) -> None:
    LakeKey.at(path)
    path.write_bytes(damage)
    with pytest.raises(Misconfigured, match="damaged") as raised:
        LakeKey.at(path)
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == damage


def test_halves_that_do_not_belong_together_are_refused(path: Path) -> None:
    LakeKey.at(path)
    other = path.with_name("other.json")
    LakeKey.at(other)
    mixed = json.loads(path.read_bytes())
    mixed["keys"][0]["d"] = json.loads(other.read_bytes())["keys"][0]["d"]
    path.write_text(json.dumps(mixed))
    with pytest.raises(Misconfigured, match="damaged"):
        LakeKey.at(path)


def test_a_file_that_has_gone_is_not_made_anew_by_a_running_lake(path: Path) -> None:
    key = LakeKey.at(path)
    path.unlink()
    with pytest.raises(Misconfigured, match=r"signing-key\.json"):
        key.sign(DATA)
    assert not path.exists()


def test_a_folder_or_a_dangling_link_in_its_place_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(Misconfigured):
        LakeKey.at(path)
    path.rmdir()
    path.symlink_to(path.parent / "nowhere")
    with pytest.raises(Misconfigured):
        LakeKey.at(path)


def _open_and_rotate(path: str, barrier: object, found: object) -> None:
    barrier.wait(30)
    key = LakeKey.at(Path(path))
    issuer = key.issuer
    key.rotate()
    found.put(issuer)


def test_processes_that_race_make_one_key_and_lose_no_rotation(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(4), context.Queue()
    racers = [context.Process(target=_open_and_rotate, args=(str(path), barrier, found)) for _ in range(4)]
    for racer in racers:
        racer.start()
    issuers = {found.get(timeout=60) for _ in racers}
    for racer in racers:
        racer.join(30)
    assert issuers == {LakeKey.at(path).issuer}
    assert len(LakeKey.at(path).public_jwks()["keys"]) == 5
    assert [p.name for p in path.parent.iterdir()] == ["signing-key.json"]


def test_the_setting_says_where_the_key_is(tmp_path: Path) -> None:
    assert signing_key_of(Settings(lake=tmp_path)) == tmp_path / "signing-key.json"
    assert signing_key_of(Settings(lake=tmp_path, signing_key=tmp_path / "k.json")) == tmp_path / "k.json"
