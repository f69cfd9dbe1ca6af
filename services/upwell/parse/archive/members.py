"""Archives (zip, tar, gzip, bzip2, xz) as documents whose parts are their members, unpacked in memory within limits.

Links, devices and folders are no documents. Nothing is written anywhere, so a member's name can lead nowhere.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from msgspec.structs import replace

from upwell.parse import media
from upwell.parse.archive.bounds import ENCRYPTED_FLAG, bound_of, members_of
from upwell.parse.archive.names import is_made_by_a_system, member_name, told_name
from upwell.parse.failures import Unparsable, corrupt, encrypted, too_large, unsupported
from upwell.parse.limits import Limits
from upwell.parse.parts import ParseChild
from upwell.records import ParsedDocument, ParseStatus

PARSER = "archive/1"
TAR_MAGIC_AT = 257
BLOCK_BYTES = 64 * 1024
LINK_MODE = 0o120000
MODE_MASK = 0o170000
PACKED = {media.GZIP: "gz", media.BZIP2: "bz2", media.XZ: "xz"}
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, KeyError)
CANNOT = (NotImplementedError, RuntimeError)


class _Member(NamedTuple):
    """A file in an archive: its bytes, or why there are none."""

    name: str
    data: bytes
    refused: Unparsable | None = None


def parse_archive(data: bytes, name: str, media_type: str, limits: Limits, parse_child: ParseChild) -> ParsedDocument:
    """The archive, `ok` with its members as children. Raises Unparsable when it is damaged or cut short (a damaged
    member of a zip is that member's status), would unpack to more than the limits allow, or holds nothing but encrypted
    or too large members.
    """
    children: list[ParsedDocument] = []
    with _damage_as_corrupt():
        for number, member in enumerate(_members(data, name, media_type, limits), 1):
            if number > limits.members:
                raise too_large(f"over {limits.members} members")
            if member.refused is None:
                child = parse_child(member.data, member.name, media.by_name(member.name))
            else:
                child = ParsedDocument(status=member.refused.status, reason=member.refused.reason)
            children.append(replace(child, name=member.name))
    _refuse_if_all_are(ParseStatus.ENCRYPTED, children)
    _refuse_if_all_are(ParseStatus.TOO_LARGE, children)
    return ParsedDocument(status=ParseStatus.OK, parser=PARSER, children=tuple(children))


def _refuse_if_all_are(status: ParseStatus, children: list[ParsedDocument]) -> None:
    if children and all(child.status is status for child in children):
        raise Unparsable(status, f"its members: {children[0].reason}")


@contextmanager
def _damage_as_corrupt() -> Iterator[None]:
    try:
        yield
    except DAMAGE as e:
        raise corrupt(f"the archive is damaged: {_line(e)}") from e
    except CANNOT as e:
        raise unsupported(f"the archive cannot be unpacked: {_line(e)}") from e


def _line(e: BaseException) -> str:
    return " ".join(str(e).split())[:200] or type(e).__name__


def _members(data: bytes, name: str, media_type: str, limits: Limits) -> Iterator[_Member]:
    if media_type == media.ZIP:
        yield from _zip(data, limits)
        return
    allowed = bound_of(data, limits)
    if media_type == media.TAR:
        yield from _tar(_Counted(io.BytesIO(data), allowed), limits)
        return
    unpacked = _Counted(_unpacked(data, media_type), allowed)
    head = unpacked.peek(tarfile.BLOCKSIZE)
    if head[TAR_MAGIC_AT : TAR_MAGIC_AT + 5] == b"ustar":
        yield from _tar(unpacked, limits)
    else:
        yield _Member(member_name(_inner_name(name, media_type), 1), unpacked.rest())


def _zip(data: bytes, limits: Limits) -> Iterator[_Member]:
    left = bound_of(data, limits)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = members_of(archive, data, limits)
        for number, info in enumerate(members, 1):
            said = told_name(info.filename, is_utf8=bool(info.flag_bits & 0x800))
            is_link = (info.external_attr >> 16) & MODE_MASK == LINK_MODE
            if info.filename.endswith("/") or is_link or is_made_by_a_system(said):
                continue
            name = member_name(said, number)
            try:
                content = _zip_member(archive, info, min(left, limits.file_bytes))
            except Unparsable as e:
                yield _Member(name, b"", e)
                continue
            left -= len(content)
            yield _Member(name, content)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    if info.flag_bits & ENCRYPTED_FLAG:
        raise encrypted("the member is encrypted; its password is not known")
    if info.file_size > most:
        raise too_large(f"{info.file_size} bytes; at most {most} are read")
    try:
        with archive.open(info) as file:
            content = file.read(most + 1)
    except DAMAGE as e:
        raise corrupt(f"the member is damaged: {_line(e)}") from e
    except CANNOT as e:
        raise unsupported(f"the member cannot be unpacked: {_line(e)}") from e
    if len(content) > most:
        raise too_large(f"over {most} bytes")
    return content


def _tar(stream: "_Counted", limits: Limits) -> Iterator[_Member]:
    seen = 0
    with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK_BYTES, errors="surrogateescape") as archive:
        for info in archive:
            archive.members = []  # type: ignore[attr-defined] # else it keeps each, and there may be many
            seen += 1
            if seen > limits.members:
                raise too_large(f"over {limits.members} members")
            if not info.isreg() or is_made_by_a_system(info.name):
                continue
            name = member_name(info.name, seen)
            if info.size > limits.file_bytes:
                yield _Member(name, b"", too_large(f"{info.size} bytes; at most {limits.file_bytes} are read"))
                continue
            stream.spend(info.size if info.issparse() else 0)
            file = archive.extractfile(info)
            yield _Member(name, file.read() if file is not None else b"")


def _unpacked(data: bytes, media_type: str) -> io.BufferedIOBase:
    packed = io.BytesIO(data)
    if media_type == media.GZIP:
        return gzip.GzipFile(fileobj=packed)
    return bz2.BZ2File(packed) if media_type == media.BZIP2 else lzma.LZMAFile(packed)


def _inner_name(name: str, media_type: str) -> str:
    """What was packed: the file's name without the ending that packing gave it."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, ending = base.rpartition(".")
    known = bool(stem) and ending.lower() in {PACKED[media_type], "gzip", "z"}
    return stem if dot and known else base


class _Counted(io.RawIOBase):
    """Reads on until more came out than may be unpacked; then raises `too_large`."""

    def __init__(self, stream: io.BufferedIOBase, allowed: int) -> None:
        self._stream, self._left, self._allowed = stream, allowed, allowed
        self._ahead = b""

    def read(self, size: int = -1) -> bytes:
        ahead, self._ahead = self._ahead, b""
        if size >= 0 and len(ahead) >= size:
            self._ahead = ahead[size:]
            return ahead[:size]
        wanted = self._left + 1 if size < 0 else size - len(ahead)
        found = self._stream.read(min(wanted, self._left + 1))
        self.spend(len(found))
        return ahead + found

    def peek(self, size: int) -> bytes:
        self._ahead = self.read(size)
        return self._ahead

    def rest(self) -> bytes:
        """All that is left, a block at a time: nothing allocates the whole bound for a small file."""
        parts = [self._ahead]
        self._ahead = b""
        while part := self.read(BLOCK_BYTES):
            parts.append(part)
        return b"".join(parts)

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise too_large(f"would unpack to over {self._allowed} bytes")
