"""How a file would be parsed, chunked and prefixed, with nothing written: `python -m upwell.explain FILE`."""

import json
import sys
from pathlib import Path
from typing import Any

from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.sandbox import SandboxPreparer


def explain(path: Path, embedder: str = "minilm", limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """The document as a JSON-able object (blocks, chunks, drops with reasons), parsed in a confined child.

    Raises Rejected (`parser_crashed`, `unreadable`), Retryable (the file is gone), Misconfigured (no such embedder).
    """
    preparer = SandboxPreparer(embedder, embedder, workers=1, limits=limits)
    try:
        explained: dict[str, Any] = json.loads(preparer.explain(path, path.name))
    finally:
        preparer.close()
    return explained


if __name__ == "__main__":
    print(json.dumps(explain(Path(sys.argv[1])), ensure_ascii=False))
