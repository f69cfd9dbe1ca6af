"""Tells what a mail's writer says from what is quoted there: by `>`, by who-wrote lines, by Outlook's copied headers.

Everything is kept; what is quoted is of kind quote, its level how deep it is quoted.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from upwell.records import Block, Kind

MARK = re.compile(r"[ \t]{0,3}((?:>[ \t]?)+)")
SIGNATURE = re.compile(r"--[ \t]*")
ATTRIBUTION = re.compile(
    r"[\s*_]*(?:on|am|le|el|il|op|em|den|w dniu|på|dne|dňa|den|kl)\b.{4,300}?"
    r"(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|skrev|napisał\(?a?\)?|napsal\(?a?\)?|pisze)"
    r"\b.{0,120}?:?[\s*_]*|.{2,120}<[^<>\s]+@[^<>\s]+>\s*(?:wrote|writes|schrieb|a écrit|escribió)\s?:\s*|"
    r"\d{4}[-/年].{4,200}(?:wrote|のメール|写道|님이 작성)\s?[:：]\s*",
    re.IGNORECASE | re.DOTALL,
)
SEPARATOR = re.compile(
    r"[\s>]*(?:[-_=]{3,}\s*(?:original (?:message|appointment)|forwarded (?:message|by)|ursprüngliche nachricht|"
    r"weitergeleitete nachricht|message (?:d'origine|transféré)|mensaje original|mensaje reenviado|messaggio originale|"
    r"oorspronkelijk bericht|doorgestuurd bericht|mensagem original|originalnachricht|reply message)\s*[^\n]{0,60}|"
    r"begin forwarded message:|anfang der weitergeleiteten nachricht:|début du message transféré :)\s*",
    re.IGNORECASE,
)
FROM_FIELD = re.compile(
    r"[\s*_>]*(?:from|von|de|da|van|från|fra|от|发件人|差出人)\s*\*?\s*[:：]\*?\s*\S", re.IGNORECASE
)
SENT_FIELD = re.compile(
    r"[\s*_>]*(?:sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|inviato|data|verzonden|skickat|sendt|дата|"
    r"发送时间|日期|送信日時)\s*\*?\s*[:：]",
    re.IGNORECASE,
)
TO_FIELD = re.compile(
    r"[\s*_>]*(?:to|an|à|para|a|aan|till|til|subject|betreff|objet|asunto|oggetto|onderwerp|кому|收件人|主题|件名)\s*\*?\s*[:：]",
    re.IGNORECASE,
)
RULE = re.compile(r"[\s_=*-]{5,}")
HEADER_LINES = 8
LONGEST_ATTRIBUTION = 600
BLANK = re.compile(r"\n[^\S\n]*\n\s*")


def plain_blocks(text: str) -> Iterator[Block]:
    """The blocks of a plain body: paragraphs, quotes with their depth, a signature by itself."""
    rest_is_quoted = False
    for depth, lines in groupby(_lines(text), key=lambda line: line[0]):
        words = "\n".join(line for _, line in lines)
        if depth:
            for part in BLANK.split(words):
                yield Block(kind=Kind.QUOTE, text=part, level=depth)
            continue
        for part in _paragraphs(words):
            if rest_is_quoted or begins_the_rest(part):
                rest_is_quoted = True
                yield Block(kind=Kind.QUOTE, text=part, level=1)
            else:
                yield from _attributed(part)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with how deep it is quoted; a blank line is as deep as the one before it when that is quoted."""
    depth = 0
    for line in text.split("\n"):
        found = MARK.match(line)
        if found is not None:
            depth = found.group(1).count(">")
        elif line.strip():
            depth = 0
        yield (depth if found is not None or line.strip() else 0), line


def _paragraphs(words: str) -> Iterator[str]:
    for part in BLANK.split(words):
        lines = part.split("\n")
        at = next((i for i, line in enumerate(lines) if SIGNATURE.fullmatch(line)), None)
        if at is None:
            at = _outlook_at(lines)
        if at:
            yield "\n".join(lines[:at])
            yield "\n".join(lines[at:])
        else:
            yield part


def _attributed(part: str) -> Iterator[Block]:
    """A paragraph, whose last lines may say who wrote what is quoted next."""
    lines = part.rstrip().split("\n")
    for count in (1, 2, 3):
        said = "\n".join(lines[-count:])
        if count <= len(lines) and is_attribution(said):
            yield Block(kind=Kind.PARAGRAPH, text="\n".join(lines[:-count]))
            yield Block(kind=Kind.QUOTE, text=said, level=1)
            return
    yield Block(kind=Kind.PARAGRAPH, text=part)


def is_attribution(text: str) -> bool:
    """Whether a text is but a line that says who wrote what follows."""
    text = text.strip()
    return 0 < len(text) <= LONGEST_ATTRIBUTION and text.endswith((":", "：")) and bool(ATTRIBUTION.fullmatch(text))


def begins_the_rest(text: str) -> bool:
    """Whether from here on all is another's message, copied below: a separator, or headers as Outlook copies them."""
    lines = text.lstrip("\n_ \t").split("\n")
    return SEPARATOR.fullmatch(lines[0]) is not None or _outlook_at(lines) == 0


def _outlook_at(lines: Sequence[str]) -> int | None:
    """The line at which copied headers (From, Sent, To) begin."""
    for i, line in enumerate(lines):
        if FROM_FIELD.match(line):
            below = lines[i + 1 : i + HEADER_LINES]
            if any(map(SENT_FIELD.match, below)) and any(map(TO_FIELD.match, below)):
                return i - 1 if i and RULE.fullmatch(lines[i - 1]) else i
    return None


def marked(blocks: Sequence[Block]) -> Iterator[Block]:
    """Blocks of an HTML body with what is quoted marked: after copied headers all the rest, else who-wrote lines."""
    rest_is_quoted = False
    for i, block in enumerate(blocks):
        if block.kind in {Kind.PARAGRAPH, Kind.TABLE} and not rest_is_quoted:
            following = "\n".join(b.text for b in blocks[i : i + 5]) if FROM_FIELD.match(block.text) else block.text
            rest_is_quoted = begins_the_rest(following)
        is_quoted = rest_is_quoted or (block.kind is Kind.PARAGRAPH and is_attribution(block.text))
        if is_quoted and block.kind in {Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.TITLE}:
            yield replace(block, kind=Kind.QUOTE, level=1)
        else:
            yield block
