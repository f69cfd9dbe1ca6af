"""`upwell explain --html`: one page that needs nothing but itself.

A policy in its head lets it load nothing and run nothing but the script that is written here: words of a document are
escaped, and would be inert if they were not.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from upwell.explain.boxes import sheets
from upwell.explain.coverage import Coverage, coverage
from upwell.explain.markup import Html, element
from upwell.explain.panel import panel
from upwell.explain.reading import reading
from upwell.parse.drawn import Drawings

LANGUAGE = re.compile("[a-z]{2,3}")
MOST_BLOCKS = 4_000
MOST_CHUNKS = 4_000
FACTS = ("media_type", "title", "language", "encoding", "pages")
MADE_BY = ("chunker", "prefixer")
KINDS = ("heading", "paragraph", "list_item", "table", "figure", "caption", "code", "footnote", "page_furniture")


class Shown(NamedTuple):
    """A document or a part of one, by its place in the page."""

    place: str
    label: str
    depth: int
    answer: Mapping[str, Any]
    drawings: Drawings


def page(documents: Sequence[tuple[str, Mapping[str, Any], Drawings]]) -> str:
    """The page of these documents: each one's name, its explanation and its pictures."""
    shown = [
        Shown(f"d{n}", *it)
        for n, it in enumerate(
            it for label, answer, drawings in documents for it in _with_children(label, 0, answer, drawings)
        )
    ]
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    title = f"{documents[0][0]} explained" if len(documents) == 1 else f"{len(documents)} documents explained"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style)),
    )
    top = element("header", element("h1", title), _contents(shown), class_="top")
    said = element("p", "", role="status", aria_live="polite", class_="said-aloud")
    body = element("body", top, element("main", *map(_document, shown)), said, element("script", Html(script)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _policy(style: str, script: str) -> str:
    """Nothing from anywhere; styles and scripts by their hash (CSP Level 3, `hash-source`)."""
    hashed = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    style_hash, script_hash = hashed
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _with_children(
    label: str, depth: int, answer: Mapping[str, Any], drawings: Drawings
) -> Iterator[tuple[str, int, Mapping[str, Any], Drawings]]:
    yield label, depth, answer, drawings
    for child in answer.get("children") or ():
        yield from _with_children(f"{label}!/{child.get('name') or 'unnamed'}", depth + 1, child, Drawings())


def _contents(shown: Sequence[Shown]) -> Html:
    if len(shown) == 1:
        return Html()
    links = [
        element(
            "li",
            element("a", one.label, href=f"#{one.place}"),
            f" {one.answer.get('status')}",
            class_=f"in-{one.depth}",
        )
        for one in shown
    ]
    return element("nav", element("ul", *links), aria_label="Documents")


def _document(shown: Shown) -> Html:
    full = shown.answer
    answer = {
        **full,
        "blocks": list(full.get("blocks") or ())[:MOST_BLOCKS],
        "chunks": list(full.get("chunks") or ())[:MOST_CHUNKS],
        "dropped": full.get("dropped") or (),
    }
    counted = coverage(full)
    work = _work(shown, answer, counted) if answer["blocks"] or shown.drawings.pages else ""
    return element(
        "article",
        element("header", element("h2", shown.label), _status(full), _facts(full), _coverage(counted), *_notes(shown)),
        work,
        class_="document",
        id=shown.place,
    )


def _work(shown: Shown, answer: Mapping[str, Any], counted: Coverage) -> Html:
    drawn = sheets(answer, shown.drawings)
    first = "pages" if shown.drawings.pages else "reading"
    spoken = answer.get("language") if LANGUAGE.fullmatch(answer.get("language") or "") else None
    words = element("div", reading(answer["blocks"]), class_="reading", lang=spoken, hidden=first != "reading")
    paper = element("div", drawn, class_="pages", hidden=first != "pages") if drawn else ""
    shows = element(
        "section",
        _tools(shown.place, first if drawn else None),
        paper,
        words,
        class_="shows",
        aria_label="The document",
    )
    return element("div", shows, panel(answer, counted, shown.place), class_="work")


def _tools(place: str, first: str | None) -> Html:
    """`first` is what is shown at first, None where there are no pages to choose."""
    groups = []
    if first is not None:
        groups = [
            _radios(f"{place}-view", "Show", (("pages", "pages"), ("reading", "words")), first),
            _radios(
                f"{place}-boxes", "Boxes", (("blocks", "blocks"), ("chunks", "chunks"), ("none", "none")), "blocks"
            ),
        ]
    legend = element(
        "ul",
        *(element("li", kind.replace("_", " "), class_=f"kind-{kind}") for kind in KINDS),
        class_="legend",
        aria_label="Colours",
    )
    return element("div", *groups, legend, class_="tools")


def _radios(group: str, legend: str, choices: Sequence[tuple[str, str]], chosen: str) -> Html:
    inputs = [
        element("label", element("input", type="radio", name=group, value=value, checked=value == chosen), label)
        for value, label in choices
    ]
    return element("fieldset", element("legend", legend), *inputs)


def _status(answer: Mapping[str, Any]) -> Html:
    status = str(answer.get("status"))
    good = "good" if status in {"ok", "empty"} else "bad"
    reason = f" {answer['reason']}" if answer.get("reason") else ""
    return element("p", element("b", status, class_=good), reason, class_="status")


def _facts(answer: Mapping[str, Any]) -> Html:
    named = FACTS + (MADE_BY if answer.get("chunks") else ())
    facts = [(fact.replace("_", " "), str(answer[fact])) for fact in named if answer.get(fact) not in {None, ""}]
    if answer.get("parser"):
        why = str(answer.get("choice") or "").removeprefix(f"{answer['parser']}: ")
        facts.insert(0, ("parser", f"{answer['parser']}" + (f" ({why})" if why else "")))
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value, dir="auto")) for name, value in facts)
    )


def _coverage(counted: Coverage) -> Html:
    return element("p", counted.line, class_="coverage bad" if counted.unaccounted else "coverage")


def _notes(shown: Shown) -> Iterator[Html]:
    if shown.drawings.left_out:
        yield element("p", shown.drawings.left_out, class_="note")
    for part, most in (("blocks", MOST_BLOCKS), ("chunks", MOST_CHUNKS)):
        count = len(shown.answer.get(part) or ())
        if count > most:
            yield element("p", f"only the first {most:,} of {count:,} {part} are shown", class_="note")
