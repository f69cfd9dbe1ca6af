"""The process edge: every way a command can end becomes an exit status and at most one line on standard error."""

import os
import sys
import traceback
from collections.abc import Sequence

import typer

from upwell.cli.output import note, silence
from upwell.cli.text import safe_line
from upwell.errors import Misconfigured, UpwellError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
UsageError = typer.BadParameter.__bases__[0]  # typer brings its own click and exports only the leaves of its errors
ClickError = UsageError.__bases__[0]
EXTRA_OF = {
    **dict.fromkeys(("aiohttp", "aiokafka", "faust", "kafka", "psycopg"), "distributed"),
    "s3fs": "s3",
}
"""Which extra brings a module that the smallest installation lacks."""


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status: 0 done, 1 failed, 2 usage or Misconfigured, 130 interrupted."""
    try:
        status = typer.main.get_command(app).main(list(arguments), prog_name="upwell", standalone_mode=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
        return 0
    except typer.Abort:
        note("upwell: not confirmed; nothing was done")
        return FAILED
    except Exception as e:  # noqa: BLE001  the edge: whatever comes, one line and a status
        return _report(e)
    return status if isinstance(status, int) else 0


def _report(error: Exception) -> int:
    if debug_wanted():
        traceback.print_exception(error)
    if isinstance(error, ClickError):
        note(f"upwell: {_usage(error)}")
        return USAGE
    if isinstance(error, Misconfigured):
        note(f"upwell: {safe_line(str(error))}")
        return USAGE
    if isinstance(error, UpwellError):
        note(f"upwell: {safe_line(str(error))}")
        return FAILED
    if isinstance(error, ModuleNotFoundError) and (extra := EXTRA_OF.get((error.name or "").partition(".")[0])):
        note(f"upwell: the extra {extra} is not installed: make setup-distributed, or pip install 'upwell[{extra}]'")
        return USAGE
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        note(f"upwell: {safe_line(error.strerror + where)}; run with UPWELL_DEBUG=1 to see where")
        return FAILED
    note(f"upwell: internal error ({type(error).__name__}); run with UPWELL_DEBUG=1 to see it, and report it")
    return FAILED


def _usage(error: Exception) -> str:
    text = safe_line(error.format_message() if hasattr(error, "format_message") else str(error)).rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "upwell"
    return f"{text}; see {path} --help"


def debug_wanted() -> bool:
    """Read here and not in config.py, since an error of config.py must be seen too."""
    return os.environ.get("UPWELL_DEBUG", "0") not in ("", "0")
