"""Logs of a command: one plain line each on standard error, through the same filter as everything else printed there.

structlog's own default prints the values of local variables beside a traceback; those can be a document's words.
"""

import logging
import traceback
from collections.abc import MutableMapping
from typing import Any, NoReturn

import structlog
from structlog.typing import ExcInfo

from upwell.cli.output import note
from upwell.cli.text import snippet

VALUE_LIMIT = 300


def configure(*, debug: bool) -> None:
    """Warnings and worse as lines; with `debug` everything, and tracebacks (never with values of variables)."""
    level = logging.DEBUG if debug else logging.WARNING

    def write(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> NoReturn:
        note(line_of(event))
        if debug and (trace := _trace(event.get("exc_info"))):
            note(trace)
        raise structlog.DropEvent

    structlog.configure(
        processors=[structlog.processors.add_log_level, write],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )


def line_of(event: MutableMapping[str, Any]) -> str:
    """`warning: try_again attempts=3 why='the disk is full'`."""
    named = {k: v for k, v in event.items() if k not in {"event", "level", "exc_info"}}
    values = "".join(f" {key}={snippet(str(value), VALUE_LIMIT)!r}" for key, value in named.items())
    return f"{event.get('level', 'warning')}: {event.get('event', '')}{values}"


def _trace(exc_info: ExcInfo | BaseException | bool | None) -> str:
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    if isinstance(error, BaseException):
        return "".join(traceback.format_exception(error))
    return traceback.format_exc() if error else ""
