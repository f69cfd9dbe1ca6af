"""The inline content of a paragraph of WordprocessingML: its words, and what hangs on them."""

import logging
from collections.abc import Iterable
from typing import Any

from upwell.parse.failures import too_large
from upwell.parse.limits import Limits
from upwell.parse.office.package import attribute, local
from upwell.parse.policy import ParsePolicy
from upwell.parse.word.styles import Styles, monospaced, switch, value, whole

BREAKS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "‑"}


class Inline:
    """What one paragraph says. `left_out` holds (reason, words), `hanging` (what, element) in order."""

    def __init__(self, links: dict[str, tuple[str, str]], styles: Styles, limits: Limits, policy: ParsePolicy) -> None:
        self.relations, self.styles, self.limits, self.policy = links, styles, limits, policy
        self.parts: list[str] = []
        self.links: list[str] = []
        self.left_out: list[tuple[str, str]] = []
        self.hanging: list[tuple[str, Any]] = []
        self.formulas: list[str] = []
        self.monospaced = self.letters = 0
        self.bold = self.unsaid = 0  # letters in bold, and those that leave it to the paragraph's style
        self.sizes: dict[int | None, int] = {}  # letters by their size, None where that is left to the style
        self._fields: list[list[str] | None] = []

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def read(self, children: Iterable[Any], reason: str | None = None, depth: int = 0) -> None:
        """All of them in order; `reason` is why their words are left out. Raises `too_large` when nested too deeply."""
        if depth > self.limits.nesting:
            raise too_large("nested too deeply")
        for child in children:
            tag = local(child)
            if tag == "r":
                self._run(child, reason, depth)
            elif tag == "hyperlink":
                self._link(child)
                self.read(child, reason, depth + 1)
            elif tag == "del":
                self.read(child, reason if self.policy.revisions == "both" else reason or "deleted", depth + 1)
            elif tag == "moveFrom":
                self.read(child, reason or "deleted", depth + 1)
            elif tag in {"oMath", "oMathPara"}:
                self._formula(child, tag)
            elif tag == "AlternateContent":
                self.read(_chosen(child), reason, depth + 1)
            elif tag == "fldSimple" and "HYPERLINK" in (attribute(child, "instr") or ""):
                self._target(attribute(child, "instr") or "")
                self.read(child, reason, depth + 1)
            elif tag and len(child):  # whatever wraps runs, known or not, is looked into
                self.read(child, reason, depth + 1)

    def _run(self, run: Any, reason: str | None, depth: int) -> None:
        properties = run.find("{*}rPr")
        style = value(properties, "rStyle")
        vanish = switch(properties, "vanish")
        hidden = vanish if vanish is not None else bool(style) and self.styles.hidden(style)
        mono = monospaced(properties)
        self._mono = mono if mono is not None else bool(style) and self.styles.monospaced(style)
        self._heavy, self._size = switch(properties, "b"), whole(value(properties, "sz"))
        self._pieces(run, reason or ("hidden" if hidden else None), depth)

    _mono = False
    _heavy: bool | None = None
    _size: int | None = None

    def _pieces(self, run: Any, reason: str | None, depth: int) -> None:
        for piece in run:
            tag = local(piece)
            if tag in {"t", "delText"}:
                self._say(piece.text or "", reason)
            elif tag in BREAKS:
                self._say(BREAKS[tag], reason)
            elif tag == "br":
                self._say("\n", reason)
            elif tag == "sym":
                self._say(_symbol(piece), reason)
            elif tag == "fldChar":
                self._field(attribute(piece, "fldCharType"))
            elif tag == "instrText":
                if self._fields and self._fields[-1] is not None:
                    self._fields[-1].append(piece.text or "")
            elif tag == "AlternateContent":
                self._pieces(_chosen(piece), reason, depth)
            elif tag in {"drawing", "pict", "object", "footnoteReference", "endnoteReference", "commentReference"}:
                self.hanging.append((tag, piece))
            elif tag == "ruby":
                self.read(piece.findall("{*}rubyBase"), reason, depth + 1)

    def _say(self, text: str, reason: str | None) -> None:
        if not text:
            return
        if reason:
            if self.left_out and self.left_out[-1][0] == reason:
                self.left_out[-1] = (reason, self.left_out[-1][1] + text)
            else:
                self.left_out.append((reason, text))
            return
        self.parts.append(text)
        solid = len(text) - text.count(" ")
        self.letters += solid
        self.monospaced += solid if self._mono else 0
        self.bold += solid if self._heavy else 0
        self.unsaid += solid if self._heavy is None else 0
        if solid:
            self.sizes[self._size] = self.sizes.get(self._size, 0) + solid

    def _field(self, kind: str | None) -> None:
        """A field's instruction stands between `begin` and `separate`, its result after that."""
        if kind == "begin":
            if len(self._fields) < self.limits.nesting:
                self._fields.append([])
        elif kind == "separate" and self._fields:
            instruction, self._fields[-1] = self._fields[-1], None
            self._target("".join(instruction or ()))
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _target(self, instruction: str) -> None:
        words = instruction.split()
        if words and words[0] == "HYPERLINK":
            target = next((word.strip('"') for word in words[1:] if not word.startswith("\\")), "")
            self.links.extend([target] if target else [])

    def _link(self, link: Any) -> None:
        name, anchor = attribute(link, "id"), attribute(link, "anchor")
        target = self.relations.get(name or "", ("", ""))[1]
        if target or anchor:
            self.links.append(f"{target}#{anchor}" if anchor else target)

    def _formula(self, math: Any, tag: str) -> None:
        formulas = [math] if tag == "oMath" else list(math.findall("{*}oMath"))
        for formula in formulas:
            latex = omml_latex(formula)
            if latex:
                self.formulas.append(latex)
                self.parts.append(f"${latex}$")


def omml_latex(math: Any) -> str:
    """Office's formula as LaTeX, by docling's converter; its bare words where that fails."""
    from docling.backend.docx.latex.omml import oMath2Latex  # noqa: PLC0415 - only where there is a formula

    logging.getLogger("docling").setLevel(logging.CRITICAL)
    try:
        return " ".join(str(oMath2Latex(math)).split())
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, NotImplementedError):
        return " ".join("".join(math.itertext()).split())


def _chosen(alternatives: Any) -> Any:
    """The first of the alternatives that has content: the choice, else what stands in for it."""
    return next((child for child in alternatives if local(child) in {"Choice", "Fallback"} and len(child)), ())


def _symbol(piece: Any) -> str:
    code = attribute(piece, "char") or ""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    # Fonts of symbols have their signs at F000 and above, which mean nothing without the font.
    return "•" if 0xF000 <= number <= 0xF0FF or not number or 0xD800 <= number < 0xE000 else chr(min(number, 0x10FFFF))
