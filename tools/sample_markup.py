"""The small markup of the sample's texts, as pieces."""

import re


def pieces_of(text: str) -> list[str | list[list[str]]]:
    """Each block as one string (list items one by one), each table as its rows of cells."""
    pieces: list[str | list[list[str]]] = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("| "):
            pieces.append([line.removeprefix("| ").split(" | ") for line in lines])
        elif re.match(r"- |\d+\. ", lines[0]):
            pieces.extend(re.sub(r"\n  ", " ", block).split("\n"))
        else:
            pieces.append(" ".join(lines))
    return pieces
