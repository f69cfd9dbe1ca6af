"""Compressed RTF as mail stores carry it (MS-OXRTFCP): LZ77 over a ring that begins with common RTF."""

import struct

from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits

HEADER = struct.Struct("<IIII")
COMPRESSED, STORED = 0x75465A4C, 0x414C454D
RING_BYTES = 4096
BEGINNING = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


def decompressed(data: bytes, limits: Limits) -> bytes:
    """The RTF; b"" for none. Raises `corrupt` for another format, `too_large` past the limit of a text."""
    if len(data) < HEADER.size:
        return b""
    _, size, kind, _ = HEADER.unpack_from(data)
    if size > limits.text_bytes:
        raise too_large(f"its RTF unpacks to {size} bytes")
    if kind == STORED:
        return data[HEADER.size : HEADER.size + size]
    if kind != COMPRESSED:
        raise corrupt("its RTF body has no known format")
    return _unpacked(data, size)


def _unpacked(data: bytes, size: int) -> bytes:
    ring = bytearray(BEGINNING.ljust(RING_BYTES, b"\0"))
    write, at, out = len(BEGINNING), HEADER.size, bytearray()
    while at < len(data) and len(out) < size:
        control = data[at]
        at += 1
        for bit in range(8):
            if at >= len(data) or len(out) >= size:
                break
            if not control >> bit & 1:
                taken = data[at : at + 1]
                at += 1
            else:
                pair = int.from_bytes(data[at : at + 2], "big")
                at += 2
                offset, length = pair >> 4, (pair & 15) + 2
                if offset == write:
                    return bytes(out)
                taken = b""
                for step in range(length):
                    byte = ring[(offset + step) % RING_BYTES]
                    ring[(write + step) % RING_BYTES] = byte
                    taken += bytes([byte])
            for byte in taken:
                ring[write] = byte
                write = (write + 1) % RING_BYTES
            out += taken
    return bytes(out[:size])
