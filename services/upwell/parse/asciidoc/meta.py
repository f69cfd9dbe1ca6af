"""The attributes of a block or a macro in AsciiDoc, `[style#id.role%option,second,name=value]`.

https://docs.asciidoctor.org/asciidoc/latest/attributes/positional-and-named-attributes/
"""

import re
from typing import NamedTuple

LINE = re.compile(r"\[(?:|[\w.#%{,\"'*].*|\[(?:|[^\W\d][\w\-:.]*(?:, *.+)?)\])\]$")
PART = re.compile(
    r"\s*+(?:([A-Za-z_][\w-]*+)\s*+=\s*+)?(?:\"((?:\\.|[^\"\\])*+)\"\s*+|'((?:\\.|[^'\\])*+)'\s*+|([^,]*+))(?:,|$)"
)
SHORT = re.compile(r"([#.%])([^#.%]*)")
MOST_NAMED = 50  # of the lines above the last one before a block


class Meta(NamedTuple):
    """What was said of a block before it. `anchor` is its id."""

    positional: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    anchor: str = ""

    @property
    def style(self) -> str:
        """The first word, in small letters; admonitions are written in capitals and stay so."""
        return SHORT.split(self.positional[0], maxsplit=1)[0].strip() if self.positional else ""

    def get(self, name: str, at: int | None = None) -> str:
        """The value of this name, or what stands at this place; nothing where neither is there."""
        found = next((value for key, value in reversed(self.named) if key == name), "")
        return found or (self.positional[at] if at is not None and at < len(self.positional) else "")

    @property
    def options(self) -> frozenset[str]:
        """Those behind `%` and those that are listed."""
        short = [word for sign, word in SHORT.findall(self.positional[0]) if sign == "%"] if self.positional else []
        return frozenset(short) | frozenset(re.split(r"[,\s]+", f"{self.get('options')},{self.get('opts')}"))

    def joined(self, other: "Meta") -> "Meta":
        """With what the next line says of the same block."""
        named = (*self.named[-MOST_NAMED:], *other.named)
        return Meta(other.positional or self.positional, named, other.anchor or self.anchor)


def meta_of(inside: str) -> Meta:
    """What stands within the brackets of a block's attributes or a macro's."""
    if inside.startswith("[") and inside.endswith("]"):
        return Meta(anchor=inside[1:-1].partition(",")[0].strip())
    positional: list[str] = []
    named: list[tuple[str, str]] = []
    at = 0
    while at < len(inside) and (found := PART.match(inside, at)) is not None:
        name, double, single, bare = found.groups()
        quoted = double if double is not None else single
        value = re.sub(r"\\([\"'])", r"\1", quoted) if quoted is not None else bare.strip()
        if name:
            named.append((name, value))
        else:
            positional.append(value)
        at = found.end()
    anchor = next((word for sign, word in SHORT.findall(positional[0]) if sign == "#"), "") if positional else ""
    return Meta(tuple(positional), tuple(named), anchor or next((value for key, value in named if key == "id"), ""))
