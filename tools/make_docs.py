"""Write docs/commands.md from the commands themselves.

python tools/make_docs.py            write it
python tools/make_docs.py --check    exit with status 1 if the committed file differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from upwell.cli.app import app

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"
WIDTH = 100
HEAD = """# Commands

Generated from the commands by `tools/make_docs.py`; a test keeps it current. Exit status: 0 done, 1 failed, 2 wrong
usage or a wrong setting, 130 interrupted. With `--json` standard output holds one JSON document and nothing else;
progress, notes and errors go to standard error. `UPWELL_DEBUG=1` shows where an error came from.
"""


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each command with its full name, groups included, in the order of the help."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, f"{path} {name}")


def commands() -> list[tuple[str, Any]]:
    """Every command of the application."""
    return list(walk(typer.main.get_command(app), "upwell"))


def help_of(command: Any, path: str) -> str:
    """The text of `--help`, as a terminal of WIDTH columns shows it."""
    names = ["-h", "--help"]
    context = command.make_context(
        path, [], resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=names
    )
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def page() -> str:
    """The whole page."""
    sections = [f"## {path}\n\n```text\n{help_of(command, path)}\n```\n" for path, command in commands()]
    return "\n".join([HEAD, *sections])


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        current = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text
        if not current:
            print("docs/commands.md is not current; run python tools/make_docs.py", file=sys.stderr)
        return 0 if current else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
