"""The lines below an AsciiDoc document's title: who wrote it, which revision it is.

https://docs.asciidoctor.org/asciidoc/latest/document/header/
"""

import re
from collections.abc import Sequence

from upwell.parse.asciidoc.attributes import Attributes

AUTHOR = re.compile(r"([^\s<;]+)(?: +([^\s<;]+))?(?: +([^\s<;]+))? *(?:<([^<>]*)>)?")
REVISION = re.compile(r"(?:v?(\d[^\s,:]*))?,? *([^:]*?)(?:: *(.*))?")


def header_of(title: str, lines: Sequence[str], attributes: Attributes) -> None:
    """Give the names that title, authors and revision have; the first author's without a number."""
    attributes.set("doctitle", title)
    for number, part in enumerate(lines[0].split(";") if lines else []):
        found = AUTHOR.fullmatch(part.strip())
        if found is None or number > 9:
            break
        after = f"_{number + 1}" if number else ""
        names = [name.replace("_", " ") for name in found.groups()[:3] if name]
        for name, value in (("author", " ".join(names)), ("firstname", names[0]), ("email", found.group(4))):
            attributes.set(f"{name}{after}", value)
        if len(names) > 1:
            attributes.set(f"lastname{after}", names[-1])
    if len(lines) > 1 and (revision := REVISION.fullmatch(lines[1])) is not None:
        for name, value in zip(("revnumber", "revdate", "revremark"), revision.groups(), strict=True):
            if value:
                attributes.set(name, value.strip())
