"""Which encoding a text is in, decided by its bytes; a declared one (HTML, XML, mail) is a hint that must fit."""

import codecs
import re

from upwell.parse.letters.guess import fits, guess

BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
DECLARED = re.compile(
    rb"""(?:charset\s*=\s*["']?|<\?xml[^>]{0,200}encoding\s*=\s*["'])([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE
)
ESCAPED_JAPANESE = re.compile(rb"\x1b\$[@B]")
CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\x08"))
COMMON_LEAD = (0x81, 0x98)
JAPANESE_SHARE = 0.7
WESTERN = frozenset({"cp1252", "iso8859-1", "ascii", "iso8859-15"})
LEAST_BEYOND = 8
DAMAGE_SHARE = 0.1
BINARY_SHARE = 0.02
SAMPLE_BYTES = 64 * 1024
DECLARED_BYTES = 16 * 1024


def decode(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text and the name of its encoding. Never fails: what fits nothing is read as iso-8859-1."""
    encoding = detect_encoding(data, declared)
    text = data.decode(encoding, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace(
        "\0", ""
    ), "utf-8" if encoding == "utf-8-sig" else encoding


def detect_encoding(data: bytes, declared: str | None = None) -> str:
    """BOM, then UTF-8 if it fits, UTF-16 by its zeros, the declared one, Shift_JIS by its kana, else Western."""
    marked = next((name for bom, name in BOMS if data.startswith(bom)), None)
    if marked:
        return marked
    if ESCAPED_JAPANESE.search(data[:SAMPLE_BYTES]) and fits(data, "iso2022_jp"):
        return "iso2022_jp"
    if fits(data, "utf-8") and b"\0" not in data[:SAMPLE_BYTES]:
        return "utf-8"
    if wide := _wide(data):
        return wide
    if _is_damaged_utf8(data[:SAMPLE_BYTES]):
        return "utf-8"
    hint = declared or _declared(data)
    name = _known(hint) if hint else None
    if name and name not in WESTERN and fits(data, name):
        return name
    if _is_japanese(data[:SAMPLE_BYTES]):
        return "cp932"
    # A Western encoding fits any bytes, and is what programs name that do not know.
    return guess(data) or (name if name and fits(data, name) else _western(data))


def _is_damaged_utf8(sample: bytes) -> bool:
    """Whether all but a few of the characters beyond ASCII are UTF-8: a text that was cut, or has one bad byte."""
    text = sample.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    beyond = len(text) - len(text.encode("ascii", "ignore")) - bad
    return beyond >= LEAST_BEYOND and bad <= DAMAGE_SHARE * beyond


def looks_binary(data: bytes) -> bool:
    """Whether a sample of bytes is no text in any encoding: zeros that no UTF-16 explains, or control characters."""
    sample = data[:SAMPLE_BYTES]
    if not sample or any(sample.startswith(bom) for bom, _ in BOMS) or _wide(sample):
        return False
    if b"\0" in sample:
        return True
    return len(sample) - len(sample.translate(None, CONTROLS)) > BINARY_SHARE * len(sample)


def _declared(data: bytes) -> str | None:
    found = DECLARED.search(data[:DECLARED_BYTES])
    return found.group(1).decode("ascii") if found else None


def _known(name: str) -> str | None:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    # Codecs that turn bytes into bytes, or unpack, have no business with a document.
    if not getattr(found, "_is_text_encoding", True):
        return None
    return {"shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252"}.get(
        found.name, found.name
    )


def _wide(data: bytes) -> str | None:
    sample = data[:4096]
    if len(sample) < 4 or len(data) % 2:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * half and odd < 0.05 * half else None


def _is_japanese(sample: bytes) -> bool:
    """Whether a sample decodes as Shift_JIS to what Japanese is made of: kana, symbols and the commoner kanji.

    Letters of Western encodings would come out as half-width kana or as rare kanji, whose lead bytes are high.
    """
    try:
        text = sample.decode("cp932")
    except UnicodeDecodeError as e:
        if e.start < len(sample) - 1:
            return False  # not merely cut inside its last character
        text = sample[: e.start].decode("cp932")
    wide = [c.encode("cp932", "replace") for c in text if ord(c) > 127]
    common = sum(len(c) == 2 and COMMON_LEAD[0] <= c[0] <= COMMON_LEAD[1] for c in wide)
    return bool(wide) and common >= JAPANESE_SHARE * len(wide)


def _western(data: bytes) -> str:
    # Windows-1252 and iso-8859-1 differ only in 0x80-0x9f: without those, the plainer name is the true one.
    if not any(0x80 <= b <= 0x9F for b in data):
        return "iso-8859-1"
    return "cp1252" if fits(data, "cp1252") else "iso-8859-1"
