"""Mutations inside a zip: a member changes and its checksum with it, so that the damage reaches the reader."""

import io
import warnings
import zipfile
import zlib

from fuzz_bytes import BYTES
from fuzz_markup import MARKUP, is_markup

NAMES = (
    "../../escape.xml",
    "/abs.xml",
    "a\0b.xml",
    "word/\u202edocument.xml",
    "x" * 2000,
    "con",
    "word/document.xml",
    "",
)


def is_zip(data):
    return data.startswith(b"PK\x03\x04")


def mutate_member(rng, data, other):
    """One member's bytes, by a mutation of bytes or of markup."""
    members = _members(data)
    if not members:
        return data
    chosen = rng.randrange(len(members))
    name, content = members[chosen]
    step = rng.choice((*MARKUP, *BYTES) if is_markup(content) else BYTES)
    members[chosen] = (name, step(rng, content, other))
    return _packed(members)


def drop_member(rng, data, other):
    members = _members(data)
    if members:
        del members[rng.randrange(len(members))]
    return _packed(members) if members else data


def rename_member(rng, data, other):
    members = _members(data)
    if not members:
        return data
    chosen = rng.randrange(len(members))
    members[chosen] = (rng.choice(NAMES), members[chosen][1])
    return _packed(members)


def swap_members(rng, data, other):
    """Two members under each other's names."""
    members = _members(data)
    if len(members) < 2:
        return data
    a, b = rng.sample(range(len(members)), 2)
    (first, one), (second, two) = members[a], members[b]
    members[a], members[b] = (first, two), (second, one)
    return _packed(members)


def double_member(rng, data, other):
    """The same name twice, with different content."""
    members = _members(data)
    if not members:
        return data
    name, content = rng.choice(members)
    return _packed([*members, (name, content[: len(content) // 2])])


def _members(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(member.filename, archive.read(member)) for member in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, EOFError, RuntimeError):
        return []


def _packed(members):
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # a name twice is what is wanted
        for name, content in members:
            member = zipfile.ZipInfo(name or "nameless")
            member.filename = name
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return buffer.getvalue()


MEMBERS = (mutate_member, mutate_member, mutate_member, drop_member, rename_member, swap_members, double_member)
