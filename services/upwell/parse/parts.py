"""How a reader hands on what it finds inside a document."""

from collections.abc import Callable

from upwell.records import ParsedDocument

ParseChild = Callable[[bytes, str, str | None], ParsedDocument]
"""Bytes, name and claimed media type of a part to what it is: never raises for what it holds."""
