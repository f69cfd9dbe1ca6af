"""The command line. Nothing heavy is imported before a command needs it."""

import sys


def main() -> None:
    """The `upwell` command: run it and exit with its status (0 done, 1 failed, 2 usage, 130 interrupted)."""
    try:
        from upwell.cli.app import app
        from upwell.cli.errors import run
    except KeyboardInterrupt:  # the imports take a moment, and an interrupt in it is no reason for a traceback
        sys.exit(130)
    sys.exit(run(app, sys.argv[1:]))
