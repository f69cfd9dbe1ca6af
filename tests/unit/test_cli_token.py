"""`upwell token`: the token alone on standard output, good at once for a lake that runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from upwell.access import Asker
from upwell.cli.app import app
from upwell.cli.errors import run
from upwell.clock import now_us
from upwell.identity.own_key import LakeKey
from upwell.identity.tokens import Verifier


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPWELL_LAKE", raising=False)
    made = tmp_path / ".upwell"
    made.mkdir()
    return made


def caller_of(lake: Path, token: str, audience: str = "upwell"):
    return Verifier([], LakeKey.at(lake / "signing-key.json"), audience, now_us).verify(token)


def test_the_token_stands_alone_on_standard_output_and_names_its_bearer(lake, capsys):
    assert run(app, ["token", "--as", "ana", "--group", "eng", "--group", "group:hr", "--tenant", "acme"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    caller = caller_of(lake, out.strip())
    assert caller.reader.asker == Asker(
        tenant="acme", principals=frozenset({"user:ana"}), claimed=frozenset({"group:eng", "group:hr"})
    )
    assert "user:ana" in err
    assert out.strip() not in err


def test_json_says_when_it_ends_and_which_key_signed(lake, capsys):
    assert run(app, ["token", "--as", "user:ana", "--ttl", "30m", "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert set(answer) == {"token", "expires_at", "kid"}
    assert err == ""
    assert answer["kid"] == LakeKey.at(lake / "signing-key.json").kid
    assert 1700 < caller_of(lake, answer["token"]).expires_at / 1e6 - now_us() / 1e6 <= 1801


def test_each_token_has_an_id_of_its_own(lake, capsys):
    ids = set()
    for _ in range(3):
        run(app, ["token", "--as", "ana"])
        ids.add(caller_of(lake, capsys.readouterr().out.strip()).token_id)
    assert len(ids) == 3


def test_a_lake_that_runs_takes_a_token_of_a_rotated_key_and_the_older_one(lake, capsys):
    running = Verifier([], LakeKey.at(lake / "signing-key.json"), "upwell", now_us)
    tokens = []
    for more in ([], ["--rotate-key"]):
        assert run(app, ["token", "--as", "ana", *more, "--json"]) == 0
        tokens.append(json.loads(capsys.readouterr().out))
    assert tokens[0]["kid"] != tokens[1]["kid"]
    assert [running.verify(one["token"]).subject for one in tokens] == ["ana", "ana"]


def test_the_settings_say_where_the_key_is_and_for_whom_tokens_are(lake, capsys, tmp_path):
    (tmp_path / "upwell.toml").write_text('audience = "mine"\nsigning_key = "keys/k.json"\n')
    assert run(app, ["token", "--as", "ana", "--lake", "nowhere"]) == 0
    out, _ = capsys.readouterr()
    own = LakeKey.at(tmp_path / "keys" / "k.json")
    assert Verifier([], own, "mine", now_us).verify(out.strip()).subject == "ana"
    assert not (lake / "signing-key.json").exists()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--as", "group:eng"], "--as 'group:eng'"),
        (["--as", "everyone"], "--as 'everyone'"),
        (["--as", ""], "--as"),
        (["--as", "a\u200bna"], "unreadable"),
        (["--as", "usr:ana"], "unknown kind"),
        (["--as", "ana", "--group", "user:bob"], "--group 'user:bob'"),
        (["--as", "ana", "--group", "everyone"], "--group 'everyone'"),
        (["--as", "ana", "--ttl", "0s"], "--ttl"),
        (["--as", "ana", "--ttl", "soon"], "--ttl"),
        (["--as", "ana", "--ttl", "999999w"], "366 days"),
        (["--as", "ana", "--tenant", ""], "missing"),
        (["--as", "ana", "--lake", "nowhere"], "nowhere: no lake there"),
        (["--as", "a" * 300], "user 'aaa"),
        (["--as", "ana", "--group", "g" * 300], "group 'ggg"),
        (["--as", "ana", "--tenant", " acme"], "tenant ' acme'"),
    ],
)
def test_wrong_usage_is_one_line_and_signs_and_makes_nothing(lake, capsys, words, hint):
    assert run(app, ["token", *words, "--rotate-key"]) == 2
    assert list(lake.iterdir()) == []
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert hint in err


def test_who_cannot_read_the_key_alone_signs_nothing(lake, capsys):
    LakeKey.at(lake / "signing-key.json")
    (lake / "signing-key.json").chmod(0o644)
    assert run(app, ["token", "--as", "ana"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "chmod 600" in err


def test_what_a_search_imports_holds_nothing_of_tokens():
    """A one-shot `upwell search` must not pay for them."""
    code = "import sys, upwell.cli.app, upwell.wiring; print([m for m in ('jwt', 'cryptography', 'limits') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
