"""WebVTT: one paragraph a cue, the voice before its words."""

import re
from html import unescape

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "captions/1"
VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]*)>")
TAG = re.compile(r"<[^>]*>")


def parse_captions(text: str, limits: Limits) -> ParsedDocument:
    """The cues' words in order, the same speaker's cues in one paragraph; times, notes and styles left out."""
    outline = Outline(limits.characters)
    header = text.split("\n", 1)[0].removeprefix("WEBVTT").strip(" -\t")
    if header:
        outline.title(header)
    voice, words = None, list[str]()
    for cue in re.split(r"\n\s*\n", text):
        lines = cue.strip().split("\n")
        timing = next((i for i, line in enumerate(lines) if "-->" in line), None)
        if timing is None:
            continue
        said = "\n".join(lines[timing + 1 :])
        speaker = found.group(1).strip() if (found := VOICE.search(said)) else None
        if words and (speaker is None or speaker != voice):
            outline.add(Kind.PARAGRAPH, _said(voice, words))
            words = []
        voice = speaker
        words.append(" ".join(unescape(TAG.sub("", said)).split()))
    if words:
        outline.add(Kind.PARAGRAPH, _said(voice, words))
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=header or None, parser=PARSER)


def _said(voice: str | None, words: list[str]) -> str:
    return f"{voice}: {' '.join(words)}" if voice else " ".join(words)
