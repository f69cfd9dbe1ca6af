"""What the marks inside the words of reStructuredText mean: roles, links, emphasis, substitutions, references."""

import re
from collections.abc import Sequence

ROLE = re.compile(r":[\w:+.-]{1,60}:`~?([^`<]*)(?:<[^`>]*>)?`")
LINK = re.compile(r"`([^`<]+)<([^`>]+)>`__?")
LITERAL = re.compile(r"``([^`]+)``")
REFERENCE = re.compile(r"(?<!`)_?`([^`]+)`(?!`)_{0,2}")
WORD_REFERENCE = re.compile(r"(?<![\w`])(\w[\w.-]{0,98}[^\W_]|[^\W_])_(?!\w)")
NOTE_REFERENCE = re.compile(r"\[(#?[\w.-]{1,60}|[#*])\]_(?!\w)")
EMPHASIS = re.compile(r"(?<!\w)(\*{1,2})(\S(?:[^*]*\S)?)\1(?!\w)")
SUBSTITUTED = re.compile(r"\|([^\s|](?:[^|\n]{0,60}[^\s|])?)\|(?:__?(?!\w))?")
NAMED = re.compile(r"(?m)^ *\.\. +\|([^|\n]{1,60})\| +replace:: +(.{1,100})$")
TARGET = re.compile(r"(?m)^ *\.\. +_`?([^:`\n]{1,100})`?: +(\S+)$")


class Names:
    """What a document gives names to: where its links lead, what its substitutions stand for."""

    def __init__(self, text: str) -> None:
        self.targets = {name.lower(): url for name, url in TARGET.findall(text)}
        self.substitutes = {name: said.strip() for name, said in NAMED.findall(text)}

    def plain(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Words without the signs of roles, links and emphasis; and where the links lead."""
        links = [found[1] for found in LINK.findall(text)]

        def referred(found: re.Match[str]) -> str:
            said = found.group(1)
            if (url := self.targets.get(" ".join(said.lower().split()))) is not None:
                links.append(url)
                return said
            return said if found.group().startswith(("`", "_`")) else found.group()

        text = SUBSTITUTED.sub(lambda found: self.substitutes.get(found.group(1), found.group()), text)
        text = REFERENCE.sub(referred, LINK.sub(_first, ROLE.sub(_first, text)))
        text = WORD_REFERENCE.sub(referred, NOTE_REFERENCE.sub(r"[\1]", text))
        return EMPHASIS.sub(r"\2", LITERAL.sub(r"\1", text)), tuple(links)

    def words(self, text: str) -> str:
        return self.plain(text)[0]


def _first(found: re.Match[str]) -> str:
    return found.group(1).rstrip()


def options_of(body: Sequence[str]) -> tuple[dict[str, str], int]:
    """The options that a directive's body begins with, and how many lines they take."""
    options: dict[str, list[str]] = {}
    name, taken = None, 0
    for line in body:
        if (found := re.match(r":([\w -]{1,60}):(?: +(.*))?$", line)) is not None:
            name = found.group(1).lower()
            options[name] = [found.group(2) or ""]
        elif name is not None and line.startswith(" "):
            options[name].append(line.strip())
        else:
            break
        taken += 1
    return {key: "\n".join(said) for key, said in options.items()}, taken
