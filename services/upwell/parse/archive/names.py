"""What a member of an archive is called here: where it says it lies, made safe; and which members nobody wrote."""

from upwell.parse.letters.encoding import decode
from upwell.parse.naming import part_name

LONGEST_PATH = 400
MADE_BY_SYSTEMS = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", "pax_global_header"})


def member_name(given: str, number: int) -> str:
    """The member's path below the archive, `/`-separated: no root, no drive, no `..`, nothing that reads as a border
    between a document and its part; `attachment-N` for one without a name.
    """
    steps = [step for step in given.replace("\\", "/").split("/") if step.strip() not in {"", ".", ".."}]
    if steps and len(steps[0]) == 2 and steps[0].endswith(":"):
        del steps[0]
    if not steps:
        return part_name(None, number)
    # `!/` parts a document from its parts.
    folders = [f"{step[:-1]}_" if step.endswith("!") else step for step in (part_name(s, number) for s in steps[:-1])]
    name = part_name(steps[-1], number)
    while folders and len("/".join([*folders, name])) > LONGEST_PATH:
        folders.pop(0)
    return "/".join([*folders, name])


def told_name(name: str, *, is_utf8: bool) -> str:
    """A zip member's name as its writer meant it: without its UTF-8 flag the format says cp437, writers do not."""
    if is_utf8 or name.isascii():
        return name
    try:
        return decode(name.encode("cp437"))[0]
    except UnicodeEncodeError:
        return name


def is_made_by_a_system(name: str) -> bool:
    """Whether a member is what an operating system left in the folder."""
    steps = name.replace("\\", "/").split("/")
    return bool(MADE_BY_SYSTEMS.intersection(steps)) or steps[-1].startswith("._")
