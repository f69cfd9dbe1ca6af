"""PowerPoint presentations from their own XML: a page a slide, its title, what stands on it in reading order, notes."""

from typing import Any

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.office.objects import embedded_children
from upwell.parse.office.package import Package, attribute, local
from upwell.parse.outline import Outline
from upwell.parse.parts import ParseChild
from upwell.parse.policy import ParsePolicy
from upwell.parse.slides.order import reading_order
from upwell.parse.slides.shapes import FURNITURE, TITLES, Shape, has_bullet, placeholders, shapes
from upwell.parse.word.drawing import chart_title
from upwell.parse.word.runs import omml_latex
from upwell.records import Cell, Kind, ParsedDocument, ParseStatus, Table

PARSER = "slides/2"
MOST_SPAN = 200
SUBTITLE = "subTitle"


def parse_slides(data: bytes, limits: Limits, policy: ParsePolicy, parse_child: ParseChild) -> ParsedDocument:
    """The slides in their order; hidden ones are left out with the reason. Raises Unparsable."""
    package = Package(data, limits)
    main = next((t for kind, t in package.relations("").values() if kind == "officeDocument"), "ppt/presentation.xml")
    if main not in package:
        raise corrupt("it has no presentation")
    relations = package.relations(main)
    listed = [relations.get(name, ("", "")) for name in _slide_ids(package.xml(main))]
    parts = [target for kind, target in listed if kind == "slide" and target in package]
    if len(parts) > limits.pages:
        raise too_large(f"{len(parts)} slides; at most {limits.pages} are read")
    outline = Outline(limits.characters)
    for number, part in enumerate(parts, 1):
        _Slide(package, part, outline, number=number, limits=limits, policy=policy).read()
    core = package.xml_or_none("docProps/core.xml")
    named = " ".join((core.findtext("{*}title") or "").split()) if core is not None else ""
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=next((b.text for b in outline.blocks if b.kind is Kind.HEADING), None) or named or None,
        pages=len(parts) or None,
        parser=PARSER,
        children=embedded_children(package, limits, parse_child),
    )


def _slide_ids(root: Any) -> list[str]:
    """The relations of the slides: of their two attributes called id the one with a namespace."""
    slides = root.iter("{*}sldId")
    return [next((value for key, value in slide.attrib.items() if key.endswith("}id")), "") for slide in slides]


