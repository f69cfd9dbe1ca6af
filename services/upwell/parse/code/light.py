"""Source code of languages without a grammar here: runs of lines parted by blank lines before an unindented one."""

import re
from collections.abc import Iterator

from upwell.records import Block, Kind

BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+(?=\S)")
COMMENT_LINE = re.compile(r"\s*(?:#|//|--|/?\*|;|%|$)")
NAMED = re.compile(
    r"(?:(?:public|private|local|static|export|pub|final|async|open|override|async|internal)\s+)*"
    r"(?:function|func|fn|fun|def|defmodule|defp|class|struct|enum|trait|interface|protocol|extension|object|module|"
    r"sub|package|message|service|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|trigger|type|"
    r"(?:unique\s+)?index)(?:\s+if\s+not\s+exists)?)\s+[\"'`]?([\w.:$-]+)",
    re.IGNORECASE,
)
LABELLED = re.compile(r"(?:resource|data|variable|output|module|provider)\s+\"([^\"]+)\"(?:\s+\"([^\"]+)\")?")
ASSIGNED = re.compile(r"([\w.]+)\s*(?:<-|=|:=)\s*function\b")
LONGEST_LINE = 500
HEAD_LINES = 30


def light_blocks(text: str, language: str) -> Iterator[Block]:
    """A block a run of lines, under the name that its first line which is no comment defines."""
    for part in BLANK_LINES.split(text):
        yield Block(kind=Kind.CODE, text=part, heading_path=_name(part), language=language)


def _name(part: str) -> tuple[str, ...]:
    lines = (line for line in part[: HEAD_LINES * LONGEST_LINE].split("\n")[:HEAD_LINES] if line.strip())
    first = next((line for line in lines if not COMMENT_LINE.match(line)), "")[:LONGEST_LINE]
    if found := LABELLED.match(first):
        return (".".join(filter(None, found.groups())),)
    if found := NAMED.match(first) or ASSIGNED.match(first):
        return (found.group(1),)
    return ()
