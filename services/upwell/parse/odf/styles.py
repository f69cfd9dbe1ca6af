"""The styles of an OpenDocument file: what a style is based on, its name, whether it hides its words."""

from typing import Any

from upwell.parse.office.package import attribute, local
from upwell.parse.office.styles import heading_level, kind_of_style
from upwell.records import Kind

LONGEST_CHAIN = 20


class Styles:
    """Looks a style up through those that it is based on, as far as LONGEST_CHAIN."""

    def __init__(self, *roots: Any) -> None:
        self._parent: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._hidden: set[str] = set()
        self._bold: set[str] = set()
        for root in roots:
            for style in () if root is None else root.iter("{*}style"):
                self._add(style)

    def _add(self, style: Any) -> None:
        name = attribute(style, "name") or ""
        self._parent[name] = attribute(style, "parent-style-name") or ""
        self._shown[name] = attribute(style, "display-name") or name.replace("_20_", " ")
        for properties in style:
            kind = local(properties)
            if kind == "text-properties":
                if attribute(properties, "display") == "none":
                    self._hidden.add(name)
                if attribute(properties, "font-weight") == "bold":
                    self._bold.add(name)
            elif kind in {"table-properties", "drawing-page-properties"} and (
                attribute(properties, "display") == "false" or attribute(properties, "visibility") == "hidden"
            ):
                self._hidden.add(name)

    def _chain(self, name: str | None) -> list[str]:
        chain: list[str] = []
        while name and len(chain) < LONGEST_CHAIN:
            chain.append(name)
            name = self._parent.get(name)
        return chain

    def hidden(self, name: str | None) -> bool:
        return any(style in self._hidden for style in self._chain(name))

    def bold(self, name: str | None) -> bool:
        return any(style in self._bold for style in self._chain(name))

    def heading(self, name: str | None) -> int | None:
        """A heading's level, 0 for the title's, of a style or the nearest that it is based on."""
        levels = (heading_level(self._shown.get(style, style.replace("_20_", " "))) for style in self._chain(name))
        return next((level for level in levels if level is not None), None)

    def kind(self, name: str | None) -> Kind | None:
        for style in self._chain(name):
            if kind := kind_of_style(self._shown.get(style, style.replace("_20_", " "))):
                return kind
            if self._parent.get(style, "") == "Caption" or style in {"Illustration", "Drawing", "Table", "Text"}:
                return Kind.CAPTION
        return None
