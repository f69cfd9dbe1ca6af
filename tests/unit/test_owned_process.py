"""A kept process ends with its keeper, however the keeper ends."""

import signal
import subprocess
import sys

KEPT = "import signal; from upwell.cli.owned import end_with_owner; end_with_owner(); print('up', flush=True); signal.pause()"


def test_it_gets_sigterm_once_its_standard_input_is_closed():
    kept = subprocess.Popen([sys.executable, "-c", KEPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert kept.stdout.readline() == b"up\n"
        assert kept.poll() is None
        kept.stdin.close()
        assert kept.wait(60) == -signal.SIGTERM
    finally:
        kept.kill()
        kept.wait()
        kept.stdout.close()
