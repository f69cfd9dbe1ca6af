"""The structural prefix: the document's own title > headings > caption, from its text alone. Pure, no model."""

from collections.abc import Callable, Sequence

PREFIXER = "structural/1"
JOINER = " > "


def structural_prefix(
    title: str | None,
    headings: Sequence[str],
    caption: str | None,
    count_tokens: Callable[[str], int],
    limit_tokens: int,
) -> str:
    """`title > heading > heading > caption` within `limit_tokens`: the deepest parts are kept, the outer dropped.

    Equal neighbours (a title that is also the first heading) stand once. Of a deepest part that is too long by itself
    the first words are kept.
    """
    parts: list[str] = []
    for part in (title, *headings, caption):
        words = " ".join((part or "").split())
        if words and (not parts or parts[-1] != words):
            parts.append(words)
    while parts:
        prefix = JOINER.join(parts)
        if count_tokens(prefix) <= limit_tokens:
            return prefix
        if len(parts) == 1:
            return _first_words(prefix, count_tokens, limit_tokens)
        parts.pop(0)
    return ""


def _first_words(text: str, count_tokens: Callable[[str], int], limit_tokens: int) -> str:
    # More characters than these would hold too many tokens in any case, and cost time to count.
    text = text[: limit_tokens * 16]
    while text and count_tokens(text) > limit_tokens:
        text = text[: len(text) * 3 // 4].rsplit(" ", 1)[0].rstrip() if " " in text else text[: len(text) // 2]
    return text
