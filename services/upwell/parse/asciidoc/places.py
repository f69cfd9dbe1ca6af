"""What the places of an AsciiDoc document are called, so that a reference without words of its own says it.

https://docs.asciidoctor.org/asciidoc/latest/macros/xref/
"""

import re
from collections.abc import Sequence

from upwell.parse.asciidoc.meta import LINE, meta_of

HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
TITLE = re.compile(r"\.(\.?[^ \t.].*)")
NO_WORD = re.compile(r"[^\w]+")


def heading_of(line: str) -> tuple[int, str] | None:
    """A heading's level and words; its signs may stand behind it, too."""
    found = HEADING.fullmatch(line.rstrip()) if line[:1] in {"=", "#"} else None
    if found is None:
        return None
    return len(found.group(1)), found.group(2).removesuffix(f" {found.group(1)}").rstrip()


def titles_of(lines: Sequence[str]) -> dict[str, str]:
    """Titles by the ids that stand before them, by the ids that they have of themselves, and by themselves."""
    titles: dict[str, str] = {}
    anchor = ""
    for line in lines:
        if line[:1] == "[" and LINE.match(line.rstrip()):
            inside = line.rstrip()[1:-1]
            anchor = meta_of(inside).anchor or anchor
            if inside.startswith("[") and "," in inside:
                titles[anchor] = inside[1:-1].partition(",")[2].strip()
        elif (heading := heading_of(line)) is not None or (line[:1] == "." and (TITLE.match(line))):
            said = heading[1] if heading else line[1:].strip()
            if anchor:
                titles.setdefault(anchor, said)
            if heading:
                titles.setdefault(f"_{NO_WORD.sub('_', said.lower()).strip('_')}", said)
                titles.setdefault(said, said)
                anchor = ""
        elif line.strip():
            anchor = ""
    return titles
