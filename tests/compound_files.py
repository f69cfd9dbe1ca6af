"""Writes OLE compound files (MS-CFB version 3) from paths and bytes: no package that can be had writes them."""

import struct

SECTOR, MINI_SECTOR, MINI_LIMIT = 512, 64, 4096
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file whose streams stand at `/`-separated paths."""
    tree: dict = {}
    for path, data in streams.items():
        folder = tree
        *above, name = path.split("/")
        for part in above:
            folder = folder.setdefault(part, {})
        folder[name] = data
    entries: list[list] = [["Root Entry", 5, FREE, FREE, FREE, END, 0, b""]]
    _entries(tree, 0, entries)
    sectors: list[bytes] = []
    fat: list[int] = []
    small: list[bytes] = []
    mini_fat: list[int] = []
    for entry in entries:
        if entry[1] == 2:
            table, size = ((small, mini_fat), MINI_SECTOR) if len(entry[7]) < MINI_LIMIT else ((sectors, fat), SECTOR)
            entry[5], entry[6] = _chain(entry[7], *table, size), len(entry[7])
    entries[0][5], entries[0][6] = _chain(b"".join(small), sectors, fat), len(small) * MINI_SECTOR
    mini_table = struct.pack(f"<{len(mini_fat)}I", *mini_fat)
    mini_start = _chain(mini_table + b"\xff" * (-len(mini_table) % SECTOR), sectors, fat)
    directory = b"".join(_directory_entry(entry) for entry in entries)
    start = _chain(directory, sectors, fat)
    count = 1
    while count * 128 < len(sectors) + count:
        count += 1
    table = fat + [FAT] * count
    table += [FREE] * (count * 128 - len(table))
    where = list(range(len(sectors), len(sectors) + count))
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, count, start,
        0, MINI_LIMIT, mini_start, -(-len(mini_table) // SECTOR), END, 0, where[0],
    )  # fmt: skip
    header = header[:76] + struct.pack("<109I", *(where + [FREE] * (109 - count)))
    return header + b"".join(sectors) + struct.pack(f"<{len(table)}I", *table)


def _chain(data: bytes, sectors: list[bytes], fat: list[int], size: int = SECTOR) -> int:
    if not data:
        return END
    first = len(sectors)
    pieces = [data[at : at + size].ljust(size, b"\0") for at in range(0, len(data), size)]
    sectors += pieces
    fat += [*range(first + 1, first + len(pieces)), END]
    return first


def _entries(folder: dict, number: int, entries: list[list]) -> None:
    """Siblings hang on each other's right side: a poor tree, but a tree."""
    before = None
    for name in sorted(folder, key=lambda n: (len(n), n.upper())):
        value = folder[name]
        mine = len(entries)
        entries.append([name, 1 if isinstance(value, dict) else 2, FREE, FREE, FREE, 0, 0, value])
        if before is None:
            entries[number][4] = mine
        else:
            entries[before][3] = mine
        before = mine
        if isinstance(value, dict):
            _entries(value, mine, entries)


def _directory_entry(entry: list) -> bytes:
    name, kind, left, right, child, start, size, _ = entry
    wide = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16sIQQIQ",
        wide,
        len(wide),
        kind,
        1,
        left,
        right,
        child,
        b"",
        0,
        0,
        0,
        start if kind != 1 else 0,
        size,
    )


def msg(*, subject="", body="", html=b"", rtf=b"", sent=0, people=(), attachments=(), prefix="", header=32):
    """The streams of an Outlook message; `attachments` are (name, bytes or another message's streams)."""
    wide = lambda text: text.encode("utf-16-le")  # noqa: E731
    streams = {
        f"{prefix}__substg1.0_0037001F": wide(subject),
        f"{prefix}__substg1.0_0C1A001F": wide("Ana Núñez"),
        f"{prefix}__substg1.0_5D01001F": wide("ana@x.example"),
        f"{prefix}__properties_version1.0": bytes(header) + _fixed(0x00390040, sent) + _fixed(0x3FDE0003, 65001),
    }
    if body:
        streams[f"{prefix}__substg1.0_1000001F"] = wide(body)
    if html:
        streams[f"{prefix}__substg1.0_10130102"] = html
    if rtf:
        streams[f"{prefix}__substg1.0_10090102"] = rtf
    for number, (name, address, kind) in enumerate(people):
        at = f"{prefix}__recip_version1.0_#{number:08X}/"
        streams[f"{at}__substg1.0_3001001F"] = wide(name)
        streams[f"{at}__substg1.0_39FE001F"] = wide(address)
        streams[f"{at}__properties_version1.0"] = bytes(8) + _fixed(0x0C150003, kind)
    for number, (name, inside) in enumerate(attachments):
        at = f"{prefix}__attach_version1.0_#{number:08X}/"
        streams[f"{at}__substg1.0_3707001F"] = wide(name)
        streams[f"{at}__properties_version1.0"] = bytes(8)
        if isinstance(inside, bytes):
            streams[f"{at}__substg1.0_37010102"] = inside
        else:
            streams |= inside(f"{at}__substg1.0_3701000D/")
    return streams


def _fixed(tag: int, value: int) -> bytes:
    return struct.pack("<IIq", tag, 6, value)
