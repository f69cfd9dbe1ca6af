"""Logs: lines on standard error, with keys and no document's words, no values of variables, no secrets."""

import logging
import sys
import traceback

import structlog


def configure(level: str = "warning") -> None:
    """Send every log line of this process to standard error, from `level` up."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def where(error: BaseException) -> str:
    """Where an error was raised, as `module.py:line`: enough to find it, and nothing that a document said."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "?"
