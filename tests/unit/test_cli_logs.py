"""Logs on the terminal: one line, no values of variables, nothing that a terminal obeys."""

import pytest
import structlog

from upwell.cli.logs import configure, line_of


@pytest.fixture(autouse=True)
def restored():
    yield
    structlog.reset_defaults()


def fail(words):
    raise ValueError("unusable")


def log_failure():
    try:
        fail("drowssap"[::-1])
    except ValueError:
        structlog.get_logger("upwell.test").exception("try_again", why="the disk\x1b is full", attempts=3)


def test_a_failure_is_one_line_without_traceback(capsys):
    configure(debug=False)
    log_failure()
    assert capsys.readouterr().err == "error: try_again why='the disk␛ is full' attempts='3'\n"


def test_debug_adds_the_traceback_but_no_values(capsys):
    configure(debug=True)
    log_failure()
    err = capsys.readouterr().err
    assert "ValueError: unusable" in err
    assert "password" not in err


def test_information_is_left_out(capsys):
    configure(debug=False)
    structlog.get_logger("upwell.test").info("published")
    assert capsys.readouterr().err == ""


def test_long_values_are_cut():
    assert len(line_of({"event": "e", "level": "warning", "why": "x" * 9000})) < 400
