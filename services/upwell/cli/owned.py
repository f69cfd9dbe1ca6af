"""A process that somebody keeps ends with them: the keeper holds its standard input open, and cannot fail to let go."""

import os
import signal
import sys
import threading
from typing import Annotated

import typer

Owned = Annotated[bool, typer.Option("--owned", hidden=True, help="End when standard input is closed.")]


def end_with_owner() -> None:
    """From now on this process gets SIGTERM once its standard input is closed."""
    threading.Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    while os.read(sys.stdin.fileno(), 1024):  # not by the buffer, whose lock would fail the interpreter at its end
        pass
    os.kill(os.getpid(), signal.SIGTERM)
