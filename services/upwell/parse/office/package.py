"""The parts of a zipped office document, read within limits, and their XML, read without entities or network."""

import io
import posixpath
import zipfile
import zlib
from typing import Any

from upwell.parse.archive.bounds import check_zip
from upwell.parse.failures import corrupt, encrypted, too_large
from upwell.parse.limits import MIB, Limits

MOST_XML_BYTES = 48 * MIB  # a tree takes about ten times its text


class Package:
    """Raises Unparsable when the container is damaged, encrypted, or unpacks past the limits."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        check_zip(data, limits)
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._left = limits.unpacked_bytes
        self.names = tuple(self._zip.namelist())
        self._known = frozenset(self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def read(self, name: str) -> bytes:
        """A part's bytes. Raises `corrupt` when it is missing or damaged."""
        try:
            info = self._zip.getinfo(name)
            self._left -= info.file_size
            if self._left < 0:
                raise too_large("its parts unpack to more than the limit")
            return self._zip.read(info)
        except (KeyError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as e:
            raise corrupt(f"the part {name[:100]!r} cannot be read") from e
        except RuntimeError as e:  # zipfile says so of a password
            raise encrypted("its members are encrypted") from e

    def open(self, name: str) -> Any:
        """A part as a stream. Raises `corrupt` when there is none."""
        try:
            return self._zip.open(name)
        except (KeyError, zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as e:
            raise corrupt(f"the part {name[:100]!r} cannot be read") from e

    def xml(self, name: str) -> Any:
        """A part's root element. Raises `too_large` for one whose tree would not fit in memory."""
        if name in self._known and self._zip.getinfo(name).file_size > MOST_XML_BYTES:
            raise too_large(f"the part {name[:100]!r} unpacks to over {MOST_XML_BYTES} bytes")
        return xml_root(self.read(name), name)

    def xml_or_none(self, name: str) -> Any:
        return self.xml(name) if name in self._known else None

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Of an OPC part: relation id -> (last word of its type, target as a part's name or an outer address)."""
        folder, name = posixpath.split(part)
        root = self.xml_or_none(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for relation in () if root is None else root.iter("{*}Relationship"):
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join(f"/{folder}", target)).lstrip("/")
            found[relation.get("Id") or ""] = ((relation.get("Type") or "").rsplit("/", 1)[-1], target)
        return found


def xml_root(data: bytes, name: str = "") -> Any:
    """The root element; no entity is expanded and nothing is fetched. Raises `corrupt`."""
    from lxml import etree  # type: ignore[import-untyped]  # noqa: PLC0415 - few documents need it

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as e:
        raise corrupt(f"the part {name[:100]!r} is not well-formed") from e
    if root is None:
        raise corrupt(f"the part {name[:100]!r} is empty")
    return root


def local(element: Any) -> str:
    """An element's name without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str | None:
    """The value of the first attribute of that local name, whatever its namespace."""
    for key, value in element.attrib.items():
        if key == name or key.endswith(f"}}{name}"):
            return str(value)
    return None
