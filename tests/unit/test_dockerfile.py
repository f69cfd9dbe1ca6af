"""The image: two stages, a locked install, an ordinary user, nothing to build with, and only our files in it."""

import json
import re
import subprocess
import sys
from pathlib import PurePosixPath

from deployment import PORT, ROOT

LINES = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE))
INSTRUCTIONS = [tuple(line.split(maxsplit=1)) for line in LINES.splitlines() if line]
STARTS = [at for at, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM"]
BUILDER, FINAL = INSTRUCTIONS[: STARTS[-1]], INSTRUCTIONS[STARTS[-1] :]


def of(stage, word):
    """The arguments of every such instruction of a stage."""
    return [rest for first, rest in stage if first == word]


def test_two_stages_on_one_slim_python_that_the_project_supports():
    (built,), (final,) = of(BUILDER, "FROM"), of(FINAL, "FROM")
    assert built.split()[0] == final
    version = re.fullmatch(r"python:3\.(\d+)-slim", final)
    assert version
    assert int(version[1]) in range(11, 14)


def test_everything_installed_is_locked_by_hash():
    """One install of the lock by hash, one of Upwell itself, which fetches nothing."""
    installs = re.findall(r"(?<!un)install (-.*?)(?= &&|$)", "\n".join(of(BUILDER, "RUN")), re.MULTILINE)
    locked, own = installs
    assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(locked.split())
    assert locked.split()[-2:] == ["-r", "requirements-distributed.lock"]
    assert own.split() == ["--no-deps", "--no-build-isolation", "."]
    assert "PIP_NO_CACHE_DIR=1" in " ".join(of(BUILDER, "ENV"))


def test_nothing_to_build_with_is_in_the_final_image():
    """No compiler, no package manager of Python: neither the base's pip nor one in the copied environment."""
    runs = "\n".join(of(FINAL, "RUN"))
    assert not re.search(r"apt|apk|build-essential|gcc|pip install|curl|wget", runs)
    assert "pip uninstall --yes pip" in runs
    assert "--without-pip" in "\n".join(of(BUILDER, "RUN"))
    assert "uninstall --yes hatchling" in "\n".join(of(BUILDER, "RUN"))
    assert of(FINAL, "COPY") == ["--from=builder /opt/upwell /opt/upwell"]


def test_it_runs_as_an_ordinary_user_by_number():
    """Kubernetes can tell that a number is not root; a name it cannot."""
    (user,) = of(FINAL, "USER")
    uid, gid = map(int, user.split(":"))
    assert uid >= 10000
    assert gid == uid
    assert [word for word, _ in FINAL].index("USER") > max(at for at, (w, _) in enumerate(FINAL) if w == "RUN")
    assert f"--owner={uid} --group={gid}" in "\n".join(of(FINAL, "RUN"))


def test_it_starts_upwell_and_asks_for_its_health_where_it_answers():
    assert json.loads(of(FINAL, "ENTRYPOINT")[0]) == ["upwell"]
    assert of(FINAL, "EXPOSE") == [str(PORT)]
    check = of(FINAL, "HEALTHCHECK")[0]
    assert f"http://127.0.0.1:{PORT}/healthz" in check
    assert json.loads(check[check.index("[") :])[:2] == ["python", "-c"]


def test_the_health_check_is_python_that_fails_when_nobody_answers():
    check = of(FINAL, "HEALTHCHECK")[0]
    script = json.loads(check[check.index("[") :])[2].replace(f":{PORT}/", ":9/")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert "URLError" in done.stderr


def test_what_is_copied_exists_and_gets_past_dockerignore():
    """.dockerignore lets through what the image is made of, and nothing else."""
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert ignored[0] == "*"
    let_through = {line[1:] for line in ignored if line.startswith("!")}
    copied = {name for rest in of(BUILDER, "COPY") for name in rest.split()[:-1]}
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)
    assert not {PurePosixPath(name).parts[0] for name in copied} & {".git", ".venv", ".upwell", "tests"}
