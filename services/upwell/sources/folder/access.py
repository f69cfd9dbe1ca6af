"""Access files: what `.upwell-access.yaml` may say, and which ACL a document gets from those above it.

    allow: [group:staff, user:ana]     # one level; left out = this folder adds no level
    deny:  [group:contractors]         # adds to the parents' deny
    inherit: true                      # false: start afresh here (the only way to widen)
    files: {"salaries*.xlsx": {allow: [group:hr]}}   # one more level for these names, in this folder and below

Everything that is not exactly this is not understood, and then hides its folder from everybody but the owner, below an
`inherit: false` further down too.
"""

import re
from collections.abc import Hashable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any
from unicodedata import normalize

import yaml

from upwell.access import EVERYONE
from upwell.records import Acl, Record

ACCESS_FILE = ".upwell-access.yaml"
LIMIT_BYTES = 64 * 1024
PATTERN_LIMIT_CHARS = 256
PRINCIPAL = re.compile(r"(?:user|group|role|domain):[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,254}[^\s\x00-\x1f\x7f])?")


class FileRule(Record, frozen=True, kw_only=True):
    """A level and a deny for the names that match `pattern` (fnmatch, case counts)."""

    pattern: str
    allow: frozenset[str] | None = None
    deny: frozenset[str] = frozenset()


class Rules(Record, frozen=True, kw_only=True):
    """An access file, understood; `hidden`: it was not."""

    allow: frozenset[str] | None = None
    deny: frozenset[str] = frozenset()
    inherit: bool = True
    files: tuple[FileRule, ...] = ()
    hidden: bool = False

    def levels(self, name: str) -> list[frozenset[str]]:
        """The levels that this file adds to a document called `name`, the owner not yet among them."""
        own = [] if self.allow is None else [self.allow]
        return own + [rule.allow for rule in self._matching(name) if rule.allow is not None]

    def denied(self, name: str) -> frozenset[str]:
        """Whom this file denies a document called `name`."""
        return self.deny.union(*(rule.deny for rule in self._matching(name)))

    def _matching(self, name: str) -> Iterator[FileRule]:
        return (rule for rule in self.files if fnmatchcase(name, rule.pattern))


NO_RULES = Rules()
HIDDEN = Rules(hidden=True)


class NotUnderstoodError(ValueError):
    """An access file says something else than the format; the text is one line for a person."""


def parse_access(data: bytes) -> Rules:
    """The rules in an access file. Raises NotUnderstoodError for anything that the format does not name."""
    if len(data) > LIMIT_BYTES:
        raise NotUnderstoodError(f"larger than {LIMIT_BYTES // 1024} KiB")
    try:
        # The loader is a SafeLoader that also refuses a key given twice.
        content = yaml.load(data, Loader=_StrictLoader)  # noqa: S506
    except NotUnderstoodError:
        raise
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as e:
        raise NotUnderstoodError(f"not YAML: {_line(e)}") from None
    if content is None:
        raise NotUnderstoodError("empty")
    keys = _mapping(content, {"allow", "deny", "inherit", "files"}, "the file")
    inherit = keys.get("inherit", True)
    if not isinstance(inherit, bool):
        raise NotUnderstoodError("inherit is neither true nor false")
    files = _mapping(keys["files"], None, "files") if "files" in keys else {}
    return Rules(
        allow=_principals(keys["allow"], "allow") if "allow" in keys else None,
        deny=_principals(keys["deny"], "deny") if "deny" in keys else frozenset(),
        inherit=inherit,
        files=tuple(_file_rule(pattern, rule) for pattern, rule in files.items()),
    )


def acl_of(doc_id: str, trails: Mapping[str, tuple[Rules, ...]], owner: str) -> Acl:
    """The ACL of a document under the access files above it.

    `trails` maps a folder ("" is the root) to every reading of its file that binds: the result admits exactly those
    whom each choice of one reading a folder admits. The owner is in each level; without any level the owner is alone.
    """
    folders = doc_id.split("/")[:-1]
    name = doc_id.rsplit("/", 1)[-1]
    levels: list[frozenset[str]] = []
    deny: frozenset[str] = frozenset()
    hidden, may_lack_levels = False, True
    for depth in range(len(folders) + 1):
        trail = trails.get("/".join(folders[:depth]), ())
        if not trail:
            continue
        hidden = hidden or any(rules.hidden for rules in trail)
        if not any(rules.inherit for rules in trail):
            levels, deny = [], frozenset()
        may_lack_levels = any(
            (may_lack_levels or not rules.inherit) and not rules.levels(name) for rules in trail if not rules.hidden
        )
        for rules in trail:
            levels += rules.levels(name)
            deny |= rules.denied(name)
    alone = frozenset({owner})
    found = [level | alone for level in levels]
    if hidden or may_lack_levels:
        found.insert(0, alone)
    return Acl(levels=tuple(dict.fromkeys(found)), deny=deny)


def same_effect(one: Acl, other: Acl) -> bool:
    """True if both have the same deny, and the same levels but for their order and those without effect."""
    return one == other or (one.deny == other.deny and _binding(one) == _binding(other))


def _binding(acl: Acl) -> frozenset[frozenset[str]]:
    """The levels that have an effect: not those that admit whomever another one admits."""
    strict = {level for level in acl.levels if EVERYONE not in level}
    binding = frozenset(level for level in strict if not any(other < level for other in strict))
    return binding or frozenset({frozenset({EVERYONE})} if acl.levels else ())


class _StrictLoader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if any(not isinstance(key, Hashable) for key in keys) or len(set(keys)) != len(keys):
            raise NotUnderstoodError("a key is given twice, or is not a name")
        return super().construct_mapping(node, deep)


def _mapping(value: object, known: set[str] | None, where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise NotUnderstoodError(f"{where} is not a mapping of names")
    unknown = set(value) - known if known is not None else set()
    if unknown:
        raise NotUnderstoodError(f"{where} has an unknown key: {min(unknown)[:60]!r}")
    return value


def _principals(value: object, where: str) -> frozenset[str]:
    if not isinstance(value, list):
        raise NotUnderstoodError(f"{where} is not a list")
    for one in value:
        if not isinstance(one, str) or not (one == EVERYONE or PRINCIPAL.fullmatch(one)):
            raise NotUnderstoodError(f"{where}: {str(one)[:60]!r} is not user:…, group:…, role:…, domain:… or everyone")
    return frozenset(normalize("NFC", one) for one in value)


def _file_rule(pattern: str, value: object) -> FileRule:
    if not pattern or "/" in pattern or len(pattern) > PATTERN_LIMIT_CHARS:
        raise NotUnderstoodError(f"files: {pattern[:40]!r} is not a pattern of file names")
    where = f"files: {pattern!r}"
    keys = _mapping(value, {"allow", "deny"}, where)
    if not keys:
        raise NotUnderstoodError(f"{where} says nothing")
    return FileRule(
        pattern=normalize("NFC", pattern),
        allow=_principals(keys["allow"], where) if "allow" in keys else None,
        deny=_principals(keys["deny"], where) if "deny" in keys else frozenset(),
    )


def _line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or type(error).__name__
    return f"{problem}, line {mark.line + 1}" if mark else str(problem)
