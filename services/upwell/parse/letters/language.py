"""Which natural language a text is in, by its script and its commonest words: enough to filter by, without a model."""

import re
from collections import Counter
from types import MappingProxyType

SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]"), 0.08),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff]"), 0.25),
    ("zh", re.compile("[\u4e00-\u9fff\u3400-\u4dbf]"), 0.25),
    ("ar", re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]"), 0.3),
    ("he", re.compile("[\u0590-\u05ff]"), 0.3),
    ("ru", re.compile("[\u0400-\u04ff]"), 0.3),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), 0.3),
    ("hi", re.compile("[\u0900-\u097f]"), 0.3),
    ("bn", re.compile("[\u0980-\u09ff]"), 0.3),
    ("ta", re.compile("[\u0b80-\u0bff]"), 0.3),
    ("te", re.compile("[\u0c00-\u0c7f]"), 0.3),
    ("th", re.compile("[\u0e00-\u0e7f]"), 0.3),
    ("ka", re.compile("[\u10a0-\u10ff]"), 0.3),
    ("hy", re.compile("[\u0530-\u058f]"), 0.3),
    ("am", re.compile("[\u1200-\u137f]"), 0.3),
)
OWN_LETTERS = MappingProxyType(
    {
        "ar": (("ur", re.compile("[ٹڈڑںےھ]")), ("fa", re.compile("[پچژگیک]"))),
        "ru": (("uk", re.compile("[іїєґ]")), ("sr", re.compile("[ђјљњћџ]")), ("be", re.compile("ў"))),
        "hi": (("mr", re.compile("ळ")),),
    }
)
"""Languages that share another's script, by letters that the other does not have."""
WORDS = MappingProxyType(
    {
        "en": "the and of to in is that for it with as on are be this was by not or from have you we can will which "
        "has their they if but all when your at an",
        "de": "der die und das ist nicht ein eine mit für auf von den dem zu im werden sich auch wird des sind als bei "
        "aus oder nach wie durch einer über wenn kann",
        "fr": "le la les des et est une dans pour que qui pas sur au avec ce sont du aux cette il elle nous vous ou "
        "par plus ne être leur son ses mais",
        "es": "el la los las de que en un una por con para es se del no como más su al lo le ha sus pero son este esta "
        "está entre cuando muy hay",
        "it": "il di che è la per un una del non con della sono le dei nel anche come gli si lo da più alla ha questo "
        "delle ma nella degli essere",
        "pt": "de que do da em um para com não uma os no se na por mais dos as ao como das ou foi são ele sua seu "
        "pela também à está nos mas",
        "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als bij die worden door naar maar "
        "wordt uit deze kan over dan",
        "sv": "och att det som en på är av för med den till inte har ett jag vi om kan från men eller när så ska var",
        "da": "og at det som en på er af for med den til ikke har et jeg vi om kan fra men eller når så skal var blev",
        "no": "og at det som en på er av for med den til ikke har et jeg vi om kan fra men eller når så skal var ble",
        "fi": "ja on ei se että oli hän mutta joka kun niin tai myös ovat kuin sen mukaan jos ole ovat",
        "pl": "i w nie na się z do to że jest jak o po co ale od za czy dla są przez przy oraz który może jego",
        "cs": "a se v na je že to s z do o pro jako by ale za od po jsem která není byl nebo jsou být které",
        "sk": "a sa v na je že to s z do o pre ako by ale za od po som ktorá nie bol alebo sú byť ktoré",
        "ro": "și de în la cu pe nu este că pentru din care o un mai ce sau sunt fi au dar prin după",
        "hu": "a az és hogy nem is egy de meg ez csak már vagy volt mint még ha el van kell ezt lehet",
        "tr": "ve bir bu da de için ile çok olarak daha ne gibi kadar olan sonra değil ama her mi en ya var",
        "id": "yang dan di ini itu dengan untuk dari tidak pada dalam adalah akan ke oleh juga sebagai ada atau saya",
        "vi": "và của là có không được cho một các những trong đã với người này đó để khi từ về cũng như ra",
        "ca": "el la els les de que i en un una per amb és del no com més al ha són aquest aquesta també",
    }
)
SPOKEN_IN = MappingProxyType(
    {
        word: [code for code, words in WORDS.items() if word in words.split()]
        for word in " ".join(WORDS.values()).split()
    }
)
"""Common word -> the languages that it is common in."""
WORD = re.compile(r"[^\W\d_]+")
LEAST_SHARE = 0.05
LEAST_HITS = 2
LEAST_LETTERS = 0.005


def guess_language(text: str) -> str | None:
    """An ISO 639-1 code, or None when the words do not say."""
    words = WORD.findall(text)
    letters = sum(map(len, words))
    if not letters:
        return None
    if not text.isascii():
        for code, script, share in SCRIPTS:
            if len(script.findall(text)) >= share * letters:
                return _by_own_letters(code, text, letters)
    hits = dict.fromkeys(WORDS, 0)
    for word, times in Counter(map(str.lower, words)).items():
        if len(word) > 1:  # a letter by itself is as often a list's or a formula's as a word
            for code in SPOKEN_IN.get(word, ()):
                hits[code] += times
    best = max(hits, key=lambda code: hits[code])
    return best if hits[best] >= max(LEAST_HITS, LEAST_SHARE * len(words)) else None


def declared_language(tag: str | None) -> str | None:
    """The language of a tag such as `en-GB` (BCP 47), None where it is none."""
    code = (tag or "").split("-")[0].strip().lower()
    return code if len(code) in {2, 3} and code.isalpha() else None


def _by_own_letters(code: str, text: str, letters: int) -> str:
    for other, own in OWN_LETTERS.get(code, ()):
        if len(own.findall(text)) > LEAST_LETTERS * letters:
            return other
    return code
