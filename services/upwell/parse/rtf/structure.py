"""The control words of RTF that make paragraphs and tables of a flow (Rich Text Format specification 1.9.1)."""

from types import MappingProxyType

from msgspec.structs import replace

from upwell.parse.rtf.flows import Flow, ParagraphFormat
from upwell.parse.rtf.tables import CellEdge

CELL_MERGES = MappingProxyType(
    {"clmgf": ("across", "first"), "clmrg": ("across", "more"), "clvmgf": ("down", "first"), "clvmrg": ("down", "more")}
)


def structure(flow: Flow, word: str, number: int | None) -> None:
    """What a control word does to the flow; most do nothing. `number` is what stands behind it, if anything does."""
    value = number or 0
    if word in {"par", "sect", "page"}:
        flow.paragraph()
    elif word == "pard":
        flow.format = ParagraphFormat()
    elif word == "s":
        flow.format = replace(flow.format, style=value)
    elif word == "outlinelevel":
        flow.format = replace(flow.format, outline_level=value)
    elif word == "ls" and value:
        flow.format = replace(flow.format, listed=True)
    elif word == "ilvl":
        flow.format = replace(flow.format, list_level=min(max(value, 0), 9))
    elif word == "intbl":
        flow.format = replace(flow.format, in_table=True)
    elif word == "trowd":
        flow.new_row()
    elif word == "trhdr":
        flow.header_row = True
    elif word in CELL_MERGES:
        flow.edge = flow.edge.merged(*CELL_MERGES[word])
    elif word == "cellx":
        flow.edges.append(flow.edge._replace(right=value))
        flow.edge = CellEdge(0)
    elif word == "cell":
        flow.end_cell()
    elif word == "nestcell":
        flow.words.append(" | ")
    elif word == "nestrow":
        flow.words.append("\n")
    elif word == "row":
        flow.end_row()
