"""The flow of an OpenDocument text: paragraphs, headings, lists, tables, frames, notes, comments and changes."""

from collections.abc import Callable
from typing import Any

from upwell.parse.failures import too_large
from upwell.parse.limits import Limits
from upwell.parse.odf.styles import Styles
from upwell.parse.odf.table import odf_table
from upwell.parse.office.mathml import latex_of
from upwell.parse.office.package import Package, attribute, local
from upwell.parse.outline import Outline
from upwell.parse.policy import ParsePolicy
from upwell.records import Kind

INDEXES = frozenset(
    {
        "table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index",
        "bibliography",
    }
)  # fmt: skip
UNREAD = frozenset({"sequence-decls", "variable-decls", "user-field-decls", "forms", "bookmark-ref-decls", "scripts"})
SHAPES = frozenset({"custom-shape", "rect", "ellipse", "circle", "polygon", "polyline", "path", "line", "connector"})
Later = Callable[[], None]


class TextFlow:
    """Gives the blocks below an element to an outline. `page` is the slide's number, `left_out` that of all of it."""

    def __init__(self, outline: Outline, styles: Styles, package: Package, limits: Limits, policy: ParsePolicy) -> None:
        self.outline, self.styles, self.package = outline, styles, package
        self.limits, self.policy = limits, policy
        self.page: int | None = None
        self.left_out: str | None = None
        self.kind: Kind | None = None
        self.level = 0
        self.depth = 0
        self.deleted: dict[str, Any] = {}
        self.later: list[Later] = []
        self.links: list[str] = []

    def blocks(self, parent: Any) -> None:
        """All blocks below `parent`, in order. Raises `too_large` past the limit of nesting."""
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for element in parent:
            self._block(element, local(element))
        self.depth -= 1

    def _block(self, element: Any, tag: str) -> None:
        if tag == "h":
            self._heading(element)
        elif tag == "p":
            self._paragraph(element)
        elif tag == "list":
            self.level += 1
            self.blocks(element)
            self.level -= 1
        elif tag == "table":
            self._table(element)
        elif tag in INDEXES:
            self._aside(element, "table_of_contents")
        elif tag == "tracked-changes":
            self._keep_deleted(element)
        elif tag in {"change", "annotation"} or tag == "frame" or tag in SHAPES or tag == "g":
            self._inline(element, tag)
            self.say_later()
        elif tag == "section":
            hidden = attribute(element, "display") == "none"
            self._aside(element, "hidden") if hidden else self.blocks(element)
        elif tag and tag not in UNREAD:
            self.blocks(element)

    def _aside(self, element: Any, reason: str) -> None:
        before, self.left_out = self.left_out, self.left_out or reason
        self.blocks(element)
        self.left_out = before

    def _keep_deleted(self, element: Any) -> None:
        for region in element:
            deletion = next((e for e in region if local(e) == "deletion"), None)
            if deletion is not None:
                self.deleted[attribute(region, "id") or ""] = deletion

    def _heading(self, element: Any) -> None:
        text = self.words(element)
        level = attribute(element, "outline-level") or ""
        if self.left_out or self.kind or not text.strip():
            self._say(Kind.PARAGRAPH, text)
        elif self.styles.heading(attribute(element, "style-name")) == 0:
            self.outline.title(text, page=self.page)
        else:
            self.outline.heading(text, min(int(level), 9) if level.isdecimal() and level != "0" else 1, page=self.page)
        self.say_later()

    def _paragraph(self, element: Any) -> None:
        style = attribute(element, "style-name")
        text = self.words(element)
        level = self.styles.heading(style)
        if self.styles.hidden(style):
            self.outline.add(Kind.PAGE_FURNITURE, text, page=self.page, left_out=self.left_out or "hidden")
        elif self.left_out or self.kind:
            self._say(Kind.PARAGRAPH, text)
        elif level is not None and text.strip():
            if level == 0:
                self.outline.title(text, page=self.page)
            else:
                self.outline.heading(text, level, page=self.page)
        else:
            kind = self.styles.kind(style)
            self._say(kind or (Kind.LIST_ITEM if self.level else Kind.PARAGRAPH), text)
        self.say_later()

    def _say(self, kind: Kind, text: str) -> None:
        links, self.links = tuple(self.links), []
        if self.left_out:
            self.outline.add(Kind.PAGE_FURNITURE, text, page=self.page, left_out=self.left_out)
            return
        kind = self.kind or kind
        level = max(self.level, 1) if kind is Kind.LIST_ITEM else None
        self.outline.add(kind, text, level=level, page=self.page, links=links)

    def say_later(self) -> None:
        """Say what hangs on what was just said: notes, comments, boxes, pictures."""
        later, self.later = self.later, []
        for say in later:
            say()

    def _table(self, element: Any) -> None:
        links, self.links = self.links, []
        table = odf_table(element, self._cell_words, self.limits)
        links, self.links = self.links, links
        if self.left_out or self.kind:
            for cell in table.cells:
                self._say(Kind.PARAGRAPH, cell.text)
        elif len(table.cells) == 1:
            self.outline.add(Kind.PARAGRAPH, table.cells[0].text, page=self.page, links=tuple(links))
        else:
            self.outline.table(table, page=self.page, links=tuple(links))
        self.say_later()

    def _cell_words(self, cell: Any) -> str:
        """All words of a cell, a table within it included, one line a paragraph."""
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        lines: list[str] = []
        for element in cell:
            if local(element) in {"p", "h"}:
                lines.append(self.words(element))
            elif local(element) == "annotation":
                self._inline(element, "annotation")
            elif local(element):
                lines.append(self._cell_words(element))
        self.depth -= 1
        return "\n".join(line for line in lines if line.strip())

    def words(self, element: Any) -> str:
        """The inline text below an element; what stands beside it is said after it."""
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise too_large("nested too deeply")
        parts = [_collapsed(element.text)]
        for child in element:
            tag = local(child)
            if tag:
                parts.append(self._inline(child, tag))
            parts.append(_collapsed(child.tail))
        self.depth -= 1
        return "".join(parts)

    def hang(self, element: Any) -> None:
        """A comment or a shape, to be said with `say_later`."""
        self._inline(element, local(element))

    def _inline(self, child: Any, tag: str) -> str:
        if tag == "s":
            count = attribute(child, "c") or "1"
            return " " * min(int(count) if count.isdecimal() else 1, 100)
        if tag in {"tab", "line-break"}:
            return "\t" if tag == "tab" else "\n"
        if tag == "a":
            if link := attribute(child, "href"):
                self.links.append(link)
            return self.words(child)
        if tag == "note":
            self._after(child.find("{*}note-body"), Kind.FOOTNOTE, None)
        elif tag == "annotation":
            kept = self.policy.comments
            self._after(child, Kind.PARAGRAPH if kept else None, None if kept else "comment", skip=("creator", "date"))
        elif tag == "change":
            self._deletion(child)
        elif tag in {"frame", "g"} or tag in SHAPES:
            return self._shape(child, tag)
        elif tag in {"hidden-text", "hidden-paragraph"}:
            text = attribute(child, "string-value") or self.words(child)
            self.later.append(lambda: self.outline.add(Kind.PAGE_FURNITURE, text, page=self.page, left_out="hidden"))
        elif tag == "ruby-text":
            return ""
        elif tag == "span" and self.styles.hidden(attribute(child, "style-name")):
            hidden = self.words(child)
            self.later.append(lambda: self.outline.add(Kind.PAGE_FURNITURE, hidden, page=self.page, left_out="hidden"))
        else:
            return self.words(child)
        return ""

    def _after(self, element: Any, kind: Kind | None, left_out: str | None, *, skip: tuple[str, ...] = ()) -> None:
        if element is None:
            return

        def say() -> None:
            before = (self.kind, self.left_out, self.level, self.later)
            self.kind, self.left_out, self.level, self.later = kind, self.left_out or left_out, 0, []
            for child in element:
                if local(child) not in skip:
                    self._block(child, local(child))
            self.kind, self.left_out, self.level, self.later = before

        self.later.append(say)

    def _deletion(self, change: Any) -> None:
        deletion = self.deleted.get(attribute(change, "change-id") or "")
        if deletion is not None:
            kept = self.policy.revisions == "both"
            self._after(deletion, None, None if kept else "deleted", skip=("change-info",))

    def _shape(self, shape: Any, tag: str) -> str:
        """A picture is a figure, a formula its LaTeX in the line, a text box what it holds, after the paragraph."""
        alt = " ".join(e.text for name in ("title", "desc") for e in shape.findall(f"{{*}}{name}") if e.text)
        inner = [e for e in shape if local(e) not in {"title", "desc", ""}]
        formula = next((self._formula(e) for e in inner if local(e) == "object"), "")
        if formula:
            return f"${formula}$"
        names = {local(e) for e in inner}
        if tag == "frame" and names & {"image", "object", "object-ole", "plugin"} and "text-box" not in names:
            page = self.page
            self.later.append(lambda: self._figure(alt, page))
            return ""
        self._after(inner, None, None)
        return ""

    def _figure(self, alt: str, page: int | None) -> None:
        if self.left_out:
            self.outline.add(Kind.PAGE_FURNITURE, alt, page=page, left_out=self.left_out)
        else:
            self.outline.add(Kind.FIGURE, alt, page=page)

    def _formula(self, element: Any) -> str:
        math = element.find("{*}math")
        if math is None:
            name = (attribute(element, "href") or "").removeprefix("./")
            part = f"{name}/content.xml"
            if part not in self.package:
                return ""
            math = self.package.xml(part)
        return latex_of(math, self.limits) if local(math) == "math" else ""


def _collapsed(text: str | None) -> str:
    """White space as the format has it: runs in the file are one space."""
    if not text:
        return ""
    words = " ".join(text.split())
    if not words:
        return " "
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"
