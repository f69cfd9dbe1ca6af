"""reStructuredText, as far as reading needs it: sections, lists, literal blocks, directives, field lists.

https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html
"""

import re
from collections.abc import Sequence

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "rst/1"
RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
ITEM = re.compile(r"(\s*)(?:[-*+\u2022]|\d{1,3}[.)]|#\.|\(\d{1,3}\))\s+(\S.*)")
DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|]+\|\s+)?([\w:-]+)::\s*(.*)")
TARGET = re.compile(r"\s*\.\.\s+(?:_[^:]+:|\[[^\]]+\]).*")
OPTION = re.compile(r"\s*:[\w -]+:.*")
CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "highlight"})
FIGURES = frozenset({"image", "figure"})
ROLE = re.compile(r":[\w:+.-]+:`~?([^`<]*?)(?:\s*<[^`>]*>)?`")
LINK = re.compile(r"`([^`<]+?)\s*<([^`>]+)>`__?")
LITERAL = re.compile(r"``([^`]+)``")
EMPHASIS = re.compile(r"(?<!\w)(\*{1,2})(\S(?:[^*]*\S)?)\1(?!\w)")


def parse_restructured(text: str, limits: Limits) -> ParsedDocument:
    """Blocks of a reStructuredText document; its title is its first section's."""
    outline = Outline(limits.characters)
    _Reader(text.expandtabs(8).split("\n"), outline).read()
    title = next((block.text for block in outline.blocks if block.kind is Kind.HEADING), None)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=PARSER)


class _Reader:
    """Takes the lines block by block; `at` is the next line."""

    def __init__(self, lines: Sequence[str], outline: Outline) -> None:
        self.lines, self.outline = lines, outline
        self.at = 0
        self.styles: list[str] = []

    def read(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif not (self._heading() or self._directive(line)):
                self._paragraph()

    def _line(self, offset: int) -> str:
        return self.lines[self.at + offset] if self.at + offset < len(self.lines) else ""

    def _heading(self) -> bool:
        over = RULE.fullmatch(self._line(0)) is not None
        text, under = self._line(1 if over else 0), self._line(2 if over else 1)
        if RULE.fullmatch(under) is None or not text.strip() or (not over and text.startswith(" ")):
            if over:
                self.at += 1  # a transition
            return over
        if len(under.rstrip()) < min(len(text.rstrip()), 4) or (over and self._line(0)[0] != under[0]):
            return False
        style = f"{'=' if over else ''}{under[0]}"
        if style not in self.styles:
            self.styles.append(style)
        self.outline.heading(_plain(text)[0], min(self.styles.index(style) + 1, 6))
        self.at += 3 if over else 2
        return True

    def _directive(self, line: str) -> bool:
        """A directive by its name; comments and targets are left out."""
        found = DIRECTIVE.match(line)
        if found is None and not line.lstrip().startswith(".. "):
            return False
        self.at += 1
        if TARGET.fullmatch(line):
            return True
        body = self._indented(len(line) - len(line.lstrip()))
        if found is None:
            self.outline.add(Kind.PAGE_FURNITURE, "\n".join([line.strip()[3:], *body]), left_out="comment")
            return True
        name, argument = found.group(1).lower(), found.group(2).strip()
        options = [said for said in body if OPTION.fullmatch(said)] if body and OPTION.fullmatch(body[0]) else []
        words = "\n".join(body[len(options) :])
        if name in CODE_DIRECTIVES:
            self.outline.add(Kind.CODE, words, language=argument.lower() or None)
        elif name == "math":
            self.outline.add(Kind.FORMULA, f"{argument}\n{words}".strip())
        elif name in FIGURES:
            alt = next((said.split(":", 2)[2].strip() for said in options if said.strip().startswith(":alt:")), "")
            self.outline.add(Kind.FIGURE, alt, links=(argument,))
            self.outline.add(Kind.CAPTION, _plain(words)[0])
        else:
            self._inner(f"{argument}\n\n{words}")
        return True

    def _inner(self, text: str) -> None:
        """What a note or another directive says, as paragraphs."""
        for part in re.split(r"\n\s*\n", text):
            said, links = _plain(part)
            self.outline.add(Kind.PARAGRAPH, said, links=links)

    def _paragraph(self) -> None:
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip():
            if self.at > start and ITEM.match(self.lines[self.at]):
                break
            self.at += 1
        part = self.lines[start : self.at]
        item = ITEM.match(part[0])
        text = "\n".join(line.strip() for line in part)
        words = (item.group(2) + text[len(part[0].strip()) :]) if item else text
        said, links = _plain(re.sub(r"\s*::\s*\Z", ":", words) if words.endswith("::") else words)
        if item:
            self.outline.add(Kind.LIST_ITEM, said, level=len(item.group(1)) // 2 + 1, links=links)
        else:
            self.outline.add(Kind.PARAGRAPH, said.strip(":") and said, links=links)
        if words.endswith("::"):
            indent = len(part[0]) - len(part[0].lstrip())
            self.outline.add(Kind.CODE, "\n".join(self._indented(indent)))

    def _indented(self, indent: int) -> list[str]:
        """The lines that follow at a deeper indentation, without it."""
        start = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            self.at += 1
        body = self.lines[start : self.at]
        margin = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
        return "\n".join(line[margin:] for line in body).strip("\n").split("\n") if body else []


def _plain(text: str) -> tuple[str, tuple[str, ...]]:
    """Words without the signs of roles, links and emphasis; and where the links lead."""
    links = tuple(found[1] for found in LINK.findall(text))
    text = LITERAL.sub(r"\1", LINK.sub(r"\1", ROLE.sub(r"\1", text)))
    return EMPHASIS.sub(r"\2", text), links
