"""Logs: an event with named values, on the logger `upwell`; whoever runs the process decides where lines go.

Values are identifiers and numbers, never a document's words, a query or a secret.
"""

import logging
import traceback

LOGGER = logging.getLogger("upwell")


def warn(event: str, **values: object) -> None:
    """Something went wrong that is tried again or reported elsewhere."""
    LOGGER.warning(event, extra={"values": values})


def unexpected(event: str, error: BaseException, **values: object) -> None:
    """An error that nobody foresaw: its kind and place, not what it says, for that may be a document's words."""
    named = {"kind": type(error).__name__, "where": where(error), **values}
    LOGGER.error(event, extra={"values": named}, exc_info=error)


def line_of(record: logging.LogRecord) -> str:
    """`warning: try_again attempts=3 why=the disk is full`."""
    values = getattr(record, "values", {})
    return " ".join([f"{record.levelname.lower()}: {record.getMessage()}", *(f"{k}={v}" for k, v in values.items())])


def where(error: BaseException) -> str:
    """Where an error was raised, as `module.py:line`."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "?"
