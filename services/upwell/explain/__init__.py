"""How files would be parsed, chunked and prefixed, with nothing written: what `upwell explain` shows."""

import json
from pathlib import Path
from typing import Any

from upwell.errors import Rejected
from upwell.explain.coverage import Coverage, coverage
from upwell.explain.page import page
from upwell.parse.confined.sandbox import SandboxPreparer
from upwell.parse.drawn import Drawings
from upwell.parse.explanation import unparsed
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import DEFAULT_POLICY, ParsePolicy
from upwell.records import ParsedDocument, ParseStatus

__all__ = ["FAILURES", "Coverage", "Explainer", "coverage", "page"]

FAILURES = frozenset({"parser_crashed", "unreadable"})
"""Statuses of a file that says nothing of it: its parser ended, or it may not be read."""


class Explainer:
    """Looks at one file after the other in a confined child; close it."""

    def __init__(
        self, embedder: str = "minilm", limits: Limits = DEFAULT_LIMITS, policy: ParsePolicy = DEFAULT_POLICY
    ) -> None:
        self._preparer = SandboxPreparer(embedder, embedder, workers=1, limits=limits, policy=policy)

    def explain(self, path: Path) -> dict[str, Any]:
        """The document as a JSON-able object: blocks, chunks, drops with reasons, children.

        A file that its parser crashes on, or that may not be read, is one with that `status` and the reason. Raises
        Retryable (the file is gone, no child could be started) and Misconfigured (no such embedder).
        """
        try:
            explained: dict[str, Any] = json.loads(self._preparer.explain(path.resolve(), path.name))
        except Rejected as e:
            nothing = unparsed(ParsedDocument(status=ParseStatus.CORRUPT, reason=e.detail))
            explained = {**nothing, "status": str(e.reason)}
        return explained

    def draw(self, path: Path) -> Drawings:
        """A PDF's pages as pictures, of anything else none. Raises as `explain` does."""
        try:
            return self._preparer.draw(path.resolve(), path.name)
        except Rejected as e:
            return Drawings(left_out=f"the pages are not drawn: {e.detail}")

    def close(self) -> None:
        """End the child."""
        self._preparer.close()
