"""Cut lists: how boards are shared out among the parts of a piece of furniture."""

from dataclasses import dataclass

KERF_MM = 3.2  # what the table saw takes with each cut
TRIM_MM = 40  # checked ends of a board, cut off before anything else


@dataclass(frozen=True)
class Part:
    """A part to be cut: its name and its length in millimetres."""

    name: str
    length_mm: float


def usable_length(board_mm: float) -> float:
    """The length of a board once both checked ends are trimmed."""
    return max(0.0, board_mm - 2 * TRIM_MM)


def first_fit(parts: list[Part], board_mm: float) -> list[list[Part]]:
    """Share out the parts among boards, longest part first, each into the first board with room for it and a cut.

    Raises ValueError for a part that is longer than a trimmed board.
    """
    boards: list[list[Part]] = []
    room: list[float] = []
    for part in sorted(parts, key=lambda p: p.length_mm, reverse=True):
        need = part.length_mm + KERF_MM
        if need > usable_length(board_mm):
            raise ValueError(f"{part.name}: {part.length_mm} mm does not fit a board of {board_mm} mm")
        for number, left in enumerate(room):
            if left >= need:
                boards[number].append(part)
                room[number] -= need
                break
        else:
            boards.append([part])
            room.append(usable_length(board_mm) - need)
    return boards


def waste(boards: list[list[Part]], board_mm: float) -> float:
    """The share of the wood that ends as offcuts, from 0 to 1."""
    if not boards:
        return 0.0
    used = sum(part.length_mm for board in boards for part in board)
    return 1 - used / (board_mm * len(boards))
