"""Mutations of any bytes. Each takes a random generator, the document and another document, and gives the new bytes."""

import struct

ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-7", "cp1252", "shift_jis", "gb18030", "koi8-r")
EDGES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)
CONTROLS = "\0\x01\x08\x0b\x1b\x7f\x85\u200e\u202e\u2028\ufeff\ufffe\U0010ffff"


def flip_bits(rng, data, other):
    changed = bytearray(data)
    for _ in range(rng.randint(1, 1 + len(data) // 500)) if data else ():
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(rng, data, other):
    return data[: rng.randrange(len(data) + 1)]


def cut_out(rng, data, other):
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.randint(1, 4096) :]


def splice(rng, data, other):
    """The head of this document, the tail of another."""
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def insert_piece(rng, data, other):
    at, start = rng.randrange(len(data) + 1), rng.randrange(len(other) + 1)
    return data[:at] + other[start : start + rng.randint(1, 4096)] + data[at:]


def repeat_piece(rng, data, other):
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.randint(1, 2048)]
    return data[:start] + piece * rng.choice((2, 3, 10, 200)) + data[start:]


def edit_number(rng, data, other):
    """A number that may be a length, an offset or a count: binary, or in decimal digits."""
    if not data:
        return data
    value, at = rng.choice(EDGES), rng.randrange(len(data))
    if rng.random() < 0.5:
        width = rng.choice("BHI")
        packed = struct.pack(rng.choice("<>") + width, value & {"B": 0xFF, "H": 0xFFFF, "I": 0xFFFFFFFF}[width])
        return data[:at] + packed + data[at + len(packed) :]
    start = next((i for i in range(at, min(at + 4096, len(data))) if data[i : i + 1].isdigit()), None)
    if start is None:
        return data
    end = start
    while end < len(data) and data[end : end + 1].isdigit():
        end += 1
    return data[:start] + rng.choice((b"-1", b"%d" % value, b"9" * 20, b"1e308", b"0.0000001")) + data[end:]


def swap_encoding(rng, data, other):
    source, target = rng.choice(("utf-8", "latin-1")), rng.choice(ENCODINGS)
    return data.decode(source, "replace").encode(target, "replace")


def sprinkle_controls(rng, data, other):
    changed = data
    for _ in range(rng.randint(1, 20)):
        at = rng.randrange(len(changed) + 1)
        changed = changed[:at] + rng.choice(CONTROLS).encode() + changed[at:]
    return changed


def swap_lines(rng, data, other):
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 20)):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


BYTES = (
    flip_bits,
    truncate,
    cut_out,
    splice,
    insert_piece,
    repeat_piece,
    edit_number,
    swap_encoding,
    sprinkle_controls,
    swap_lines,
)
