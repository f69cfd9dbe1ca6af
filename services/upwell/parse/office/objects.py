"""Files embedded in office documents, as children: packages as they are, OLE objects unwrapped (MS-OLEDS)."""

import posixpath
import struct

from msgspec.structs import replace

from upwell.parse.detect import OLE_MAGIC
from upwell.parse.failures import Unparsable
from upwell.parse.limits import Limits
from upwell.parse.naming import part_name
from upwell.parse.office.ole import Compound
from upwell.parse.office.package import Package
from upwell.parse.parts import ParseChild
from upwell.records import ParsedDocument, ParseStatus

NATIVE = ("\x01Ole10Native",)
CONTENTS = ("CONTENTS",)
PACKAGE = ("Package",)


def embedded_children(package: Package, limits: Limits, parse_child: ParseChild) -> tuple[ParsedDocument, ...]:
    """Each file of an `embeddings` folder; one that cannot be unwrapped is a child that says so."""
    children: list[ParsedDocument] = []
    for part in package.names:
        folder, name = posixpath.split(part)
        if not name or posixpath.basename(folder) != "embeddings" or len(children) >= limits.children:
            continue
        try:
            inner_name, data = unwrapped(package.read(part), name)
            child = parse_child(data, inner_name, None)
        except Unparsable as e:
            inner_name, child = name, ParsedDocument(status=e.status, reason=e.reason)
        children.append(replace(child, name=part_name(inner_name, len(children) + 1)))
    return tuple(child for child in children if child.status is not ParseStatus.EMPTY or child.blocks)


def unwrapped(data: bytes, name: str) -> tuple[str, bytes]:
    """The file within an OLE object and its name; the object itself when it wraps none. Raises Unparsable."""
    if not data.startswith(OLE_MAGIC):
        return name, data
    ole = Compound(data)
    native = ole.read(NATIVE)
    if native is not None:
        return ole10_native(native) or (name, data)
    for path in (PACKAGE, CONTENTS):
        inner = ole.read(path)
        if inner:
            return f"{name.rsplit('.', 1)[0]}{_extension(inner)}", inner
    return name, data


def ole10_native(stream: bytes) -> tuple[str, bytes] | None:
    """Label and content of an `Ole10Native` stream (MS-OLEDS 2.3.6); None when it is not built so."""
    try:
        at = 6
        label, at = _string(stream, at)
        path, at = _string(stream, at)
        at += 4
        (length,) = struct.unpack_from("<I", stream, at)
        at += 4 + length
        (size,) = struct.unpack_from("<I", stream, at)
    except (struct.error, ValueError):
        return None
    data = stream[at + 4 : at + 4 + size]
    name = (label or path).replace("\\", "/").rsplit("/", 1)[-1]
    return (name, data) if data else None


def _string(stream: bytes, at: int) -> tuple[str, int]:
    end = stream.index(b"\0", at)
    return stream[at:end].decode("cp1252", "replace"), end + 1


def _extension(data: bytes) -> str:
    return {b"%PDF": ".pdf", b"PK\x03\x04": ".zip"}.get(data[:4], ".bin")
