"""What HTML's elements are to a reader: which stand on their own, which hold no words, which hide."""

import re
from typing import Any

UNREAD = frozenset(
    {
        "script", "style", "title", "meta", "link", "base", "svg", "iframe", "canvas", "audio", "video", "applet",
        "map", "col", "colgroup", "input", "textarea", "progress", "meter",
    }
)  # fmt: skip
"""Not the newer void elements (wbr, source): libxml2 may take what follows them for what is in them."""
CONTROLS = frozenset({"input", "textarea", "progress", "meter"})
"""A form's fields: none of their words is the page's, and what is beside them is not one word."""
UNSHOWN = frozenset({"template", "noscript", "datalist"})
BLOCKS = frozenset(
    {
        "html", "head", "body", "address", "article", "aside", "blockquote", "caption", "center", "dd", "details",
        "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "listing", "main", "menu", "nav", "noscript", "ol",
        "option", "optgroup", "p", "plaintext", "pre", "search", "section", "select", "summary", "table", "tbody",
        "td", "template", "tfoot", "th", "thead", "tr", "ul", "xmp", "datalist",
    }
)  # fmt: skip
INLINE = frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "blink", "br", "button", "cite", "code", "data", "del", "dfn",
        "em", "embed", "font", "i", "img", "ins", "kbd", "label", "mark", "marquee", "math", "nobr", "object", "output",
        "param", "picture", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "slot", "small", "source", "span",
        "strike", "strong", "sub", "sup", "time", "track", "tt", "u", "var", "wbr",
    }
)  # fmt: skip
KNOWN = UNREAD | UNSHOWN | BLOCKS | INLINE
PREFORMATTED = frozenset({"pre", "listing", "xmp", "plaintext"})
HEADING = re.compile(r"h[1-6]")
HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|mso-hide\s*:\s*all|"
    r"font-size\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$)|(?:text-indent|left|top)\s*:\s*-\d{4,}(?:\.\d+)?(?:px|em|pt)",
    re.IGNORECASE,
)
LAID_OUT = re.compile(r"display\s*:\s*(?:inline-)?(?:flex|grid)", re.IGNORECASE)
LAID_APART = re.compile(r"display\s*:\s*(?:block|flex|grid|list-item|flow-root|table)", re.IGNORECASE)
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
SPACE = re.compile(r"\s+")


def is_hidden(element: Any) -> bool:
    """Whether the element says that nobody sees it. Never the body: scripts show that when they are ready."""
    tag = element.tag
    if tag in {"html", "body"}:
        return False
    if tag in UNSHOWN or element.get("hidden") is not None:
        return True
    if (element.get("aria-hidden") or "").strip().lower() == "true":
        return True
    if tag == "dialog" and element.get("open") is None:
        return True
    style = element.get("style")
    return bool(style) and HIDDEN_STYLE.search(style) is not None


def is_apart(element: Any) -> bool:
    """Whether an element in a line of words is shown apart from what is beside it, though no space is between."""
    holder = element.getparent()
    around = holder.get("style") if holder is not None else None
    own = element.get("style")
    return element.tag == "button" or bool(
        (around and LAID_OUT.search(around)) or (own and LAID_APART.search(own) is not None)
    )


def plain(text: str) -> str:
    """Text as a browser shows it: white space is one space, what has no width is nothing."""
    return SPACE.sub(" ", INVISIBLE.sub("", text))
