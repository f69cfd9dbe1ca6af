"""Logs of a command: one plain line each on standard error, by the same filter as everything else printed there."""

import logging
import traceback

from upwell.cli.output import note
from upwell.cli.text import snippet
from upwell.logs import LOGGER, line_of

LINE_LIMIT = 600
SERVERS = ("mcp", "uvicorn")
"""Libraries that speak to strangers, and repeat in their warnings what these have sent."""


class Lines(logging.Handler):
    """Prints each record as a line; with `debug` the traceback too (which never holds values of variables)."""

    def __init__(self, *, debug: bool) -> None:
        super().__init__()
        self._debug = debug

    def emit(self, record: logging.LogRecord) -> None:
        note(snippet(line_of(record), LINE_LIMIT))
        if self._debug and record.exc_info and record.exc_info[1] is not None:
            note("".join(traceback.format_exception(record.exc_info[1])))


def configure(*, debug: bool) -> None:
    """Warnings and worse as lines; with `debug` everything of ours, and tracebacks."""
    LOGGER.handlers[:] = [Lines(debug=debug)]
    LOGGER.setLevel(logging.DEBUG if debug else logging.WARNING)
    LOGGER.propagate = False
    for name in SERVERS:
        logging.getLogger(name).handlers[:] = [Lines(debug=False)]
