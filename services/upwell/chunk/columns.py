"""Rows that are too long for a chunk: cut between cells, each part below the names of the columns that it holds."""

from collections.abc import Callable, Iterator, Sequence

from upwell.chunk.ranges import Range

BAR = " | "
FIRST_SHARE = 4  # of what a part holds, the most that the row's first cell may take when it is said again
MOST_GROWTH = 4  # times a table's own text, the most that names may add to its parts
LONGEST_GROUP_NAME = 60  # characters of a header above a header that are said with each column below it


def cells_of(text: str, start: int, end: int) -> list[Range]:
    """Where the cells of the row [start, end) stand."""
    cells: list[Range] = []
    while (bar := text.find(BAR, start, end)) >= 0:
        cells.append((start, bar))
        start = bar + len(BAR)
    return [*cells, (start, end)]


def column_names(text: str, rows: Sequence[Range]) -> list[str]:
    """A name a column from the rows of a header; one that spans columns is said with each of them."""
    names: list[list[str]] = []
    for number, (start, end) in enumerate(rows):
        above = ""
        cells = cells_of(text, start, end)
        names.extend([] for _ in range(len(cells) - len(names)))
        for column, name in enumerate(names):
            said = text[slice(*cells[column])] if column < len(cells) else ""
            if number < len(rows) - 1:
                above = said = said or above
                said = said[:LONGEST_GROUP_NAME]
            name.append(said)
    return [" ".join(dict.fromkeys(filter(None, name))) for name in names]


class Columns:
    """What stands above the parts of long rows. `most` is what names and cells of a part weigh at most together."""

    def __init__(self, text: str, names: Sequence[str], weigh: Callable[[str], int], most: int) -> None:
        self.text, self.names, self.weigh, self.most = text, names, weigh, most
        self.weights = [weigh(name) + 1 for name in names]
        self.spare = MOST_GROWTH * len(text)

    def groups(self, weights: Sequence[int]) -> Iterator[Range]:
        """Which cells of a row of these weights go together; one that is too long ends what it stands in."""
        again = self.weights[0] + weights[0] if self._is_said_again(weights[0]) else 0
        start = total = 0
        for column, weight in enumerate(weights):
            more = self.weights[column] + weight + 1
            long = more > self.most - again
            if column > start and total + more > self.most and not long:
                yield start, column
                start, total = column, again
            total += more
            if long:
                yield start, column + 1
                start, total = column + 1, again
        if start < len(weights):
            yield start, len(weights)

    def lead(self, first: Range, weight: int, columns: Range, *, inside: bool) -> str:
        """The names of `columns`, and the row's first cell; `inside` for a part that goes on within a cell.

        Empty where that would be too long, or once all leads together are far longer than the table.
        """
        names = list(self.names[slice(*columns)])
        said = self.text[slice(*first)].strip() if self._is_said_again(weight) and columns[0] > 0 else ""
        if said:
            names.insert(0, self.names[0])
            said += BAR if inside else " "
        lead = f"{BAR.join(names)}\n{said}"
        if len(lead) > self.spare or self.weigh(lead) > self.most:
            return ""
        self.spare -= len(lead)
        return lead

    def _is_said_again(self, weight: int) -> bool:
        return weight <= self.most // FIRST_SHARE
