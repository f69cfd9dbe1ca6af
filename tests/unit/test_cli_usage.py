"""The edge: every way to end is an exit status and one line on standard error."""

import json
import sys

import pytest
import typer

from upwell.cli import main
from upwell.cli.app import app
from upwell.cli.errors import run
from upwell.errors import Misconfigured, Reason, Rejected, Retryable


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["sarch", "x"], "Did you mean 'search'"),
        (["search"], "Missing argument 'QUERY'"),
        (["search", "x", "--bogus"], "No such option"),
        (["search", "x", "-k", "0"], "-k"),
        (["search", "x", "--as", "usr:ana"], "--as 'usr:ana'"),
        (["search", "x", "--as", ""], "--as"),
        (["search", "x", "--config", "missing.toml"], "--config missing.toml"),
        (["ingest", "missing"], "missing: no such folder"),
        (["run", "file"], "file: is not a folder"),
        (["ingest", "taken", "--tenant", ""], "a name is missing or unreadable"),
        (["ingest", "taken", "--source", "a\nb"], "a name is missing or unreadable"),
        (["ingest", "taken", "--lake", "taken"], "lies in the lake"),
        (["run", "taken/inner", "--lake", "taken"], "lies in the lake"),
        (["explain", "missing.pdf"], "missing.pdf: no such file"),
        (["explain", "file", "missing.pdf"], "missing.pdf: no such file"),
        (["explain", "taken"], "taken: is not a file"),
        (["explain", "\udcff"], "UTF-8"),
        (["explain", "file", "--embedder", "nosuch"], "embedder nosuch"),
        (["explain", "file", "--html", "none/page.html"], "its folder does not exist"),
        (["explain", "file", "--html", "taken"], "is a folder"),
        (["explain", "file", "--html", "file"], "is a document to explain"),
        (["status", "--watch", "--json"], "--watch and --json"),
        (["erase", "a.md"], "--yes"),
        (["erase", "a.md", "--json"], "--yes"),
        (["erase"], "erase what"),
        (["erase", "--source", "wiki"], "--yes"),
        (["erase", "--tenant", "acme", "--json"], "--yes"),
        (["erase", "a.md", "--doc", "b.md", "--yes"], "two documents"),
        (["erase", "a.md", "--with-documents"], "--principal"),
        (["erase", "a.md", "--principal", "ana"], "leave DOC"),
        (["erase", "--principal", "usr:ana"], "--principal 'usr:ana'"),
        (["verify", "missing.json"], "missing.json"),
        (["verify", "file", "--key", "file"], "not a JWK Set"),
        (["show", "\udcff"], "UTF-8"),
        (["demo", "--dir", "taken"], "taken: exists"),
        (["dead", "show", "seven"], "ID"),
        (["dead", "list", "--since", "yesterday"], "length of time"),
        (["dead", "list", "--limit", "0"], "--limit"),
        (["dead", "discard"], "say which"),
        (["dead", "discard", "--limit", "3", "--dry-run"], "say which"),
        (["dead", "discard", "--all", "--reason", "corrupt"], "--all"),
        (["dead", "replay", "7", "--all"], "--all"),
    ],
)
def test_wrong_usage_is_one_line_and_status_two(words, hint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "inner").mkdir(parents=True)
    (tmp_path / "taken" / "work.txt").touch()
    assert run(app, words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("upwell: ")
    assert err.count("\n") == 1
    assert hint in err


def test_no_command_shows_the_help_as_a_usage_error(capsys):
    assert run(app, []) == 2
    assert run(app, ["dead"]) == 2
    assert "replay" in capsys.readouterr().err


def test_the_version_is_one_json_document(capsysbinary):
    assert run(app, ["version", "--json"]) == 0
    assert set(json.loads(capsysbinary.readouterr().out)) == {"version", "python", "platform"}


def failing(error):
    """An application with one command, which raises."""
    small = typer.Typer(rich_markup_mode=None)

    @small.command()
    def fail():
        raise error

    return small


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (Misconfigured("setting x: no such model"), 2, "upwell: setting x: no such model"),
        (Retryable("the lake is busy"), 1, "upwell: the lake is busy"),
        (Rejected(Reason.CORRUPT, "not a PDF\nat all"), 1, "upwell: not a PDF at all"),
        (FileNotFoundError(2, "No such file or directory", "a\x1bb"), 1, "upwell: No such file or directory: a␛b; run"),
        (
            ModuleNotFoundError("No module", name="kafka.errors"),
            2,
            "upwell: the extra distributed is not installed: make",
        ),
        (
            ModuleNotFoundError("No module", name="surprise"),
            1,
            "upwell: internal error (ModuleNotFoundError); run with",
        ),
        (ZeroDivisionError("secret words of a document"), 1, "upwell: internal error (ZeroDivisionError); run with"),
        (typer.Exit(7), 7, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_every_error_ends_as_a_status_and_at_most_a_line(error, status, line, capsys, monkeypatch):
    monkeypatch.delenv("UPWELL_DEBUG", raising=False)
    assert run(failing(error), []) == status
    err = capsys.readouterr().err
    assert err.startswith(line)
    assert err.count("\n") == bool(line)
    assert "secret" not in err


def test_debug_shows_the_traceback(capsys, monkeypatch):
    monkeypatch.setenv("UPWELL_DEBUG", "1")
    assert run(failing(ZeroDivisionError("here")), []) == 1
    assert "Traceback" in capsys.readouterr().err


class Interrupting:
    """Finds no module: an interrupt comes when the command line's own is asked for."""

    def find_spec(self, name, _path, _target=None):
        if name == "upwell.cli.app":
            raise KeyboardInterrupt


def test_an_interrupt_during_the_imports_is_status_130_without_a_traceback(monkeypatch):
    monkeypatch.delitem(sys.modules, "upwell.cli.app")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
