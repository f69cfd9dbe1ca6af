"""The words below an element as one line, code as its lines, formulas as LaTeX; without recursion, however deep."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from upwell.parse.html.tags import BLOCKS, CONTROLS, UNREAD, is_apart, is_hidden, plain
from upwell.parse.limits import Limits
from upwell.parse.office.mathml import latex_of

LINE_NUMBER = re.compile(
    r"(?:^|[\s_-])(?:lineno|linenos|linenumbers?|line-numbers?|gutter|blob-num|ln-num)(?:$|[\s_-])", re.IGNORECASE
)
LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*|sourceCode\s+)([\w+#-]+)"
)
NO_LANGUAGE = frozenset(
    {"default", "none", "text", "plain", "plaintext", "nohighlight", "block", "wrapper", "container"}
)
PERMALINK = re.compile(r"[¶#§🔗⚓\s]*")
TEX_SCRIPT = re.compile(r"math/tex\b(;\s*mode=display)?", re.IGNORECASE)
POWER = re.compile(r"\s*[-+\u2212\u2013]?\d{1,6}\s*")
SPACED = CONTROLS | {"br", "img"}
BUTTONS = frozenset({"submit", "button", "reset"})
Skip = Callable[[Any], bool]


def words_of(element: Any, limits: Limits, skip: Skip = lambda _: False) -> str:
    """All words below an element in one line, images by their alt texts; `skip` names elements that are left out."""
    parts = [element.text or ""]
    for child, entering in _events(element, lambda e: e.tag in UNREAD | {"math", "img"} or is_hidden(e) or skip(e)):
        apart = " " if child.tag in BLOCKS or child.tag in SPACED or is_apart(child) else ""
        if entering:
            parts.append("^" if is_power(child, parts) else apart)
            if child.tag == "math" and not skip(child):
                parts.append(formula_of(child, limits))
            elif child.tag == "img" and not is_hidden(child):
                parts.append(child.get("alt") or "")
            elif child.tag not in UNREAD and not is_hidden(child) and not skip(child):
                parts.append(child.text or "")
        else:
            parts.append(apart)
            parts.append(child.tail or "")
    return plain("".join(parts)).strip()


def is_power(element: Any, before: list[str]) -> bool:
    """Whether an element is a raised number after a letter, a figure or a bracket: without a sign for it, 10 to the
    power of 3 would be 103. A link there is a note's.
    """
    if element.tag != "sup" or len(element) or not POWER.fullmatch(element.text or ""):
        return False
    last = next((part for part in reversed(before) if part), "")[-1:]
    return last.isalnum() or last in {")", "]", "}"}


def words_of_control(element: Any) -> str:
    """What a form's field says by itself: the words on a button, or those written in it."""
    if element.tag == "textarea":
        return plain(element.text or "").strip()
    kind = (element.get("type") or "").lower()
    return plain(element.get("value") or "").strip() if element.tag == "input" and kind in BUTTONS else ""


def every_word(element: Any) -> str:
    """All text below an element, hidden or not, in one line; scripts and the like are no text."""
    parts = [element.text or ""]
    for child in element.iterdescendants():
        if isinstance(child.tag, str) and child.tag not in UNREAD:
            parts.append(child.text or "")
        parts.append(child.tail or "")
    return plain(" ".join(parts)).strip()


def heading_of(element: Any, limits: Limits) -> str:
    """A heading's words without the sign that links to itself, or the link to edit it."""
    return words_of(element, limits, _is_permalink)


def code_of(element: Any) -> str:
    """The lines of preformatted text, without line numbers."""
    parts = [element.text or ""]
    for child, entering in _events(element, _is_beside_code):
        if entering:
            if _is_beside_code(child):
                continue
            if child.tag == "br" or (child.tag in BLOCKS and parts[-1] and not parts[-1].endswith("\n")):
                parts.append("\n")
            parts.append(child.text or "")
        else:
            if child.tag in BLOCKS and not parts[-1].endswith("\n"):
                parts.append("\n")
            parts.append(child.tail or "")
    return "".join(parts)


def code_language(element: Any) -> str | None:
    """The language that a `pre`, its `code`, or what stands around them names."""
    inner = element.find(".//code")
    near = [element, *([inner] if inner is not None else []), *_nearest(element, 2)]
    for holder in near:
        for name in ("data-lang", "data-language", "lang" if holder is not element else "data-lang"):
            if (said := holder.get(name)) and holder.tag in {"pre", "code"} and re.fullmatch(r"[\w+#-]{1,30}", said):
                return str(said).lower()
        if (found := LANGUAGE_CLASS.search(holder.get("class") or "")) and found.group(1).lower() not in NO_LANGUAGE:
            return found.group(1).lower()
    return None


def formula_of(math: Any, limits: Limits) -> str:
    """A formula as the LaTeX that its author wrote beside it, else as LaTeX made from its MathML."""
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower():
            return " ".join("".join(note.itertext()).split())
    return latex_of(math, limits) or " ".join((math.get("alttext") or "").split())


def _nearest(element: Any, count: int) -> Iterator[Any]:
    for _, above in zip(range(count), element.iterancestors(), strict=False):
        yield above


def _is_beside_code(element: Any) -> bool:
    """Line numbers, the button that copies, what is hidden."""
    return element.tag in {"button", "script", "style"} or is_hidden(element) or is_line_number(element)


def is_line_number(element: Any) -> bool:
    return LINE_NUMBER.search(element.get("class") or "") is not None


def _is_permalink(element: Any) -> bool:
    if "editsection" in (element.get("class") or ""):
        return True
    return (
        element.tag == "a"
        and (element.get("href") or "").startswith("#")
        and not len(element)
        and bool(PERMALINK.fullmatch(element.text or ""))
    )


def _events(element: Any, is_leaf: Skip) -> Iterator[tuple[Any, bool]]:
    """Each element below, entering and leaving, in the order of the text; nothing below a leaf."""
    stack = [(element, iter(element))]
    while stack:
        above, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            if above is not element:
                yield above, False
        elif isinstance(child.tag, str):
            yield child, True
            stack.append((child, iter(()) if is_leaf(child) else iter(child)))
