"""What stands inside the words of AsciiDoc: names, links, notes, what is passed as it is, the marks around words.

https://docs.asciidoctor.org/asciidoc/latest/macros/ and .../subs/
"""

import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import NamedTuple

from upwell.parse.asciidoc.attributes import MARKS, REFERENCE, Attributes
from upwell.parse.asciidoc.macros import joined_path, label, said_of
from upwell.parse.asciidoc.marks import unmarked
from upwell.parse.text.markdown import html_text

KEPT, KEPT_END = "\ufdd0", "\ufdd1"
"""Around the number of something that is not looked at again. Unicode keeps them from being characters of a text."""
KEPT_MARK = re.compile(f"{KEPT}(\\d+){KEPT_END}")
PASS = re.compile(
    r"(\\?)(?:(\+{3})(.*?)\+{3}|(?<!\w)(\+\+|\$\$)(?!\s)(.*?)\4|((?<![\w;:+])\+)((?![\s+])[^+]++(?<!\s))\+(?![\w+])"
    rf"|(pass|stem|latexmath|asciimath):[a-z,]{{0,60}}\[|{REFERENCE.pattern})",
    re.DOTALL,
)
MACRO = re.compile(r"(?<![^\s\[\]])[^\s\[\]:]*+:[^\s\[\]]*+\[?")
NAMED = re.compile(
    r"(?<!\w)(\\?)(?:(https?|ftp|irc)://|(link|xref|image|mailto|kbd|btn|menu|icon|anchor|indexterm2?):(?!:))(?=.)",
    re.IGNORECASE,
)
REFERRED = re.compile(rf"(\\?)<<([\w#\"'./:{{{KEPT}][^<>]*+)>>")
ANCHOR = re.compile(r"(\\?)\[\[(\[?)([^\W\d][^\[\],]*+)(?:,([^\[\]]*+))?\]?\]\]")
INDEXED = re.compile(r"(\\?)(?:\(\(\(([^()]++)\)\)\)|\(\(([^()]++)\)\))")
NOTE = re.compile(r"(\\?)footnote(ref)?:([\w-]*+)\[")
CLOSING = re.compile(r"(?<!\\)\]")
ENTITY = re.compile(r"(\\?)&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
BIBLIOGRAPHY = "["
PUNCTUATION = ".,;:!?'\"*_`"


class Said(NamedTuple):
    """Words as a reader sees them, and where their links lead."""

    text: str
    links: tuple[str, ...] = ()


class Words:
    """Reads words; keeps the notes in them and what is not shown of them until somebody takes these."""

    def __init__(self, attributes: Attributes, titles: Mapping[str, str]) -> None:
        self.attributes, self.titles = attributes, titles
        self.notes: list[Said] = []
        self.unseen: list[str] = []
        self._numbers: dict[str, int] = {}
        self._count = 0
        self._links: list[str] = []
        self._kept: list[str] = []

    def plain(self, text: str) -> Said:
        """The words without marks and macros; line ends stay."""
        self._links, self._kept = [], []
        text = self._read(text)
        return Said(text, tuple(dict.fromkeys(self._links)))

    def text(self, text: str) -> str:
        return self.plain(text).text

    def _read(self, text: str) -> str:
        text = replaced(PASS, text, self._passed) if any(sign in text for sign in "+${:") else text
        if "[" in text or "://" in text:
            text = replaced(MACRO, text, self._macro)
            text = ANCHOR.sub(self._anchor, text)
        text = REFERRED.sub(self._referred, text) if "<<" in text else text
        text = INDEXED.sub(self._indexed, text) if "((" in text else text
        text = replaced(NOTE, text, self._note) if "footnote" in text else text
        return self._formatted(text)

    def _formatted(self, text: str) -> str:
        text = unmarked(text)
        text = ENTITY.sub(_entity, text) if "&" in text else text
        return KEPT_MARK.sub(self._restored, text)

    def _keep(self, text: str) -> str:
        self._kept.append(KEPT_MARK.sub(self._restored, text))
        return f"{KEPT}{len(self._kept) - 1}{KEPT_END}"

    def _restored(self, found: re.Match[str]) -> str:
        return self._kept[int(found.group(1))]

    def _passed(self, found: re.Match[str], inside: str) -> str | None:
        """What is not to be read, as it stands; a name, as what it stands for."""
        escaped, _, triple, _, double, _, single, macro, hidden, _, name, _ = found.groups()
        if name is not None:
            if escaped or hidden:
                return self._keep(found.group().lstrip("\\"))
            value = self._stood_for(found)
            return found.group() if value is None else self._keep(value) if value in MARKS else value
        if escaped:
            return self._keep(found.group()[1:]) if macro is None else self._keep(f"{found.group()[1:]}{inside}]")
        if macro is None:
            raw = next(part for part in (triple, double, single) if part is not None)
            return self._keep(_shown(raw) if triple is not None else raw)
        inside = inside.replace("\\]", "]")
        return self._keep(_shown(inside) if macro == "pass" else inside)

    def _stood_for(self, found: re.Match[str]) -> str | None:
        return self.attributes.stood_for(REFERENCE.fullmatch(found.group()))  # type: ignore[arg-type]  # it is one

    def _macro(self, found: re.Match[str], inside: str) -> str | None:
        run = found.group()
        named = NAMED.search(run)
        if named is None:
            return None
        bracketed = run.endswith("[")
        before, escaped, scheme, name = run[: named.start()], named.group(1), named.group(2), named.group(3)
        target = run[named.end() : -1 if bracketed else None]
        if scheme:
            return self._address(before, f"{scheme}://", target, inside if bracketed else None, escaped)
        if not bracketed:
            return None
        if escaped:
            return f"{before}{self._keep(f'{run[named.start() + 1 :]}{inside}]')}"
        return before + self._named(name.lower(), KEPT_MARK.sub(self._restored, target), inside.replace("\\]", "]"))

    def _named(self, name: str, target: str, inside: str) -> str:
        inside = KEPT_MARK.sub(self._restored, inside)
        if name in {"indexterm", "indexterm2"}:
            if name == "indexterm":
                self.unseen.append(inside)
            return self._keep(inside) if name == "indexterm2" else ""
        if name == "xref":
            return self._reference(target, label(inside))
        said, link = said_of(name, target, inside)
        if link:
            self._links.append(joined_path(self.attributes.get("imagesdir"), link) if name == "image" else link)
        return self._keep(unmarked(said))

    def _address(self, before: str, scheme: str, rest: str, inside: str | None, escaped: str) -> str:
        """A web address: with the words in the brackets after it, or as it is."""
        after = ""
        if inside is None:
            if "<" in before and ">" in rest:
                before, (rest, _, after) = before.removesuffix("<"), rest.partition(">")
            else:
                bare = rest.rstrip(PUNCTUATION)
                bare = bare[:-1] if bare.endswith(")") and "(" not in bare else bare
                rest, after = bare, rest[len(bare) :]
        address = KEPT_MARK.sub(self._restored, scheme + rest)
        if not rest or escaped:
            return f"{before}{self._keep(address)}{after}" + (f"[{inside}]" if inside is not None else "")
        self._links.append(address)
        said = label(KEPT_MARK.sub(self._restored, (inside or "").replace("\\]", "]")))
        return f"{before}{self._keep(unmarked(said) if said else address)}{after}"

    def _referred(self, found: re.Match[str]) -> str:
        if found.group(1):
            return self._keep(found.group()[1:])
        target, _, said = found.group(2).partition(",")
        return self._reference(KEPT_MARK.sub(self._restored, target.strip()), said.strip())

    def _reference(self, target: str, said: str) -> str:
        """A place in this document, by its own title where nothing else is said, or in another."""
        path, sign, place = target.partition("#")
        if not sign and not re.search(r"\.\w{1,8}$", path):
            path, place = "", path
        if path:
            named = path if "." in path.rpartition("/")[2] else f"{path}.adoc"
            self._links.append(f"{named}#{place}" if place else named)
            return self._keep(unmarked(said) or path)
        self._links.append(f"#{place}")
        title = self.titles.get(place) or self.titles.get(place.lower())
        if not said and title:
            self.attributes.spend(len(title))
        return self._keep(unmarked(said or title or (place if " " in place else f"[{place}]")))

    def _anchor(self, found: re.Match[str]) -> str:
        if found.group(1):
            return self._keep(found.group()[1:])
        return self._keep(f"[{found.group(4) or found.group(3)}]") if found.group(2) == BIBLIOGRAPHY else ""

    def _indexed(self, found: re.Match[str]) -> str:
        if found.group(1):
            return found.group()[1:]
        if found.group(2) is not None:
            self.unseen.append(KEPT_MARK.sub(self._restored, found.group(2)))
            return ""
        return found.group(3)

    def _note(self, found: re.Match[str], inside: str) -> str | None:
        name, said = found.group(3), inside.replace("\\]", "]")
        if found.group(1):
            return self._keep(f"{found.group()[1:]}{inside}]")
        if found.group(2):
            name, _, said = said.partition(",")
        if said.strip() or name not in self._numbers:
            self._count += 1
            self._numbers[name] = self._count
            self.notes.append(Said(f"[{self._count}] {self._formatted(said).strip()}"))
        number = self._numbers[name]
        return self._keep(f"[{number}]")


def replaced(pattern: re.Pattern[str], text: str, say: Callable[[re.Match[str], str], str | None]) -> str:
    """Each match replaced by what `say` makes of it and of what stands in the bracket that it ends with.

    A match stays where `say` gives None, or where its bracket is never closed; the time is linear in the text.
    """
    last = max((found.start() for found in CLOSING.finditer(text)), default=-1)
    parts: list[str] = []
    done = at = 0
    while (found := pattern.search(text, at)) is not None:
        at, inside = found.end(), ""
        if found.group().endswith("["):
            closing = CLOSING.search(text, at) if at <= last else None
            if closing is None:
                continue
            inside = text[at : closing.start()]
        said = say(found, inside)
        if said is not None:
            at += len(inside) + 1 if found.group().endswith("[") else 0
            parts += [text[done : found.start()], said]
            done = at
        at = max(at, found.start() + 1)
    return "".join([*parts, text[done:]])


def _shown(raw: str) -> str:
    """What is passed on without a look is mostly HTML."""
    return html_text(raw)[0] if "<" in raw or "&" in raw else raw


def _entity(found: re.Match[str]) -> str:
    return found.group()[1:] if found.group(1) else unescape(found.group())
