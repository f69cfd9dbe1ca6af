"""The reference and the worlds of tests/property serve here, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "property"))
