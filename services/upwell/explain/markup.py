"""HTML put together from elements: every text is escaped, unless it is markup that was made here."""

import html
import re
from collections.abc import Iterable

VOID = frozenset({"img", "meta", "link", "input", "br"})
# What a browser would obey or not show: controls but tab and newline, marks of direction, lone surrogates.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class Html(str):
    """Markup that is safe to put into a page as it is."""

    __slots__ = ()


def text(words: str) -> Html:
    """Words of a document as markup; what could not be seen shows as a replacement character."""
    if isinstance(words, Html):
        return words
    return Html(html.escape(UNSEEN.sub("\ufffd", words.replace("\r\n", "\n"))))


def join(parts: Iterable[str]) -> Html:
    """Parts one after the other."""
    return Html("".join(text(part) for part in parts))


def element(tag: str, *inside: str, **attributes: str | float | bool | None) -> Html:
    """`element("p", words, class_="x", data_block=3)`; an attribute that is None or False is left out."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(str(value))}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{tag}{written}>" if tag in VOID else f"<{tag}{written}>{join(inside)}</{tag}>")


def snippet(words: str, limit: int) -> str:
    """The first `limit` characters on one line, `…` where they are cut."""
    line = " ".join(words[: 4 * limit].split())
    return line if len(line) <= limit and len(words) <= 4 * limit else line[: limit - 1].rstrip() + "…"
