"""Pictures and shapes in WordprocessingML, as DrawingML or the older VML: alternative texts and text boxes."""

from collections.abc import Iterator
from typing import Any

from upwell.parse.office.package import Package, attribute, local
from upwell.records import Kind

Relations = dict[str, tuple[str, str]]


def pictures(element: Any, what: str, package: Package, relations: Relations) -> Iterator[tuple[str, Kind]]:
    """(words, kind) of each picture, chart and diagram: a figure by its alternative text, a diagram by its words."""
    if what == "object":
        return
    if what == "pict":
        for shape in element:
            if any(local(e) == "imagedata" for e in shape.iter()):
                yield attribute(shape, "alt") or "", Kind.FIGURE
        return
    alt = next((_alt(e) for e in element.iter("{*}docPr")), "")
    names = {local(e): e for e in element.iter() if local(e) in {"pic", "chart", "relIds"}}
    if "pic" in names:
        yield alt, Kind.FIGURE
    if "chart" in names:
        target = relations.get(attribute(names["chart"], "id") or "", ("", ""))[1]
        yield " ".join(filter(None, (chart_title(package, target), alt))), Kind.FIGURE
    if "relIds" in names:
        yield alt, Kind.FIGURE
        target = relations.get(attribute(names["relIds"], "dm") or "", ("", ""))[1]
        yield "\n".join(_paragraphs(package, target)), Kind.PARAGRAPH


def _alt(properties: Any) -> str:
    texts = (properties.get("title") or "", properties.get("descr") or "")
    return " ".join(" ".join(dict.fromkeys(filter(None, texts))).split())


def chart_title(package: Package, part: str) -> str:
    """The words of a chart's title, "" for none."""
    if part not in package:
        return ""
    title = next(package.xml(part).iter("{*}title"), None)
    return "" if title is None else " ".join("".join(e.text or "" for e in title.iter("{*}t")).split())


def _paragraphs(package: Package, part: str) -> list[str]:
    if part not in package:
        return []
    texts = ("".join(e.text or "" for e in p.iter("{*}t")) for p in package.xml(part).iter("{*}p"))
    return [text for text in texts if text.strip()]


def text_boxes(element: Any) -> Iterator[Any]:
    """The contents of its text boxes, outermost only: a box within a box is found when that one is read."""
    waiting = [element]
    while waiting:
        at = waiting.pop()
        for child in reversed(at):
            tag = local(child)
            if tag == "txbxContent":
                yield child
            elif tag == "AlternateContent":
                chosen = next((c for c in child if local(c) in {"Choice", "Fallback"}), None)
                waiting.extend([] if chosen is None else [chosen])
            elif tag:
                waiting.append(child)
