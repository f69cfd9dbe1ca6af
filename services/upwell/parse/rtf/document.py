"""RTF: paragraphs, headings, lists, tables, notes, headers, text boxes, comments and changes, links, pictures.

Written after the Rich Text Format specification 1.9.1. What is not known and optional (starred) is passed over.
"""

from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.office.styles import joined_code
from upwell.parse.outline import Outline
from upwell.parse.policy import ParsePolicy
from upwell.parse.rtf.definitions import PLACES, Definitions
from upwell.parse.rtf.flows import Flow, Recorder
from upwell.parse.rtf.structure import structure
from upwell.parse.rtf.tokens import SPECIAL, SYMBOLS, Letters, Token, tokens
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "rtf/2"
DEEPEST = 200
SKIPPED = frozenset(
    {
        "colortbl", "nonshppict", "shprslt", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "xe", "tc",
        "tcn", "rxe", "nonesttables", "mmathPict", "bkmkstart", "bkmkend", "private", "filetbl", "atrfstart",
        "atrfend", "atnid", "atnauthor", "atntime", "atnref", "revtbl", "listtable", "keywords", "doccomm", "hlinkbase",
    }
)  # fmt: skip
READ_THROUGH = frozenset(
    {"shpinst", "do", "ud", "moMath", "moMathPara", "mr", "shppict", "nesttableprops", "atnicn", "shpgrp"}
)
HEADERS = frozenset({"header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"})
OLD_PAGES = MappingProxyType({"mac": "mac-roman", "pc": "cp437", "pca": "cp850"})
NAMED = frozenset({"fonttbl", "stylesheet", "info", "title", "fldinst", "listtext", "pntext", "pict", "sn", "sv"})


class _Group(NamedTuple):
    """What braces save and restore."""

    place: str = ""
    code_page: str = ""
    stand_ins: int = 1
    left_out: str | None = None


def parse_rtf(data: bytes, limits: Limits, policy: ParsePolicy) -> ParsedDocument:
    """The document as blocks. Raises Unparsable for what is no RTF, or is cut before its last brace."""
    outline = Outline(limits.characters)
    reader = _Reader(outline, policy)
    if not reader.read(data) and not outline.blocks:
        raise corrupt("the RTF is cut off")
    return ParsedDocument(
        status=ParseStatus.OK, blocks=joined_code(outline.blocks), title=reader.title(), parser=PARSER
    )


