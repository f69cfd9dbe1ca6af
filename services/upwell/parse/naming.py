"""What a part inside a document is called, from what its sender called it."""

import re
import unicodedata

LONGEST_NAME = 200
UNFIT = re.compile(r"[\x00-\x1f\x7f/\\]")


def part_name(given: str | None, number: int) -> str:
    """A name fit to be part of a doc_id: valid text in NFC, one line, no separators, at most 200 characters.

    `attachment-N` for one that has none, or only dots.
    """
    text = (given or "").encode("utf-8", "replace").decode()
    name = UNFIT.sub("_", unicodedata.normalize("NFC", text)).strip()
    if not name.strip("."):
        return f"attachment-{number}"
    if len(name) > LONGEST_NAME:
        stem, dot, extension = name.rpartition(".")
        kept = dot + extension if stem and len(extension) <= 10 else ""
        name = name[: LONGEST_NAME - len(kept)] + kept
    return name
