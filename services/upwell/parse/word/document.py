"""Word documents from their own XML (ECMA-376 part 1, section 17): what a writer put there, and what was left out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.office.objects import embedded_children
from upwell.parse.office.package import Package, attribute, local
from upwell.parse.outline import Outline
from upwell.parse.parts import ParseChild
from upwell.parse.policy import ParsePolicy
from upwell.parse.word.drawing import pictures, text_boxes
from upwell.parse.word.emphasis import Emphasis
from upwell.parse.word.paragraph import Paragraph
from upwell.parse.word.runs import Inline
from upwell.parse.word.styles import Styles
from upwell.parse.word.table import WRAPPERS, only_cell, word_table
from upwell.records import Block, Kind, ParsedDocument, ParseStatus

PARSER = "word/2"
NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
NOTE_OF = {"footnotes": "footnote", "endnotes": "endnote", "comments": "comment"}


def parse_word(data: bytes, limits: Limits, policy: ParsePolicy, parse_child: ParseChild) -> ParsedDocument:
    """A document with its notes, page headers, and embedded files as children. Raises Unparsable."""
    package = Package(data, limits)
    main = next((target for kind, target in package.relations("").values() if kind == "officeDocument"), None)
    if main is None or main not in package:
        main = "word/document.xml"
    root = package.xml(main)
    body = root.find("{*}body")
    if body is None:
        raise corrupt("its document has no body")
    reader = _Reader(package, main, limits, policy)
    reader.blocks(body)
    reader.end()
    blocks = reader.emphasis.with_headings(reader.outline.blocks, limits)
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(blocks),
        title=_title(blocks, package),
        parser=PARSER,
        children=embedded_children(package, limits, parse_child),
    )


def _title(blocks: list[Block], package: Package) -> str | None:
    """Of the style of a title; else the first heading when it opens the text; else what the properties say."""
    shown = next((b.text for b in blocks if b.kind is Kind.TITLE), None)
    opening = next((b for b in blocks if b.kind is not Kind.PAGE_FURNITURE), None)
    if shown is None and opening is not None and opening.kind is Kind.HEADING:
        shown = opening.text
    if shown is None and (core := package.xml_or_none("docProps/core.xml")) is not None:
        shown = " ".join((core.findtext("{*}title") or "").split())
    return shown or next((b.text for b in blocks if b.kind is Kind.HEADING), None)


class _Reader:
    """Walks one part's blocks. Headers and notes are read by the same walk with another kind or reason."""

    def __init__(self, package: Package, main: str, limits: Limits, policy: ParsePolicy) -> None:
        self.package, self.limits, self.policy = package, limits, policy
        self.outline = Outline(limits.characters)
        self.relations = package.relations(main)
        self.styles = Styles(self._part("styles"), self._part("numbering"))
        self.emphasis = Emphasis(self.styles)
        self.notes = {kind: self._notes(kind) for kind in NOTE_OF}
        self.code: list[str] = []
        self.kind: Kind | None = None
        self.left_out: str | None = None
        self.depth = 0
        self.after_figure = False

    def _part(self, kind: str) -> Any:
        name = next((target for k, target in self.relations.values() if k == kind), None)
        return None if name is None else self.package.xml_or_none(name)

    def _notes(self, kind: str) -> dict[str, Any]:
        root = self._part(kind)
        found = () if root is None else root.findall(f"{{*}}{NOTE_OF[kind]}")
        return {attribute(note, "id") or "": note for note in found if attribute(note, "type") in {None, "normal"}}

    def end(self) -> None:
        """Notes that nothing refers to, and the heads and feet of the pages, each text once."""
        for kind in NOTE_OF:
            for name in list(self.notes[kind]):
                self._note(kind, name)
        self.left_out = "page_furniture"
        seen: set[str] = set()
        for kind, target in self.relations.values():
            if kind in {"header", "footer"} and target in self.package and target not in seen:
                seen.add(target)
                part = self.package.xml(target)
                words = " ".join("".join(part.itertext()).split())
                if words not in seen:
                    seen.add(words)
                    self._in_part(target, part)
        self._end_code()

    def _in_part(self, name: str, part: Any) -> None:
        before, self.relations = self.relations, self.package.relations(name)
        self.blocks(part)
        self.relations = before

    def blocks(self, parent: Any) -> None:
        """All blocks below `parent`. Raises `too_large` past the limit of nesting."""
        with self._deeper():
            for child in parent:
                self._block(child)

    def _block(self, element: Any) -> None:
        tag = local(element)
        if tag == "p":
            self._paragraph(element)
        elif tag == "tbl":
            self._table(element)
        elif tag == "sdt":
            self._control(element)
        elif tag in {"del", "moveFrom"}:
            self._aside(element, None if tag == "del" and self.policy.revisions == "both" else "deleted")
        elif tag == "AlternateContent":
            self.blocks(next((c for c in element if local(c) in {"Choice", "Fallback"}), ()))
        elif tag and len(element):  # whatever wraps blocks, known or not, is looked into
            self.blocks(element)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        yield
        self.depth -= 1

    def _aside(self, element: Any, reason: str | None) -> None:
        before, self.left_out = self.left_out, self.left_out or reason
        self.blocks(element)
        self.left_out = before

    def _control(self, control: Any) -> None:
        gallery = next((attribute(e, "val") for e in control.iter("{*}docPartGallery")), None)
        contents = control.find("{*}sdtContent")
        if contents is not None:
            self._aside(contents, "table_of_contents" if gallery == "Table of Contents" else None)

    def _inline(self, paragraph: Any) -> Inline:
        inline = Inline(self.relations, self.styles, self.limits, self.policy)
        inline.read(paragraph)
        return inline

    def _paragraph(self, element: Any) -> None:
        inline = self._inline(element)
        self._say(Paragraph(element, inline, self.styles))
        self._hang(inline)

    def _say(self, paragraph: Paragraph) -> None:
        inline = paragraph.inline
        text, links = inline.text, tuple(inline.links)
        if self.left_out or paragraph.is_contents:
            self._add(Kind.PAGE_FURNITURE, text, left_out=self.left_out or "table_of_contents")
        elif self.kind is not None:
            self._add(self.kind, text, links=links)
        elif paragraph.is_formula:
            self._add(Kind.FORMULA, "\n".join(inline.formulas))
        elif paragraph.is_code(below_code=bool(self.code)):
            self.code.append(text)
        elif (level := paragraph.heading_level) is not None:
            self._end_code()
            self._title_or_heading(text, level)
        elif text.strip():
            self._body(paragraph)

    def _title_or_heading(self, text: str, level: int) -> None:
        if level or any(block.kind is Kind.TITLE for block in self.outline.blocks[:1000]):
            self.outline.heading(text, level or 1)
        else:
            self.outline.title(text)

    def _body(self, paragraph: Paragraph) -> None:
        inline = paragraph.inline
        kind = paragraph.body_kind(below_figure=self.after_figure)
        level = paragraph.list_level if kind is Kind.LIST_ITEM else None
        self.after_figure = False
        self._add(kind, inline.text, level=level, links=tuple(inline.links))
        if self.depth == 1:
            self.emphasis.note(len(self.outline.blocks) - 1, self.outline.blocks[-1], inline, paragraph.style)

    def _add(self, kind: Kind, text: str, **fields: Any) -> None:
        self._end_code()
        self.outline.add(kind, text, **fields)

    def _end_code(self) -> None:
        lines, self.code = self.code, []
        if any(line.strip() for line in lines):
            self.outline.add(Kind.CODE, "\n".join(lines))

    def _hang(self, inline: Inline) -> None:
        """What hangs on a paragraph: left-out words, pictures, text boxes, notes, comments."""
        for reason, words in inline.left_out:
            self._add(Kind.PAGE_FURNITURE, words, left_out=self.left_out or reason)
        for what, element in inline.hanging:
            if what in NOTES:
                self._note(NOTES[what], attribute(element, "id") or "")
                continue
            for alt, kind in pictures(element, what, self.package, self.relations):
                left_out = kind is Kind.FIGURE and self.left_out
                self._add(Kind.PAGE_FURNITURE if left_out else kind, alt, left_out=self.left_out)
                self.after_figure = True
            for box in text_boxes(element):
                self.blocks(box)

    def _note(self, kind: str, name: str) -> None:
        note = self.notes[kind].pop(name, None)
        if note is None:
            return
        before = (self.kind, self.left_out)
        if kind != "comments":
            self.kind = Kind.FOOTNOTE
        elif not self.policy.comments:
            self.left_out = self.left_out or "comment"
        else:
            self.kind = Kind.PARAGRAPH
        target = next((t for k, t in self.relations.values() if k == kind), "")
        self._in_part(target, note)
        self.kind, self.left_out = before

    def _table(self, element: Any) -> None:
        box = only_cell(element, self.limits.nesting)
        if box is not None or self.left_out or self.kind:
            for cell in [box] if box is not None else element.iter("{*}tc"):
                self.blocks(child for child in cell if box is not None or local(child) != "tbl")
            return
        self._end_code()
        hanging: list[Inline] = []
        nested: list[Any] = []
        table = word_table(element, lambda cell: self._cell_words(cell, hanging, nested), self.limits.nesting)
        links = [link for inline in hanging for link in inline.links]
        self.outline.table(table, links=tuple(links))
        self.after_figure = True
        for inline in hanging:
            self._hang(inline)
        with self._deeper():
            for inner in nested:
                self._table(inner)

    def _cell_words(self, cell: Any, hanging: list[Inline], nested: list[Any]) -> str:
        """A cell's paragraphs, a line each; a table within it stands after the whole as a table of its own."""
        lines: list[str] = []
        with self._deeper():
            for child in cell:
                tag = local(child)
                if tag == "p":
                    inline = self._inline(child)
                    hanging.append(inline)
                    lines.append(inline.text)
                elif tag == "tbl":
                    nested.append(child)
                elif tag in WRAPPERS:
                    lines.append(self._cell_words(child, hanging, nested))
        return "\n".join(line for line in lines if line.strip())
