"""The one place that writes: JSON or a view on standard output; notes, progress and errors on standard error."""

import io
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
import typer

from upwell.cli.text import safe
from upwell.records import JSON_ENCODER

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PLAIN_WIDTH = 120
# JSON leaves these as they are, and a terminal would obey them; inside a JSON string an escape means the same.
RISKY = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def console(stream: TextIO) -> "Console":
    """A console that takes texts literally: no markup, no emoji codes, no guessing at highlights."""
    from rich.console import Console

    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)


def as_json(answer: Any) -> str:
    """`answer` as one indented JSON document that is safe to show on a terminal."""
    text = msgspec.json.format(JSON_ENCODER.encode(answer), indent=2).decode()
    return RISKY.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def emit(answer: Any, view: "RenderableType | None" = None) -> None:
    """Print `view` for a person, or without one `answer` as JSON. A reader that has gone away is no error."""
    try:
        if view is None:
            sys.stdout.buffer.write(as_json(answer).encode() + b"\n")
        else:
            with suppress(AttributeError):  # a captured stream keeps its own error handling
                sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
            _show(view)
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        raise typer.Exit(0) from None


def write(text: str) -> None:
    """Print `text` byte for byte, for a file or another program; made safe where a terminal would obey it."""
    try:
        sys.stdout.buffer.write((safe(text) if sys.stdout.isatty() else text).encode())
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        raise typer.Exit(0) from None


def _show(view: "RenderableType") -> None:
    if sys.stdout.isatty():
        console(sys.stdout).print(view)
        return
    page = io.StringIO()  # for a pipe or a file without the blanks that fill a terminal's lines
    console(page).print(view)
    sys.stdout.write("".join(line.rstrip() + "\n" for line in page.getvalue().splitlines()))


def note(text: str) -> None:
    """A line for a person on standard error."""
    try:
        sys.stderr.write(safe(text).encode(errors="replace").decode() + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Point a broken stream at nothing, so that the interpreter's last flush stays quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
