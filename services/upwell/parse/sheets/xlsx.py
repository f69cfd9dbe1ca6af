"""Excel workbooks from their own XML, streamed: sheets as headings, their tables, charts, pictures and comments.

Docling reads workbooks too, but whole into memory, and without how their numbers are shown.
"""

from typing import Any

from upwell.parse.failures import corrupt, unsupported
from upwell.parse.limits import Limits
from upwell.parse.office.objects import embedded_children
from upwell.parse.office.package import Package, attribute, local
from upwell.parse.outline import Outline
from upwell.parse.parts import ParseChild
from upwell.parse.policy import ParsePolicy
from upwell.parse.sheets.blocks import Sheet, say_sheet
from upwell.parse.sheets.book import Looks, SheetReader, strings
from upwell.parse.word.drawing import chart_title
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "excel/2"


def parse_excel(data: bytes, limits: Limits, policy: ParsePolicy, parse_child: ParseChild) -> ParsedDocument:
    """A workbook; hidden sheets, rows and columns are left out with the reason. Raises Unparsable."""
    package = Package(data, limits)
    main = next((t for kind, t in package.relations("").values() if kind == "officeDocument"), "xl/workbook.xml")
    if main.endswith(".bin"):
        raise unsupported("a binary workbook (xlsb): only its XML form is read")
    if main not in package:
        raise corrupt("it has no workbook")
    book = _Book(package, main, limits, policy)
    book.read()
    core = package.xml_or_none("docProps/core.xml")
    title = " ".join((core.findtext("{*}title") or "").split()) if core is not None else ""
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(book.outline.blocks),
        title=title or None,
        pages=book.count or None,
        parser=PARSER,
        children=embedded_children(package, limits, parse_child),
    )


class _Book:
    def __init__(self, package: Package, main: str, limits: Limits, policy: ParsePolicy) -> None:
        self.package, self.limits, self.policy = package, limits, policy
        self.outline = Outline(limits.characters)
        self.root, self.relations = package.xml(main), package.relations(main)
        self.count = 0
        part = dict(self.relations.values())
        properties = self.root.find("{*}workbookPr")
        since_1904 = properties is not None and attribute(properties, "date1904") in {"1", "true"}
        looks = Looks(package.xml_or_none(part.get("styles", "")), since_1904=since_1904)
        shared = strings(package, part.get("sharedStrings", ""), limits)
        self.reader = SheetReader(package, shared, looks, limits)

    def read(self) -> None:
        for sheet in self.root.iter("{*}sheet"):
            kind, part = self.relations.get(attribute(sheet, "id") or "", ("", ""))
            name = attribute(sheet, "name") or f"Sheet{self.count + 1}"
            self.count += 1
            hidden = attribute(sheet, "state") in {"hidden", "veryHidden"}
            if part not in self.package:
                self.outline.heading(name, 1, page=self.count)
                continue
            read = self.reader.read(part) if kind == "worksheet" else Sheet()
            relations = self.package.relations(part)
            links = [relations[link][1] for link in self.reader.links if link in relations]
            say_sheet(self.outline, name, self.count, read, hidden=hidden, links=tuple(dict.fromkeys(links)))
            if kind == "chartsheet":
                self.reader.links = []
            for what, target in relations.values():
                if target not in self.package:
                    continue
                if what == "drawing" and not hidden:
                    self._drawing(target)
                elif what == "comments":
                    self._comments(target)

    def _drawing(self, part: str) -> None:
        """Charts by their titles, pictures by their alternative texts, text boxes by their words."""
        relations = self.package.relations(part)
        for element in self.package.xml(part).iter():
            tag = local(element)
            if tag == "chart":
                title = chart_title(self.package, relations.get(attribute(element, "id") or "", ("", ""))[1])
                self.outline.add(Kind.FIGURE, title, page=self.count)
            elif tag == "pic":
                named = next(element.iter("{*}cNvPr"), None)
                alt = "" if named is None else named.get("descr") or named.get("title") or ""
                self.outline.add(Kind.FIGURE, alt, page=self.count)
            elif tag == "txBody":
                lines = ("".join(t.text or "" for t in p.iter("{*}t")) for p in element.iter("{*}p"))
                self.outline.add(Kind.PARAGRAPH, "\n".join(line for line in lines if line.strip()), page=self.count)

    def _comments(self, part: str) -> None:
        for comment in self.package.xml(part).iter("{*}comment"):
            text = f"{attribute(comment, 'ref') or ''}: {_words(comment)}"
            if self.policy.comments:
                self.outline.add(Kind.PARAGRAPH, text, page=self.count)
            else:
                self.outline.add(Kind.PAGE_FURNITURE, text, page=self.count, left_out="comment")


def _words(comment: Any) -> str:
    return "".join(t.text or "" for t in comment.iter("{*}t"))
