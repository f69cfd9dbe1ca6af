"""What asks the parsers' children loads no parser itself: neither their weight nor their faults belong there."""

import subprocess
import sys


def test_who_asks_a_child_loads_no_parser():
    parsers = ("upwell.parse.route", "upwell.parse.drawing", "lxml", "markdown_it", "pypdfium2", "PIL")
    code = f"import sys, upwell.parse.confined.sandbox; print([m for m in {parsers} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
