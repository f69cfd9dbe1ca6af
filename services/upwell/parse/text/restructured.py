"""reStructuredText, as far as reading needs it: sections, lists, tables, notes, literal blocks, directives.

https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.text.restructured_tables import COLUMNS, GRID_RULE, csv_table, grid_table, list_table, simple_table
from upwell.parse.text.restructured_words import Names, options_of
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "rst/2"
RULE = re.compile(r"([!-/:-@\[-`{-~])\1*\s*")
SHORT = 4
ITEM = re.compile(r"(\s*)(?:[-*+\u2022]|\d{1,3}[.)]|#\.|\(\d{1,3}\))\s+(\S.*)")
LETTERED = re.compile(r"(\s*)\(?([A-Za-z]|[ivxIVX]{2,5})[.)]\s+(\S.*)")
AFTER = {"i": "ii", "I": "II"}
EXPLICIT = re.compile(r"\s*(?:\.\.(?:\s|$)|__ \S)")
DIRECTIVE = re.compile(r"\s*\.\.\s+([\w:+.-]+?)::(?:\s+(.*))?$")
NOTE = re.compile(r"\s*\.\.\s+(\[(?:#?[\w.-]{1,60}|[#*])\])(?:\s+(.*))?$")
TARGET = re.compile(r"\s*(?:\.\.\s+__?[^\s:`]*|\.\.\s+_`[^`]+`|\.\.\s+_[^:]+):(?:\s.*)?$|\s*__ \S.*$")
SUBSTITUTION = re.compile(r"\s*\.\.\s+\|[^|]+\|\s+[\w:-]+::")
CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "prompt", "raw"})
FIGURES = frozenset({"image", "figure"})
NAVIGATION = frozenset({"toctree", "contents", "sectnum", "index"})
SETTINGS = frozenset(
    {"highlight", "default-role", "default-domain", "role", "meta", "include", "title", "tabularcolumns"}
    | {"module", "currentmodule", "py:module", "py:currentmodule", "container", "only", "ifconfig", "class"}
)
VERSIONS = {"versionadded": "New in", "versionchanged": "Changed in", "deprecated": "Deprecated since"}
DEEPEST = 12


def parse_restructured(text: str, limits: Limits) -> ParsedDocument:
    """Blocks of a reStructuredText document; its title is its first section's."""
    outline = Outline(limits.characters)
    text = text.expandtabs(8)
    _Reader(text.split("\n"), outline, Names(text), []).read()
    title = next((block.text for block in outline.blocks if block.kind is Kind.HEADING), None)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=PARSER)


