"""What an install rests on: the locks, the setup script, the wheel's content, and nothing of anybody's machine."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.lock", "requirements-distributed.lock", "requirements-dev.lock", "requirements-all.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()


def pins(lock):
    """`name==version ; marker` of each locked package."""
    return {line.rstrip(" \\") for line in (ROOT / lock).read_text().splitlines() if re.match(r"[a-z0-9]", line)}


def names(requirements):
    """Normalised names of requirements, extras and versions left off."""
    return {re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", text)[0]).lower() for text in requirements}


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_pin_and_hash_everything(lock):
    """Each package has one version and at least one hash; no line says where from."""
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--index" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[a-z0-9][a-z0-9.-]*==\S+", entry)
        assert "--hash=sha256:" in entry


def test_smaller_locks_are_parts_of_larger_ones():
    """Adding tools or extras to an environment never changes what is in it."""
    base, distributed, dev, everything = map(pins, LOCKS)
    assert base < distributed < dev < everything


def test_locks_cover_the_project():
    """Every dependency, extra and group that pyproject.toml names is in its lock: run `make lock`."""
    base, distributed, dev, everything = (names(pins(lock)) for lock in LOCKS)
    groups = PROJECT["dependency-groups"]
    assert names(PROJECT["project"]["dependencies"]) | names(groups["build"]) <= base
    assert names(groups["dev"]) <= dev
    extras = PROJECT["project"]["optional-dependencies"]
    assert names(extras["distributed"]) | names(extras["s3"]) <= distributed
    for extra, wanted in extras.items():
        assert names(wanted) <= everything, extra


def test_no_gpu_stack_is_locked():
    """Seven gigabytes came with the full docling package; they must not come back by another way."""
    heavy = re.compile(r"^(torch|nvidia|triton|onnxruntime-gpu|docling$|tensorflow)")
    assert not [name for lock in LOCKS for name in names(pins(lock)) if heavy.match(name)]


def test_every_target_says_what_it_does():
    """`make` lists all targets, and none is taken for a file."""
    targets = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
    phony = set(re.search(r"^\.PHONY: (.*)", MAKEFILE, re.MULTILINE)[1].split())
    assert targets == phony
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True, env=make_free()).stdout
    assert {line.split()[1] for line in listed.splitlines()} == targets


def test_commands_that_the_documents_name_exist():
    """Each `make x` in README.md and .ci/run is a target."""
    for text in ((ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()):
        named = set(re.findall(r"\bmake ([a-z0-9-]+)\b", re.sub(r"<!--.*?-->", "", text)))
        assert {name for name in named if f"\n{name}:" in MAKEFILE} >= named & {"setup", "setup-all", "demo", "test"}
        assert named


def test_nothing_of_this_machine_is_committed():
    """No file holds the path of the checkout or of somebody's home."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    patterns = [arg for path in {f"{ROOT}/", f"{Path.home()}/"} for arg in ("-e", path)]
    found = subprocess.run(["git", "grep", "-nIF", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stdout


def make_free():
    """The environment without what an outer make passes down."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


@pytest.fixture
def checkout(tmp_path):
    """A folder with the setup script and empty locks, and a PATH that has the usual tools but no Python."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.sh", tmp_path / "tools")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "requirements.lock").write_text("")
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "basename", "cat", "cksum", "tail", "grep"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    return tmp_path


def setup(checkout, lock="requirements.lock"):
    """Status and standard error of the setup script."""
    done = subprocess.run(
        ["tools/setup.sh", lock],
        cwd=checkout,
        env={"PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def python(checkout, name, before):
    """A real interpreter on the PATH, in a world that `before` has changed."""
    script = checkout / "bin" / name
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{before}; exec(__import__(\'sys\').argv[1])" "$2"\n')
    script.chmod(0o755)


# sysconfig reads a file named after the platform, once: let it find the real one first.
PLATFORM = "import sys, platform, sysconfig; sysconfig.get_config_vars(); sys.platform ="


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("import sys; sys.version_info = (3, 9, 1, 'final', 0)", "python3 is 3.9, and 3.11, 3.12 or 3.13 is needed"),
        ("import sys; sys.modules['ensurepip'] = None", "lacks venv (on Debian and Ubuntu: apt-get install python3."),
        (f"{PLATFORM} 'win32'", "runs on win32, and Linux or macOS is needed"),
        (f"{PLATFORM} 'linux'; platform.machine = lambda: 'riscv64'", "runs on riscv64"),
        (f"{PLATFORM} 'linux'; platform.libc_ver = lambda: ('', '')", "without glibc 2.28"),
        (f"{PLATFORM} 'darwin'; platform.machine = lambda: 'x86_64'", "is for Intel"),
        (
            f"{PLATFORM} 'darwin'; platform.machine = lambda: 'arm64'; platform.mac_ver = lambda: ('13.6', (), '')",
            "runs on macOS 13.6, and macOS 14 or newer is needed",
        ),
    ],
)
def test_setup_says_in_one_line_what_is_wrong(checkout, before, words):
    """A Python, venv or platform that will not do ends in one line and status 1, before anything is made."""
    python(checkout, "python3", before)
    status, said = setup(checkout)
    assert status == 1
    assert words in said
    assert said.count("\n") == 1
    assert not (checkout / ".venv").exists()


def test_setup_without_python(checkout):
    """No Python at all: what to install."""
    assert setup(checkout) == (1, "setup: install Python 3.11, 3.12 or 3.13 with venv\n")
    assert setup(checkout, "other.lock") == (1, "setup: other.lock is missing\n")


def test_wheel_holds_what_the_demo_and_the_model_need(tmp_path):
    """An installed package works alone: the tokenizer with its notice, the sample folder, the licence, typing."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert {"upwell/py.typed", "upwell/embed/minilm/tokenizer.json", "upwell/embed/minilm/NOTICE"} <= inside
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in inside)
    committed = {path.relative_to(ROOT / "services").as_posix() for path in sample_files()}
    assert committed <= inside
    assert not [name for name in inside if not name.startswith("upwell")]


def sample_files():
    """Every file of the sample folder, access files included."""
    return [
        path
        for path in (ROOT / "services/upwell/sample").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
