"""Which natural language a text is in, by its script and its commonest words: enough to filter by, without a model."""

import re
from types import MappingProxyType

SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]"), 0.08),
    ("ko", re.compile("[\uac00-\ud7af]"), 0.25),
    ("zh", re.compile("[\u4e00-\u9fff]"), 0.25),
    ("ar", re.compile("[\u0600-\u06ff]"), 0.3),
    ("he", re.compile("[\u0590-\u05ff]"), 0.3),
    ("ru", re.compile("[\u0400-\u04ff]"), 0.3),
    ("el", re.compile("[\u0370-\u03ff]"), 0.3),
    ("hi", re.compile("[\u0900-\u097f]"), 0.3),
    ("th", re.compile("[\u0e00-\u0e7f]"), 0.3),
)
WORDS = MappingProxyType(
    {
        "en": "the and of to in is that for it with as on are be this was by not or from have you",
        "de": "der die und das ist nicht ein eine mit für auf von den dem zu im werden sich auch wird",
        "fr": "le la les des et est une dans pour que qui pas sur au avec ce sont du aux cette",
        "es": "el la los las de que y en un una por con para es se del no como más su al",
        "it": "il di che è la per un una del non con della sono le dei nel anche come gli si",
        "pt": "o a de que e do da em um para com não uma os no se na por mais dos as ao",
        "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als bij",
    }
)
COMMON = MappingProxyType({code: frozenset(words.split()) for code, words in WORDS.items()})
LETTER = re.compile(r"[^\W\d_]")
WORD = re.compile(r"[^\W\d_]+")
LEAST_SHARE = 0.05
LEAST_HITS = 2


def guess_language(text: str) -> str | None:
    """An ISO 639-1 code, or None when the words do not say."""
    letters = len(LETTER.findall(text))
    if not letters:
        return None
    for code, script, share in SCRIPTS:
        if len(script.findall(text)) >= share * letters:
            return code
    words = [word.lower() for word in WORD.findall(text)]
    hits = {code: sum(word in common for word in words) for code, common in COMMON.items()}
    best = max(hits, key=lambda code: hits[code])
    return best if hits[best] >= max(LEAST_HITS, LEAST_SHARE * len(words)) else None
