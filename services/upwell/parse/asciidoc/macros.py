"""What single macros of AsciiDoc say and where they lead.

https://docs.asciidoctor.org/asciidoc/latest/macros/
"""

import posixpath
import re

from upwell.parse.asciidoc.meta import meta_of

MENU_PART = re.compile(r"\s*>\s*")


def label(inside: str) -> str:
    """The words of a link: all that its brackets hold, or the first of a list of attributes."""
    if "=" in inside or inside.startswith('"'):
        meta = meta_of(inside)
        inside = meta.positional[0] if meta.positional else ""
    return inside.strip().removesuffix("^").strip()


def alternative(inside: str) -> str:
    """What is said in place of a picture."""
    return meta_of(inside).get("alt", 0)


def said_of(name: str, target: str, inside: str) -> tuple[str, str]:
    """The words that the macro shows, and its link or nothing."""
    if name == "link":
        return label(inside) or target, target
    if name == "mailto":
        said = label(inside) if "=" in inside else meta_of(inside).get("", 0)
        return said or target, f"mailto:{target}"
    if name == "image":
        return alternative(inside), target
    if name == "menu":
        return " > ".join(part for part in (target, *MENU_PART.split(inside.strip())) if part), ""
    return (inside if name in {"kbd", "btn"} else ""), ""


def joined_path(folder: str | None, path: str) -> str:
    """A picture's path below the folder that the document says all are in."""
    if not folder or "://" in path or path.startswith("/"):
        return path
    return f"{folder.rstrip('/')}/{path}" if "://" in folder else posixpath.join(folder, path)
