"""`upwell erase` and `upwell verify` as a person runs them, and kill -9 at any moment of an erasure."""

import json
import signal
import subprocess

import pytest
from command import PROGRAM

from canaries import Canaries
from lakes import contents, outcomes
from upwell.identity.own_key import LakeKey

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
FILLER = "larch maple alder drawer dovetail chisel mallet bench vice saw glue clamp varnish shavings "


def test_an_erasure_and_its_certificate(upwell):
    words = Canaries(("text",))
    upwell("ingest", upwell.write({"a.md": f"{words['text']} {FILLER}", "b.md": FILLER}))
    lake = upwell.home / ".upwell"
    dry = upwell.json("erase", "a.md", "--dry-run")
    assert (dry["dry_run"], dry["certificate"], dry["removed"]["points"]) == (True, None, 1)
    assert words.in_folder(lake)
    assert "would erase docs/a.md: 1 points" in upwell("erase", "--doc", "a.md", "--dry-run").stdout
    done = upwell("erase", "--doc", "a.md", "--yes", "--json")
    assert words.in_folder(lake) == {}

    file, keys = upwell.home / "certificate.json", upwell.home / "jwks.json"
    file.write_text(done.stdout)
    assert "valid: certificate" in upwell("verify", file).stdout
    keys.write_text(json.dumps(LakeKey(lake / "signing-key.json").public_jwks()))
    assert upwell.json("verify", file, "--key", keys)["valid"]
    file.write_text(json.dumps(json.loads(done.stdout)["certificate"]))
    assert upwell.json("verify", file)["valid"], "the certificate alone will do"
    file.write_text(done.stdout.replace('"a.md"', '"b.md"'))
    upwell("verify", file, status=1)
    upwell("verify", upwell.home / "missing.json", status=2)
    upwell("verify", file, "--lake", upwell.home / "docs", status=2)
    upwell("erase", "nowhere.md", "--yes", status=1)
    upwell("erase", "--source", "docs", status=2)
    upwell("erase", "--tenant", "default", "--json", status=2)
    whole = upwell.json("erase", "--source", "docs", "--yes", "--no-names")
    assert (whole["documents"], whole["remaining"]) == (2, [])
    assert upwell.found("larch") == set()


def test_an_owner_that_runs_does_the_same(upwell, run):
    """The source that it follows must not be erased whole: its memory would bring everything back."""
    words = Canaries(("text",))
    running = run(upwell.write({"a.md": f"{words['text']} {FILLER}", "b.md": FILLER}))
    running.ready()
    answer = upwell.json("erase", "a.md", "--yes")
    assert answer["certificate"]["signature"]
    assert words.in_folder(upwell.home / ".upwell") == {}
    assert "is being followed" in upwell("erase", "--source", "docs", "--yes", status=2).stderr
    assert upwell.json("erase", "--source", "docs", "--dry-run")["documents"] == 2


def test_killed_at_any_moment_the_same_command_sees_it_through(upwell):
    words = Canaries(("text", "heading"))
    kept = {f"kept{n}.md": FILLER for n in range(5)}
    docs = {f"d{n}.md": f"# {words['heading']} {n}\n\n{words['text']} {n} {FILLER}" for n in range(40)}
    upwell("ingest", upwell.write(kept), "--source", "kept")
    for name in kept:
        (upwell.home / "docs" / name).unlink()
    other = upwell.home / "doomed"
    other.mkdir()
    for name, text in docs.items():
        (other / name).write_text(text)
    upwell("ingest", other)
    lake = upwell.home / ".upwell"
    assert words.in_folder(lake).keys() == {"text", "heading"}
    command = [PROGRAM, "erase", "--source", "doomed", "--yes", "--json"]
    killed = 0
    for attempt in range(12):  # from before it has begun, ever later: no machine is too fast for the first ones
        process = subprocess.Popen(
            command, cwd=upwell.home, env=upwell.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=0.2 * 1.25**attempt)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        else:
            break
    assert killed > 0, "it was over before it could be killed"
    answer = upwell.json("erase", "--source", "doomed", "--yes")
    assert answer["remaining"] == []
    assert len(answer["certificate"]["documents"]) == 40
    assert words.in_folder(lake) == {}
    assert outcomes(lake).get("pending", 0) == 0
    assert len(contents(lake)) == 45
    assert upwell.found("larch") == {f"kept{n}.md" for n in range(5)}
