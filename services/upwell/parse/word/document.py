"""Word documents from their own XML (ECMA-376 part 1, section 17): what a writer put there, and what was left out."""

import re
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
from upwell.parse.word.runs import Inline
from upwell.parse.word.styles import Styles, value
from upwell.parse.word.table import only_cell, word_table
from upwell.records import Block, Kind, ParsedDocument, ParseStatus

PARSER = "word/2"
CAPTION = re.compile(r"(?:figure|fig\.|table|listing|chart|abbildung|abb\.|tabelle|tableau|tabla)\s+\d+", re.IGNORECASE)
CODE_SIGN = re.compile(r"[;{}=<>\[\]_$#\\]|\w\(|^\s*(?:def|class|import|return|if|for|while)\b")
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
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for child in parent:
            tag = local(child)
            if tag == "p":
                self._paragraph(child)
            elif tag == "tbl":
                self._table(child)
            elif tag == "sdt":
                self._control(child)
            elif tag in {"del", "moveFrom"}:
                self._aside(child, None if tag == "del" and self.policy.revisions == "both" else "deleted")
            elif tag == "AlternateContent":
                self.blocks(next((c for c in child if local(c) in {"Choice", "Fallback"}), ()))
            elif tag and len(child):  # whatever wraps blocks, known or not, is looked into
                self.blocks(child)
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

    def _paragraph(self, paragraph: Any) -> None:
        inline = self._inline(paragraph)
        properties = paragraph.find("{*}pPr")
        style = value(properties, "pStyle")
        self._say(inline, style, properties)
        self._hang(inline)

    def _say(self, inline: Inline, style: str | None, properties: Any) -> None:
        text, links = inline.text, tuple(inline.links)
        if self.left_out or self.styles.contents(style):
            self._add(Kind.PAGE_FURNITURE, text, left_out=self.left_out or "table_of_contents")
        elif self.kind is not None:
            self._add(self.kind, text, links=links)
        elif inline.formulas and text.replace("$", "").strip() == "".join(inline.formulas).strip():
            self._add(Kind.FORMULA, "\n".join(inline.formulas))
        elif self._is_code(inline, style):
            self.code.append(text)
        elif (level := self._heading(style, properties)) is not None:
            self._end_code()
            self._title_or_heading(text, level)
        else:
            before = len(self.outline.blocks) + bool(self.code)
            self._plain(text, style, properties, links)
            if self.depth == 1 and len(self.outline.blocks) > before:
                self.emphasis.note(len(self.outline.blocks) - 1, self.outline.blocks[-1], inline, style)

    def _heading(self, style: str | None, properties: Any) -> int | None:
        own = value(properties, "outlineLvl") or ""
        if own.isdecimal():
            return int(own) + 1 if int(own) < 9 else None
        return self.styles.heading(style)

    def _title_or_heading(self, text: str, level: int) -> None:
        if level or any(block.kind is Kind.TITLE for block in self.outline.blocks[:1000]):
            self.outline.heading(text, level or 1)
        else:
            self.outline.title(text)

    def _plain(self, text: str, style: str | None, properties: Any, links: tuple[str, ...]) -> None:
        if not text.strip():
            return
        kind = self.styles.kind(style)
        if kind is None and self.after_figure and CAPTION.match(text.strip()):
            kind = Kind.CAPTION
        numbering = None if properties is None else properties.find("{*}numPr")
        level = value(numbering, "ilvl") or ""
        depth = self.styles.list_level(
            style, value(numbering, "numId"), int(level) if level.isdecimal() and len(level) < 4 else None
        )
        self.after_figure = False
        if kind is None and depth is not None:
            self._add(Kind.LIST_ITEM, text, level=depth, links=links)
        else:
            self._add(kind or Kind.PARAGRAPH, text, links=links)

    def _is_code(self, inline: Inline, style: str | None) -> bool:
        """By style; or all in a font of equal widths and with the signs of code, or indented below such a line."""
        if self.styles.kind(style) is Kind.CODE:
            return True
        text = inline.text
        mono = inline.letters > 0 and inline.monospaced >= inline.letters * 0.95
        mono = mono or (self.styles.monospaced(style) and style not in {None, self.styles.default})
        return mono and bool(CODE_SIGN.search(text) or (self.code and text[:1].isspace()))

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
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for inner in nested:
            self._table(inner)
        self.depth -= 1

    def _cell_words(self, cell: Any, hanging: list[Inline], nested: list[Any]) -> str:
        """A cell's paragraphs, a line each; a table within it stands after the whole as a table of its own."""
        lines: list[str] = []
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for child in cell:
            tag = local(child)
            if tag == "p":
                inline = self._inline(child)
                hanging.append(inline)
                lines.append(inline.text)
            elif tag == "tbl":
                nested.append(child)
            elif tag in {"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"}:
                lines.append(self._cell_words(child, hanging, nested))
        self.depth -= 1
        return "\n".join(line for line in lines if line.strip())
