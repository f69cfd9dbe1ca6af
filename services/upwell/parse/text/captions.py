"""Captions (WebVTT, SubRip): what is said as paragraphs, each with when it begins, and who says it."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "captions/2"
VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]*)>")
TAG = re.compile(r"<[^>]*>|\{\\[^}]*\}")
TIMING = re.compile(r"\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})")
SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"'\u201d\u00bb)\]]*\s*$")
PAUSE_S = 3.0
LONGEST = 400
SHORTEST = 120


class _Cue(NamedTuple):
    begin: float
    end: float
    voice: str | None
    words: str


def parse_captions(text: str, limits: Limits) -> ParsedDocument:
    """Cues that make up a sentence, or follow each other, are one paragraph; notes and styles are left out."""
    outline = Outline(limits.characters)
    first = text.split("\n", 1)[0]
    header = first.removeprefix("WEBVTT").strip(" -\t") if first.startswith("WEBVTT") else ""
    if header:
        outline.title(header)
    said: list[_Cue] = []
    for cue in _cues(text):
        if said and _begins_anew(said, cue):
            outline.add(Kind.PARAGRAPH, _paragraph(said))
            said = []
        said.append(cue)
    if said:
        outline.add(Kind.PARAGRAPH, _paragraph(said))
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=header or None, parser=PARSER)


def _cues(text: str) -> Iterator[_Cue]:
    for part in re.split(r"\n[^\S\n]*\n", text):
        lines = part.strip().split("\n")
        for i, line in enumerate(lines[:3]):
            if (found := TIMING.match(line)) is not None:
                spoken = "\n".join(lines[i + 1 :])
                voice = VOICE.search(spoken)
                words = " ".join(unescape(TAG.sub("", spoken)).split())
                begin, end = (_seconds(found.groups()[k : k + 4]) for k in (0, 4))
                if words:
                    yield _Cue(begin, end, voice.group(1).strip() if voice else None, words)
                break


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _begins_anew(said: list[_Cue], cue: _Cue) -> bool:
    """Whether another speaks, a pause was made, or a sentence ended and the paragraph is long enough."""
    last, length = said[-1], sum(len(c.words) for c in said)
    if cue.voice != last.voice or cue.begin - last.end >= PAUSE_S or length >= LONGEST:
        return True
    return length >= SHORTEST and SENTENCE_END.search(last.words) is not None


def _paragraph(said: list[_Cue]) -> str:
    minutes, seconds = divmod(int(said[0].begin), 60)
    words = " ".join(cue.words for cue in said)
    when = f"[{minutes // 60:02}:{minutes % 60:02}:{seconds:02}]"
    return f"{when} {said[0].voice}: {words}" if said[0].voice else f"{when} {words}"
