"""Which of the older encodings some bytes are in, by how much of what they would spell is what such texts are made of.

The frequent characters are the commonest in each language's own prose; a wrong decoding spells rare ones.
"""

import re
from types import MappingProxyType

from upwell.parse.letters.frequent import KOREAN, SIMPLIFIED, TRADITIONAL
from upwell.records import Record

TAG = re.compile(rb"<[^<>]{0,2000}>")
RUN = re.compile(rb"[\x80-\xff]+")
SAMPLE_BYTES = 64 * 1024
RUN_LENGTH = 3
RUN_SHARE = 0.6
LEAST_BYTES = 12
LEAST_CHARACTERS = 2
HIRAGANA = "".join(map(chr, range(0x3041, 0x3094)))
KATAKANA = "".join(map(chr, range(0x30A1, 0x30F7)))


class Candidate(Record, frozen=True, kw_only=True):
    """An encoding, and the least share of the characters beyond ASCII that must be among the frequent ones."""

    encoding: str
    frequent: frozenset[str]
    share: float


WIDE = tuple(
    Candidate(encoding=encoding, frequent=frozenset(frequent), share=share)
    for encoding, frequent, share in (
        ("gb18030", SIMPLIFIED, 0.35),
        ("big5", TRADITIONAL, 0.35),
        ("euc_kr", KOREAN, 0.45),
        ("euc_jp", HIRAGANA + KATAKANA, 0.3),
        ("cp932", HIRAGANA + KATAKANA, 0.3),
    )
)
NARROW = tuple(
    Candidate(encoding=encoding, frequent=frozenset(frequent), share=share)
    for encoding, frequent, share in (
        ("cp1251", "оеаинтсрвлкмдпуяы", 0.6),
        ("koi8-r", "оеаинтсрвлкмдпуяы", 0.6),
        ("cp866", "оеаинтсрвлкмдпуяы", 0.6),
        ("iso8859-5", "оеаинтсрвлкмдпуяы", 0.6),
        ("cp1253", "αοιετσνηυρπκμλωςάίόέή", 0.6),
        ("iso8859-7", "αοιετσνηυρπκμλωςάίόέή", 0.6),
        ("cp1255", "יוהלאשרתבמנחקדפם", 0.6),
        ("cp1256", "اليمونترعبدسةفهك", 0.6),
        ("iso8859-6", "اليمونترعبدسةفهك", 0.6),
        ("cp874", "านรอกเงยลมวดตทสคปหข่้ี", 0.5),
    )
)
CENTRAL = MappingProxyType(
    {"cp1250": "ąćęłńśźżáčďéěíňóřšťúůýžőűăîşţäöüßÁŠŽŁŚ", "iso8859-2": "ąćęłńśźżáčďéěíňóřšťúůýžőűăîşţäöüßÁŠŽŁŚ"}
)
INSIDE_WORDS = re.compile(r"(?<=[a-z])[³¹¿¶¼¾±¦¬¡](?=[a-z\s.,]|$)|(?<=\s)[¶¿³](?=[a-z])")
FEW_ODD = 2


def guess(data: bytes) -> str | None:
    """The name of the encoding, or None for Western letters and for bytes that say too little."""
    sample = TAG.sub(b" ", data[:SAMPLE_BYTES])
    runs = RUN.findall(sample)
    if not runs:
        return None
    best = _best(data, sample, WIDE)
    words = [len(run) for run in runs if len(run) >= RUN_LENGTH]
    if best is None and sum(words) >= max(LEAST_BYTES, RUN_SHARE * sum(map(len, runs))):
        best = _best(data, sample, NARROW)
    return best or _central(data, sample)


def _best(data: bytes, sample: bytes, candidates: tuple[Candidate, ...]) -> str | None:
    scored = [(score, c.encoding) for c in candidates if (score := _score(data, sample, c)) >= c.share]
    return max(scored, key=lambda found: found[0], default=(0.0, None))[1]


def _score(data: bytes, sample: bytes, candidate: Candidate) -> float:
    if not fits(data, candidate.encoding):
        return 0.0
    beyond = [c for c in sample.decode(candidate.encoding, "ignore") if c > "\x7f" and c.isalpha()]
    if len(beyond) < LEAST_CHARACTERS:
        return 0.0
    return sum(c in candidate.frequent for c in beyond) / len(beyond)


def _central(data: bytes, sample: bytes) -> str | None:
    """Polish, Czech and their neighbours, whose letters would be signs inside words in a Western encoding."""
    if len(INSIDE_WORDS.findall(sample.decode("cp1252", "replace"))) < FEW_ODD:
        return None
    scores = {}
    for encoding, letters in CENTRAL.items():
        if fits(data, encoding):
            beyond = [c for c in sample.decode(encoding, "ignore") if c > "\x7f" and not c.isspace()]
            scores[encoding] = sum(c in letters for c in beyond) / max(1, len(beyond))
    return max(scores, key=lambda name: scores[name], default=None)


def fits(data: bytes, encoding: str) -> bool:
    """Whether all of the bytes are characters in that encoding."""
    try:
        data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True
