"""What a shell sees: speed, pipes, environment."""

import shutil
import subprocess
import time

import pytest
from command import PROGRAM

pytestmark = pytest.mark.e2e


def test_help_is_quick(upwell):
    """Half a second is the promise; the bound is generous, for busy machines. Heavy imports would break it too."""
    times = []
    for _ in range(3):
        start = time.monotonic()
        upwell("--help")
        times.append(time.monotonic() - start)
    assert min(times) < 1.0


def test_search_from_a_cold_shell_is_quick(upwell):
    """Three seconds is the promise, the bound generous."""
    upwell("ingest", upwell.write({"a.md": "Larch dries slowly."}))
    start = time.monotonic()
    upwell("search", "larch")
    assert time.monotonic() - start < 10


def test_help_imports_nothing_heavy(upwell):
    code = "import sys; from upwell.cli import main; sys.argv[1:] = ['--help']\ntry: main()\nexcept SystemExit: pass\nprint(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [PROGRAM.parent / "python", "-c", code],
        cwd=upwell.home,
        env=upwell.env,
        capture_output=True,
        text=True,
        check=True,
    )
    for heavy in (
        "rich.",
        "numpy",
        "docling",
        "fastembed",
        "qdrant",
        "pydantic",
        "sqlalchemy",
        "onnxruntime",
        "structlog",
    ):
        assert f"'{heavy}" not in done.stderr


@pytest.mark.parametrize("command", ["ingest", "run"])
def test_an_embedder_that_is_not_there_stops_the_command_with_one_line(upwell, command):
    said = upwell(command, upwell.write({"a.md": "Larch dries slowly."}), "--embedder", "nosuch", status=2).stderr
    assert said.startswith("upwell: embedder nosuch: ")
    assert len(said.splitlines()) == 1


def test_a_reader_that_goes_away_is_no_error(upwell):
    upwell("ingest", upwell.write({f"{n}.md": f"Larch number {n} dries slowly. " * 40 for n in range(30)}))
    with subprocess.Popen(
        [PROGRAM, "search", "larch", "-k", "100", "--json"],
        cwd=upwell.home,
        env=upwell.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_the_lake_can_be_named_in_the_environment(upwell):
    docs = upwell.write({"a.md": "Larch dries slowly."})
    upwell("ingest", docs, UPWELL_LAKE="elsewhere")
    assert (upwell.home / "elsewhere").is_dir()
    assert not (upwell.home / ".upwell").exists()
    assert upwell.found("larch", "--lake", "elsewhere") == {"a.md"}


def test_a_lake_refuses_another_embedder(upwell):
    docs = upwell.write({"a.md": "Larch dries slowly."})
    upwell("ingest", docs)
    refused = upwell("ingest", docs, "--embedder", "minilm", status=2)
    assert "hash" in refused.stderr


def test_the_hash_embedder_says_that_it_is_for_tests(upwell):
    done = upwell("ingest", upwell.write({"a.md": "Larch."}), "--embedder", "hash")
    assert "test" in done.stderr


def test_an_unknown_document_is_one_line(upwell):
    upwell("ingest", upwell.write({"a.md": "Larch."}))
    done = upwell("show", "b.md", status=1)
    assert "b.md" in done.stderr
    assert done.stderr.count("\n") == 1


def test_hostile_names_and_words_reach_no_terminal(upwell):
    upwell("ingest", upwell.write({"a\x1b[31m.md": "# Red \x1b]0;owned\x07 title\n\nLarch \x9b2J dries."}))
    for words in (["search", "larch"], ["search", "larch", "--json"], ["status"], ["dead", "list"]):
        out = upwell(*words).stdout
        assert not {"\x1b", "\x07", "\x9b"} & set(out)


@pytest.mark.parametrize(
    ("part", "damage", "word"),
    [
        ("registry.sqlite", "remove", "has lost its registry"),
        ("registry.sqlite", "empty", "has lost its registry"),
        ("registry.sqlite", "garbage", "the registry is damaged"),
        ("events.sqlite", "garbage", "the event log is damaged"),
        ("events.sqlite", "cut", "the event log is damaged"),
        ("store", "remove", "has lost its vectors"),
    ],
)
def test_a_lake_that_lost_a_part_says_so_and_never_answers_as_if_it_were_empty(upwell, part, damage, word):
    docs = upwell.write({"a.md": "Larch dries slowly."})
    upwell("ingest", docs)
    path = upwell.home / ".upwell" / part
    if path.is_dir():
        shutil.rmtree(path)
    elif damage == "remove":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "garbage": b"no database", "cut": path.read_bytes()[:5000]}[damage])
    for words in (("search", "larch"), ("status",), ("show", "a.md"), ("ingest", docs)):
        said = upwell(*words, status=2).stderr
        assert word in said
        assert len(said.splitlines()) == 1