class _Reader:
    """Walks the tokens once; a stack stands for the nesting, so that no depth harms the interpreter."""

    def __init__(self, outline: Outline, policy: ParsePolicy) -> None:
        self.outline, self.policy = outline, policy
        self.defined = Definitions()
        self.letters = Letters(self.defined.page)
        self.flows = [Flow(outline, self.defined.styles, None, None)]
        self.group = _Group(code_page=self.defined.page)
        self.stack: list[tuple[_Group, int]] = []
        self.starred = self.fresh = False
        self.aside: dict[str, str] = {}

    @property
    def flow(self) -> Flow:
        return self.flows[-1]

    def title(self) -> str | None:
        shown = next((b.text for b in self.outline.blocks if b.kind is Kind.TITLE), None)
        return shown or " ".join(self.aside.get("title", "").split()) or None

    def read(self, data: bytes) -> bool:
        """All of the document; False when its braces do not close."""
        closed = False
        for token in tokens(data):
            if token.kind == "{":
                self._open()
            elif token.kind == "}":
                closed = self._close()
                if closed:
                    break
            elif token.kind == "word":
                self._word(token)
            elif token.kind == "symbol":
                self._symbol(token.data)
            else:
                self.fresh = False
                self.letters.add(token.data)
        self._take()
        while len(self.flows) > 1:
            self._end_flow()
        self.flow.end()
        return closed

    def _open(self) -> None:
        self._take()
        self.letters.end_of_stand_ins()
        if len(self.stack) >= DEEPEST:
            raise too_large("nested too deeply")
        self.stack.append((self.group, len(self.flows)))
        self.starred, self.fresh = False, True

    def _close(self) -> bool:
        self._take()
        self.letters.end_of_stand_ins()
        if not self.stack:
            return True
        place = self.group.place
        self.group, flows = self.stack.pop()
        while len(self.flows) > flows:
            self._end_flow()
        self._leave(place)
        self.letters.switch(self.group.code_page)
        self.fresh = False
        return not self.stack

    def _leave(self, place: str) -> None:
        """What a group that ends had gathered for a purpose."""
        if place == self.group.place:
            return
        if place == "fldinst":
            words = self.aside.pop("fldinst", "").split()
            if words and words[0].upper() == "HYPERLINK":
                target = next((w.strip('"') for w in words[1:] if not w.startswith("\\")), "")
                self.flow.links.extend([target] if target else [])
        elif place == "pict" and self.group.place != "skip":
            self._figure(self.aside.pop("alt", ""))
        elif place == "sv":
            name, value = self.aside.pop("sn", "").strip(), self.aside.pop("sv", "")
            if name == "wzDescription":
                self.aside["alt"] = value
        elif place in {"listtext", "pntext"}:
            self.aside.pop(place, None)
            self.flow.format = replace(self.flow.format, listed=True)

    def _figure(self, alt: str) -> None:
        flow = self.flow
        flow.later.append(lambda: flow.outline.add(Kind.FIGURE, alt))

    def _start_flow(self, kind: Kind | None, left_out: str | None) -> None:
        self.flows.append(Flow(Recorder(), self.defined.styles, kind, left_out))
        self.group = self.group._replace(place="", left_out=None)

    def _end_flow(self) -> None:
        ended = self.flows.pop()
        ended.end()
        recorded = ended.outline
        if isinstance(recorded, Recorder):
            self.flow.later.append(lambda: recorded.say_to(self.flow.outline))

    def _take(self) -> None:
        """Give the letters gathered to where they belong."""
        text, place = self.letters.take(), self.group.place
        if not text or place == "skip":
            return
        if place in {"fonttbl", "info", "pict"}:
            return
        if place == "stylesheet":
            self.defined.style_name(text)
        elif place:
            self.aside[place] = self.aside.get(place, "") + text
        elif self.group.left_out:
            flow, left_out = self.flow, self.group.left_out
            flow.later.append(lambda: flow.outline.add(Kind.PAGE_FURNITURE, text, left_out=left_out))
        else:
            self.flow.words.append(text)

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self.starred = self.fresh
        elif symbol in SYMBOLS:
            self.letters.say(SYMBOLS[symbol])
        elif symbol in b"\r\n" and not self.group.place:
            self._paragraph()

    def _word(self, token: Token) -> None:
        word, number = token.word, token.number
        fresh, starred = self.fresh, self.starred
        self.fresh = self.starred = False
        if word == "u" and number is not None:
            self.letters.unicode(number, self.group.stand_ins)
            return
        if fresh and self._destination(word, starred):
            return
        if self.group.place == "skip":
            return
        if word in SPECIAL:
            self.letters.say(SPECIAL[word])
        elif self.group.place in PLACES:
            self.defined.word(self.group.place, word, number)
        elif not (self._character(word, number) or self.group.place):
            self._take()
            structure(self.flow, word, number)

    def _destination(self, word: str, starred: bool) -> bool:
        """Whether the word that opens a group sends its text elsewhere."""
        place = self.group.place
        if place == "skip" or word in SKIPPED:
            place = "skip"
        elif word in NAMED:
            place = word
        elif word == "upr":
            place = "upr"
        elif word == "ud" and place == "upr":
            place = self.stack[-2][0].place if len(self.stack) > 1 else ""
        elif word in HEADERS:
            self._start_flow(Kind.PAGE_FURNITURE, "page_furniture")
            return True
        elif word == "footnote":
            self._start_flow(Kind.FOOTNOTE, None)
            return True
        elif word == "annotation":
            kept = self.policy.comments
            self._start_flow(Kind.PARAGRAPH if kept else Kind.PAGE_FURNITURE, None if kept else "comment")
            return True
        elif word in {"shptxt", "dptxbxtext"}:
            self._start_flow(None, None)
            return True
        elif starred and word not in READ_THROUGH:
            place = "skip"
        else:
            return starred
        self.group = self.group._replace(place=place)
        return True

    def _character(self, word: str, number: int | None) -> bool:
        """Properties of letters, which a group restores."""
        if word == "f" or (word == "plain" and self.defined.font):
            self._switch(self.defined.code_page((number or 0) if word == "f" else self.defined.font))
        elif word == "plain":
            self._switch(self.defined.page)
            self._leave_out(None)
        elif word == "uc":
            self.group = self.group._replace(stand_ins=max(0, number if number is not None else 1))
        elif word in {"v", "deleted"}:
            self._leave_out(None if number == 0 else self._reason(word))
        elif word == "ansicpg" and number:
            self._default_page(f"cp{number}" if number != 65001 else "utf-8")
        elif word in OLD_PAGES:
            self._default_page(OLD_PAGES[word])
        elif word == "deff":
            self.defined.font = number or 0
        else:
            return False
        return True

    def _default_page(self, code_page: str) -> None:
        self.defined.page = code_page
        self._switch(code_page)

    def _switch(self, code_page: str) -> None:
        self.group = self.group._replace(code_page=code_page)
        self.letters.switch(code_page)

    def _reason(self, word: str) -> str | None:
        if word == "v":
            return "hidden"
        return None if self.policy.revisions == "both" else "deleted"

    def _leave_out(self, reason: str | None) -> None:
        if reason != self.group.left_out and not self.group.place:
            self._take()
            self.group = self.group._replace(left_out=reason)

    def _paragraph(self) -> None:
        self._take()
        self.flow.paragraph()
