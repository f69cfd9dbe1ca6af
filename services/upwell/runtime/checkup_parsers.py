"""What `doctor` finds of the parsers: which formats are read here, which languages, which extras are there and used."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

from upwell.answers import Check
from upwell.parse import media
from upwell.parse.code.grammars import GRAMMARS
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import READERS, TEXT_PARSERS

EXTRAS = {
    "formats": ("unstructured", "a second parser of office files, web pages and mail, for readings in doubt"),
    "ocr": ("rapidocr", "words in pictures and scanned pages"),
    "layout": ("rapid_layout", "a layout model for PDF pages"),
}
SETTINGS = {"formats": "arbitrate", "ocr": "ocr", "layout": "layout"}


def _installed(module: str) -> bool:
    return find_spec(module) is not None


def parsers(policy: ParsePolicy, installed: Callable[[str], bool] = _installed) -> Iterator[Check]:
    """Formats and languages that are read, then the extras that would read more. `installed` tells of a module."""
    yield Check(name="parsers", state="ok", detail=", ".join(formats()))
    lost = sorted(language for language, grammar in GRAMMARS.items() if not installed(grammar.package))
    yield Check(
        name="source code",
        state="missing" if lost else "ok",
        detail=f"no grammar of {', '.join(lost)}" if lost else f"by syntax tree: {', '.join(sorted(GRAMMARS))}",
        remedy="install upwell again (make setup)" if lost else "",
    )
    for extra, (module, meaning) in EXTRAS.items():
        there, wanted = installed(module), getattr(policy, SETTINGS[extra])
        yield Check(
            name=f"extra {extra}",
            state="ok" if there else "missing",
            detail=meaning if wanted or not there else f"{meaning}; not used: the setting `{SETTINGS[extra]}` is off",
            remedy="" if there else f"pip install 'upwell[{extra}]'",
        )


def formats() -> list[str]:
    """The formats that are read, each by the extension that comes first to it."""
    read = READERS.keys() | TEXT_PARSERS.keys()
    by_type: dict[str, str] = {}
    for extension, media_type in media.BY_EXTENSION.items():
        if media_type in read:
            by_type.setdefault(media_type, extension)
    return sorted(by_type.values())
