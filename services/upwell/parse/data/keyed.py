"""Settings files (YAML, TOML, INI) as their own text, cut at their keys: comments stay, the path of keys is the path.

By lines and indentation, not by a parser: a template or a broken file is still read, and nothing is resolved.
"""

import re
from collections.abc import Iterator, Sequence

from upwell.records import Block, Kind

KEYED = frozenset({"yaml", "toml", "ini"})
KEY = re.compile(
    r"""(\s*)(?:- +)?("[^"]{1,120}"|'[^']{1,120}'|[^\s:#"'\[{&*!|>-][^:#]{0,120}?|[\w$/{<-][^:#]{0,120}?)\s*:(?:\s|$)"""
)
ITEM = re.compile(r"(\s*)- ")
NAME = re.compile(r"""\s*(?:- +)?(?:name|id|title|key|alias|kind)\s*:\s*["']?([^"'#\n]{1,80})""")
TABLE = re.compile(r"\s*\[{1,2}\s*([^\[\]]{1,200}?)\s*\]{1,2}\s*(?:[#;].*)?")
DOCUMENT = re.compile(r"(?m)^---(?:[ \t].*)?$\n?")
KIND = re.compile(r"(?m)^kind:\s*(\S+)")
METADATA_NAME = re.compile(r"(?m)^metadata:\s*\n(?:[ \t].*\n)*?[ \t]+name:\s*[\"']?([^\s\"']+)")
COMMENT_OR_BLANK = re.compile(r"\s*(?:[#;].*)?")
WHOLE_CHARACTERS = 600
DEEPEST = 5
Part = tuple[tuple[str, ...], str]


def keyed_blocks(text: str, language: str) -> Iterator[Block]:
    """One block of code a key, a table, or an item with a name; small ones of one parent together."""
    parts = _yaml(text) if language == "yaml" else _tables(text.split("\n"))
    for path, words in _joined(parts):
        yield Block(kind=Kind.CODE, text=words, heading_path=path, language=language)


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Neighbours of one path together, as long as they are small: the items of a list."""
    last: Part | None = None
    for path, words in parts:
        if last is not None and last[0] == path and len(last[1]) + len(words) <= WHOLE_CHARACTERS:
            last = (path, f"{last[1]}\n{words}")
            continue
        if last is not None:
            yield last
        last = (path, words)
    if last is not None:
        yield last


def _tables(lines: Sequence[str]) -> Iterator[Part]:
    path: tuple[str, ...] = ()
    start = 0
    for i, line in enumerate(lines):
        if (found := TABLE.fullmatch(line)) is not None:
            begin = _comments_above(lines, start, i)
            yield path, "\n".join(lines[start:begin])
            start, path = begin, tuple(part.strip("\"' ") for part in found.group(1).split("."))
    yield path, "\n".join(lines[start:])


def _yaml(text: str) -> Iterator[Part]:
    at = 0
    for end in (*(found.end() for found in DOCUMENT.finditer(text)), len(text)):
        document = text[at:end]
        kind, name = KIND.search(document), METADATA_NAME.search(document)
        path = (f"{kind.group(1)} {name.group(1)}",) if kind and name else ()
        yield from _keys(document.split("\n"), path, DEEPEST)
        at = end


def _keys(lines: Sequence[str], path: tuple[str, ...], left: int) -> Iterator[Part]:
    """Cut at the least indented keys or named items; small neighbours are one part under their parent's path."""
    starts = _starts(lines)
    if left <= 0 or not starts or sum(map(len, lines)) <= WHOLE_CHARACTERS:
        yield (*path, *((starts[0][1],) if len(starts) == 1 and starts[0][1] else ())), "\n".join(lines)
        return
    head = "\n".join(lines[: starts[0][0]])
    for n, (start, name) in enumerate(starts):
        end = starts[n + 1][0] if n + 1 < len(starts) else len(lines)
        below = (*path, name) if name else path
        inner = lines[start:end]
        if sum(map(len, inner)) > WHOLE_CHARACTERS:
            body = _first_below(inner)
            parts = list(_keys(inner[body:], below, left - 1))
            parts[0] = (parts[0][0], "\n".join([*inner[:body], parts[0][1]]))
        else:
            parts = [(below, "\n".join(inner))]
        if head.strip():
            parts[0] = (parts[0][0], f"{head}\n{parts[0][1]}")
        head = ""
        yield from parts


def _first_below(lines: Sequence[str]) -> int:
    """Where what is below the first key begins: the key's own line and comments stay above."""
    for i, line in enumerate(lines):
        if not COMMENT_OR_BLANK.fullmatch(line):
            return min(i + 1, len(lines))
    return len(lines)


def _starts(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines at which the outermost keys or items begin, comments above them included, with their names."""
    said = [
        (i, line) for i, line in enumerate(lines) if not COMMENT_OR_BLANK.fullmatch(line) and not line.startswith("---")
    ]
    if not said:
        return []
    outer = min(len(line) - len(line.lstrip()) for _, line in said)
    level = [(i, line) for i, line in said if len(line) - len(line.lstrip()) == outer]
    # A list may stand at its key's own indentation: it is below the key all the same.
    keys = [(i, key.group(2)) for i, line in level if not ITEM.match(line) and (key := KEY.match(line))]
    found: list[tuple[int, str]] = []
    for i, name in keys or [(i, _item_name(lines[i : i + 4])) for i, line in level if ITEM.match(line)]:
        above = found[-1][0] + 1 if found else 0
        found.append((_comments_above(lines, above, i), name.strip("\"' ")))
    return found


def _item_name(lines: Sequence[str]) -> str:
    return next((found.group(1).strip() for line in lines if (found := NAME.match(line))), "")


def _comments_above(lines: Sequence[str], least: int, at: int) -> int:
    while at > least and lines[at - 1].lstrip().startswith(("#", ";")):
        at -= 1
    return at
