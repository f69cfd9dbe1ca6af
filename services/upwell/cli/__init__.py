"""The command line. Nothing heavy is imported before a command needs it."""

import sys


def main() -> None:
    """The `upwell` command: run it and exit with its status (0 done, 1 failed, 2 usage, 130 interrupted)."""
    from upwell.cli.app import app
    from upwell.cli.errors import run

    sys.exit(run(app, sys.argv[1:]))
