"""Logs on the terminal: one line, no values of variables, nothing that a terminal obeys."""

import logging

import pytest

from upwell import logs
from upwell.cli.logs import LINE_LIMIT, configure


def fail(words):
    raise ValueError(f"unusable: {words}")


def log_failure():
    try:
        fail("drowssap"[::-1])
    except ValueError as e:
        logs.unexpected("try_again", e, why="the disk\x1b is full", attempts=3)


def test_a_failure_is_one_line_that_says_where_and_repeats_no_words(capsys):
    configure(debug=False)
    log_failure()
    err = capsys.readouterr().err
    assert err.startswith("error: try_again kind=ValueError where=test_cli_logs.py:")
    assert err.endswith("why=the disk␛ is full attempts=3\n")
    assert "password" not in err


def test_debug_adds_the_traceback(capsys):
    configure(debug=True)
    log_failure()
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "in fail" in err


def test_information_is_left_out(capsys):
    configure(debug=False)
    logs.LOGGER.info("published")
    assert capsys.readouterr().err == ""


def test_long_lines_are_cut(capsys):
    configure(debug=False)
    logs.warn("e", why="x" * 9000)
    assert len(capsys.readouterr().err) < LINE_LIMIT + 10


@pytest.mark.parametrize("name", ["mcp.server.transport_security", "uvicorn.error"])
def test_what_servers_repeat_of_a_stranger_s_request_steers_no_terminal(name, capsys):
    """The MCP library warns of a Host header in the words of whoever sent it."""
    configure(debug=False)
    logging.getLogger(name).warning("Invalid Host header: %s", "\x1b[31mred\nfake: line" + "x" * 9000)
    err = capsys.readouterr().err
    assert err.startswith("warning: Invalid Host header: ␛[31mred fake: line")
    assert err.count("\n") == 1
    assert len(err) < LINE_LIMIT + 10
