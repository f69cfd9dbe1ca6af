"""The reference and the worlds of tests/property serve here, and the installed command of tests/e2e."""

import sys
from pathlib import Path

for folder in ("property", "e2e"):
    sys.path.append(str(Path(__file__).parents[1] / folder))