class _Reader:
    """Takes the lines block by block; `at` is the next line."""

    def __init__(self, lines: Sequence[str], outline: Outline, names: Names, styles: list[str], depth: int = 0) -> None:
        self.lines, self.outline, self.names, self.styles, self.depth = lines, outline, names, styles, depth
        self.at = 0
        self.indents: list[int] = []  # of the list items that are open
        self.letters: dict[int, bool] = {}  # indentations at which a lettered list is open
        self.borders = [at for at, line in enumerate(lines) if "=" in line and COLUMNS.fullmatch(line.strip())]
        self.ends = [at for at in self.borders if at + 1 == len(lines) or not lines[at + 1].strip()]

    def read(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif not (self._heading() or self._explicit(line) or self._grid() or self._columns() or self._doctest()):
                self._paragraph()

    def _line(self, offset: int) -> str:
        return self.lines[self.at + offset] if self.at + offset < len(self.lines) else ""

    def _heading(self) -> bool:
        first = self._line(0)
        over = len(first.rstrip()) > 2 and RULE.fullmatch(first) is not None
        text, under = self._line(1 if over else 0), self._line(2 if over else 1)
        if RULE.fullmatch(under) is None or not text.strip() or (not over and text.startswith(" ")):
            if over:
                self.at += 1  # a transition
            return over
        width = len(under.rstrip())
        if width < min(len(text.rstrip()), SHORT) or under.rstrip() in {"::", ".."} or (over and first[0] != under[0]):
            return False
        style = f"{'=' if over else ''}{under[0]}"
        if style not in self.styles:
            self.styles.append(style)
        self.outline.heading(self.names.words(text), min(self.styles.index(style) + 1, 6))
        self.at += 3 if over else 2
        self.indents.clear()
        return True

    def _explicit(self, line: str) -> bool:
        """What begins with two dots: a note, a directive; targets, substitutions and comments are left out."""
        if EXPLICIT.match(line) is None:
            return False
        self.at += 1
        indent = len(line) - len(line.lstrip())
        bare = line.strip() == ".."
        if bare and not self._line(0).strip():
            return True
        goes_on = bool(self._line(0).strip())
        is_target = TARGET.match(line) is not None
        body = self._indented(indent) if goes_on or not is_target else []
        if (note := NOTE.match(line)) is not None:
            self._note(note.group(1), [note.group(2) or "", *body])
        elif (found := DIRECTIVE.match(line)) is not None:
            self._directive(found.group(1).lower(), (found.group(2) or "").strip(), body, goes_on=goes_on)
        else:
            is_named = SUBSTITUTION.match(line) is not None
            why = "target" if is_target else "substitution" if is_named else "comment"
            self._leave_out("\n".join([line.strip().removeprefix("..").strip(), *body]), why)
        return True

    def _leave_out(self, text: str, why: str) -> None:
        self.outline.add(Kind.PAGE_FURNITURE, text, left_out=why)

    def _note(self, label: str, lines: Sequence[str]) -> None:
        parts = re.split(r"\n\s*\n", "\n".join(lines).strip())
        said, links = self.names.plain("\n".join(" ".join(part.split()) for part in parts))
        self.outline.add(Kind.FOOTNOTE, f"{label} {said}", links=links)

    def _directive(self, name: str, argument: str, body: list[str], *, goes_on: bool) -> None:
        options, taken = options_of(body) if goes_on else ({}, 0)
        rest = body[taken:]
        words = "\n".join(rest).strip("\n")
        if name in NAVIGATION or (name in SETTINGS and not (words and name in {"container", "only", "ifconfig"})):
            why = "navigation" if name in NAVIGATION else "markup"
            self._leave_out("\n".join([f"{name}:: {argument}".strip(), *body]), why)
        elif name in CODE_DIRECTIVES and not words:
            self._leave_out(f"{name}:: {argument}", "markup")
        elif name in CODE_DIRECTIVES:
            self.outline.add(Kind.CODE, words, language=argument.lower() or None)
        elif name == "math":
            self.outline.add(Kind.FORMULA, f"{argument}\n{words}".strip())
        elif name in FIGURES:
            self.outline.add(
                Kind.FIGURE, options.get("alt", ""), links=tuple(filter(None, (argument, options.get("target"))))
            )
            caption, *legend = re.split(r"\n\s*\n", words, maxsplit=1)
            self.outline.add(Kind.CAPTION, self.names.words(caption))
            self._inner("\n".join(legend))
        elif name in {"list-table", "csv-table", "table"}:
            self._table(name, argument, options, rest)
        elif name in {"container", "only", "ifconfig"}:
            self._inner(words)
        else:
            said = f"{VERSIONS[name]} {argument}" if name in VERSIONS else argument
            self._inner(f"{said}\n{words}" if goes_on and not taken else f"{said}\n\n{words}")

    def _table(self, name: str, caption: str, options: dict[str, str], body: list[str]) -> None:
        self.outline.add(Kind.CAPTION, self.names.words(caption))
        read = {"list-table": list_table, "csv-table": csv_table}.get(name)
        table = read(body, options, self.names.words) if read else None
        if table is not None:
            self.outline.table(table)
        elif any(line.strip() for line in body):
            self._inner("\n".join(body))
        else:
            self._leave_out("\n".join(f"{key}: {said}" for key, said in options.items()), "markup")

    def _inner(self, text: str) -> None:
        """What a note or another directive says: read as the document is, flat where that is too deep."""
        if self.depth < DEEPEST:
            _Reader(text.split("\n"), self.outline, self.names, self.styles, self.depth + 1).read()
            return
        for part in re.split(r"\n\s*\n", text):
            said, links = self.names.plain(part)
            self.outline.add(Kind.PARAGRAPH, said, links=links)

    def _grid(self) -> bool:
        if GRID_RULE.fullmatch(self._line(0).strip()) is None:
            return False
        start = self.at
        while self._line(0).lstrip()[:1] in {"+", "|"}:
            self.at += 1
        lines = [line.strip() for line in self.lines[start : self.at]]
        if len(lines) < 3 or GRID_RULE.fullmatch(lines[-1]) is None:
            self.at = start
            return False
        self.outline.table(grid_table(lines, self.names.words))
        return True

    def _columns(self) -> bool:
        """A simple table: up to the first rule of its kind that a blank line follows."""
        place = bisect_left(self.borders, self.at)
        if place == len(self.borders) or self.borders[place] != self.at:
            return False
        next_end = bisect_right(self.ends, self.at)
        if next_end == len(self.ends) or bisect_left(self.borders, self.ends[next_end]) - place > 2:
            return False
        end = self.ends[next_end] + 1
        indent = len(self._line(0)) - len(self._line(0).lstrip())
        self.outline.table(
            simple_table([line[indent:].rstrip() for line in self.lines[self.at : end]], self.names.words)
        )
        self.at = end
        return True

    def _doctest(self) -> bool:
        if not self._line(0).lstrip().startswith(">>> "):
            return False
        start = self.at
        while self._line(0).strip():
            self.at += 1
        lines = self.lines[start : self.at]
        indent = len(lines[0]) - len(lines[0].lstrip())
        self.outline.add(Kind.CODE, "\n".join(line[indent:] for line in lines), language="python")
        return True

    def _item(self, at: int) -> tuple[int, str] | None:
        """The indentation and words of a list's item; a letter numbers one only beside the next letter."""
        line = self.lines[at]
        if (found := ITEM.match(line)) is not None:
            return len(found.group(1)), found.group(2)
        if (lettered := LETTERED.match(line)) is None:
            return None
        indent, letter = len(lettered.group(1)), lettered.group(2)
        following = {AFTER.get(letter), chr(ord(letter[0]) + 1)}
        for line_after in self.lines[at + 1 : at + 30]:
            after = LETTERED.match(line_after)
            if after is not None and len(after.group(1)) == indent and after.group(2) in following:
                self.letters[indent] = True
        return (indent, lettered.group(3)) if self.letters.get(indent) else None

    def _level(self, indent: int) -> int:
        while self.indents and self.indents[-1] > indent:
            self.letters.pop(self.indents.pop(), None)
        if not self.indents or self.indents[-1] < indent:
            self.indents.append(indent)
        return len(self.indents)

    def _paragraph(self) -> None:
        start = self.at
        item = self._item(start)
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].strip() and self._item(self.at) is None:
            self.at += 1
        part = self.lines[start : self.at]
        indent = len(part[0]) - len(part[0].lstrip())
        text = "\n".join(line.strip().removeprefix("| ") for line in part)
        words = (item[1] + text[len(part[0].strip()) :]) if item else text
        said, links = self.names.plain(f"{words[:-2].rstrip()}:" if words.endswith("::") else words)
        if item:
            self.outline.add(Kind.LIST_ITEM, said, level=self._level(indent), links=links)
        else:
            if indent == 0:
                self.indents.clear()
                self.letters.clear()
            self.outline.add(Kind.PARAGRAPH, said.strip(":") and said, links=links)
        if words.endswith("::"):
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