class _Slide:
    def __init__(
        self, package: Package, part: str, outline: Outline, *, number: int, limits: Limits, policy: ParsePolicy
    ) -> None:
        self.package, self.number, self.outline = package, number, outline
        self.limits, self.policy = limits, policy
        self.root, self.relations = package.xml(part), package.relations(part)
        self.left_out = "hidden" if self.root.get("show") in {"0", "false"} else None

    def read(self) -> None:
        self.outline.close_headings()
        layout = _related(self.relations, "slideLayout")
        master = _related(self.package.relations(layout), "slideMaster")
        below = placeholders(self.package.xml_or_none(layout), self.package.xml_or_none(master))
        found = shapes(next(self.root.iter("{*}spTree"), ()), below, self.limits)
        titles = [shape for shape in found if shape.role in TITLES]
        for shape in titles:
            self._title(shape)
        rest = [shape for shape in found if shape.role not in TITLES]
        for shape in _in_order(rest):
            self._shape(shape)
        self._notes()
        self._comments()

    def _title(self, shape: Shape) -> None:
        text = " ".join(" ".join(self._words(p)[0] for p in shape.element.iter("{*}p")).split())
        if self.left_out:
            self._add(Kind.PARAGRAPH, text, shape)
        else:
            self.outline.heading(text, 1, page=self.number, bbox=shape.box)

    def _shape(self, shape: Shape) -> None:
        if shape.tag == "pic":
            self._add(Kind.FIGURE, _alt(shape.element), shape)
        elif shape.tag == "graphicFrame":
            self._frame(shape)
        else:
            body = shape.element.find("{*}txBody")
            for paragraph in () if body is None else body.findall("{*}p"):
                self._paragraph(paragraph, shape)

    def _frame(self, shape: Shape) -> None:
        for element in shape.element.iter():
            tag = local(element)
            if tag == "tbl":
                self._table(element, shape)
                return
            if tag == "chart":
                target = self.relations.get(attribute(element, "id") or "", ("", ""))[1]
                title = chart_title(self.package, target)
                self._add(Kind.FIGURE, " ".join(filter(None, (title, _alt(shape.element)))), shape)
                return
            if tag == "relIds":
                target = self.relations.get(attribute(element, "dm") or "", ("", ""))[1]
                self._diagram(target, shape)
                return

    def _diagram(self, part: str, shape: Shape) -> None:
        self._add(Kind.FIGURE, _alt(shape.element), shape)
        root = self.package.xml_or_none(part)
        for point in () if root is None else root.iter("{*}p"):
            self._add(Kind.LIST_ITEM, "".join(t.text or "" for t in point.iter("{*}t")), shape, level=1)

    def _paragraph(self, paragraph: Any, shape: Shape) -> None:
        text, links, formula = self._words(paragraph)
        properties = paragraph.find("{*}pPr")
        depth = "" if properties is None else properties.get("lvl") or ""
        level = int(depth) + 1 if depth in set("012345678") and depth else 1
        own = has_bullet(properties)
        listed = own if own is not None else shape.bulleted and shape.role != SUBTITLE
        if formula and text.strip() == f"${formula}$":
            self._add(Kind.FORMULA, formula, shape)
        elif listed:
            self._add(Kind.LIST_ITEM, text, shape, level=level, links=links)
        else:
            self._add(Kind.PARAGRAPH, text, shape, links=links)

    def _add(self, kind: Kind, text: str, shape: Shape | None, **fields: Any) -> None:
        furniture = "page_furniture" if shape is not None and shape.role in FURNITURE else None
        left_out = self.left_out or furniture
        box = None if shape is None else shape.box
        if left_out:
            self.outline.add(Kind.PAGE_FURNITURE, text, page=self.number, bbox=box, left_out=left_out)
        else:
            self.outline.add(kind, text, page=self.number, bbox=box, **fields)

    def _words(self, paragraph: Any) -> tuple[str, tuple[str, ...], str]:
        """The words of a paragraph, its links, and its formula if it has one."""
        parts: list[str] = []
        links: list[str] = []
        formula = ""
        for element in paragraph.iter():
            tag = local(element)
            if tag == "t" and local(element.getparent()) in {"r", "fld"} and not _is_math(element):
                parts.append(element.text or "")
            elif tag == "br":
                parts.append("\n")
            elif tag == "hlinkClick":
                target = self.relations.get(attribute(element, "id") or "", ("", ""))[1]
                links.extend([target] if "://" in target or target.startswith("mailto:") else [])
            elif tag == "oMath":
                formula = omml_latex(element)
                parts.append(f"${formula}$")
        return "".join(parts), tuple(links), formula

    def _table(self, table: Any, shape: Shape) -> None:
        properties = table.find("{*}tblPr")
        headed = properties is not None and properties.get("firstRow") in {"1", "true"}
        rows = table.findall("{*}tr")
        cells: list[Cell] = []
        cols = 0
        for r, row in enumerate(rows):
            for c, cell in enumerate(row.findall("{*}tc")):
                cols = max(cols, c + 1)
                if cell.get("hMerge") in {"1", "true"} or cell.get("vMerge") in {"1", "true"}:
                    continue
                text = " ".join(" ".join(self._words(p)[0] for p in cell.iter("{*}p")).split())
                spans = {"row_span": _span(cell, "rowSpan"), "col_span": _span(cell, "gridSpan")}
                cells.append(Cell(row=r, col=c, text=text, header=headed and r == 0, **spans))
        if self.left_out:
            self._add(Kind.PARAGRAPH, "\n".join(cell.text for cell in cells), shape)
        else:
            grid = Table(rows=len(rows), cols=cols, cells=tuple(cells))
            self.outline.table(grid, page=self.number, bbox=shape.box)

    def _notes(self) -> None:
        """The speaker's words below the slide; the picture of the slide and its number are no words."""
        target = _related(self.relations, "notesSlide")
        root = self.package.xml_or_none(target)
        if root is None:
            return
        before, self.relations = self.relations, self.package.relations(target)
        for shape in shapes(next(root.iter("{*}spTree"), ()), {}, self.limits):
            if shape.role == "body":
                lines = [self._words(p)[0] for p in shape.element.iter("{*}p")]
                self._add(Kind.PARAGRAPH, "\n".join(lines), None)
        self.relations = before

    def _comments(self) -> None:
        for kind, target in self.relations.values():
            if kind != "comments" or target not in self.package:
                continue
            for comment in self.package.xml(target).iter("{*}cm"):
                text = " ".join(e.text or "" for e in comment.iter() if local(e) in {"text", "t"})
                if self.policy.comments:
                    self._add(Kind.PARAGRAPH, text, None)
                else:
                    self.outline.add(Kind.PAGE_FURNITURE, text, page=self.number, left_out="comment")


def _related(relations: dict[str, tuple[str, str]], kind: str) -> str:
    return next((target for k, target in relations.values() if k == kind), "")


def _in_order(found: list[Shape]) -> list[Shape]:
    """By their places; those without one stand where the file has them, after the rest."""
    placed = [shape for shape in found if shape.box is not None]
    order = reading_order([shape.box for shape in placed if shape.box is not None])
    return [*(placed[i] for i in order), *(shape for shape in found if shape.box is None)]


def _alt(element: Any) -> str:
    named = next(element.iter("{*}cNvPr"), None)
    return "" if named is None else " ".join((named.get("descr") or named.get("title") or "").split())


def _span(cell: Any, name: str) -> int:
    text = cell.get(name) or ""
    return max(1, min(int(text), MOST_SPAN)) if text.isdecimal() and len(text) < 6 else 1


def _is_math(element: Any) -> bool:
    return next(element.iterancestors("{*}oMath"), None) is not None
