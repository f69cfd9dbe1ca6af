"""The flows of an RTF document (body, a footnote, a header …): paragraphs and rows of a table, as our blocks."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from upwell.parse.office.styles import heading_level, kind_of_style
from upwell.parse.outline import Outline
from upwell.parse.rtf.tables import CellEdge, Row, rtf_table
from upwell.records import Kind, Record, Table


class Style(Record, frozen=True, kw_only=True):
    """What a paragraph style says of a paragraph's rank."""

    name: str = ""
    outline_level: int | None = None


class ParagraphFormat(Record, frozen=True, kw_only=True):
    """The properties of a paragraph that tell what it is; a new one starts from none of them."""

    style: int = 0
    outline_level: int | None = None
    listed: bool = False
    list_level: int = 0
    in_table: bool = False


Later = Callable[[], None]


class Recorder:
    """Takes blocks as an Outline does, and says them to one later: a note stands after what it hangs on."""

    def __init__(self) -> None:
        self.said: list[Callable[[Outline | Recorder], None]] = []

    def add(self, kind: Kind, text: str, **fields: Any) -> None:
        self.said.append(lambda outline: outline.add(kind, text, **fields))

    def heading(self, text: str, level: int) -> None:
        self.said.append(lambda outline: outline.heading(text, level))

    def title(self, text: str) -> None:
        self.said.append(lambda outline: outline.title(text))

    def table(self, table: Table, **fields: Any) -> None:
        self.said.append(lambda outline: outline.table(table, **fields))

    def say_to(self, outline: "Outline | Recorder") -> None:
        for say in self.said:
            say(outline)


class Flow:
    """One flow of text. `kind` and `left_out` are those of all its blocks where it is not the body."""

    def __init__(
        self, outline: Outline | Recorder, styles: dict[int, Style], kind: Kind | None, left_out: str | None
    ) -> None:
        self.outline, self.styles, self.kind, self.left_out = outline, styles, kind, left_out
        self.format = ParagraphFormat()
        self.words: list[str] = []
        self.links: list[str] = []
        self.later: list[Later] = []
        self.cell: list[str] = []
        self.cells: list[str] = []
        self.edges: list[CellEdge] = []
        self.header_row = False
        self.edge = CellEdge(0)
        self.rows: list[Row] = []

    def paragraph(self) -> None:
        """The end of a paragraph: into the cell that is open, or a block."""
        text, self.words = "".join(self.words), []
        if self.format.in_table:
            self.cell.append(text)
            return
        self._end_table()
        self._block(text)

    def end_cell(self, apart: str = "\n") -> None:
        self.cell.append("".join(self.words))
        self.words = []
        self.cells.append(apart.join(part.strip() for part in self.cell if part.strip()))
        self.cell = []

    def end_row(self) -> None:
        if self.cells:
            self.rows.append(Row(tuple(self.cells), tuple(self.edges), self.header_row))
        self.cells = []

    def new_row(self) -> None:
        self.edges, self.header_row, self.edge = [], False, CellEdge(0)

    def end(self) -> None:
        """The end of the flow: nothing that was gathered may be lost."""
        if self.cells or self.cell:
            self.end_cell()
            self.end_row()
        self.format = replace(self.format, in_table=False)
        self.paragraph()

    def _end_table(self) -> None:
        if not self.rows:
            return
        table = rtf_table(self.rows)
        self.rows = []
        if self.kind is None and len(table.cells) > 1:
            self.outline.table(table, links=tuple(self.links))
            self.links = []
        else:
            for cell in table.cells:
                self.outline.add(self.kind or Kind.PARAGRAPH, cell.text, left_out=self.left_out)
        self._say_later()

    def _block(self, text: str) -> None:
        links, self.links = tuple(self.links), []
        level = self._heading_level()
        if self.kind is not None:
            self.outline.add(self.kind, text, left_out=self.left_out, links=links)
        elif level == 0 and text.strip():
            self.outline.title(text)
        elif level:
            self.outline.heading(text, level)
        elif self.format.listed:
            self.outline.add(Kind.LIST_ITEM, text, level=self.format.list_level + 1, links=links)
        else:
            kind = kind_of_style(self.styles.get(self.format.style, Style()).name)
            self.outline.add(kind or Kind.PARAGRAPH, text, links=links)
        self._say_later()

    def _say_later(self) -> None:
        if self.rows or self.cells or self.cell:
            return
        later, self.later = self.later, []
        for say in later:
            say()

    def _heading_level(self) -> int | None:
        """1 to 9, 0 for the style of a title, None for body text."""
        style = self.styles.get(self.format.style, Style())
        if (named := heading_level(style.name)) is not None:
            return named
        level = self.format.outline_level if self.format.outline_level is not None else style.outline_level
        return level + 1 if level is not None and 0 <= level < 9 else None
