"""Hostile documents, made in code: each is small to make and meant to cost its reader dearly."""

import io
import random
import struct
import zipfile
import zlib

MIB = 1024 * 1024


def zip_of(members, *, level=9):
    """A zip of (name, bytes or pieces of bytes): pieces are written one after another and never held together."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in members:
            with archive.open(name, "w") as member:
                for piece in [content] if isinstance(content, bytes) else content:
                    member.write(piece)
    return buffer.getvalue()


TYPES = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">%s</Types>'
RELS = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>'
MAIN = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
WORD = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SHEET = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
LAUGHS = b"<!DOCTYPE l [<!ENTITY a0 'ha ha ha '>%s]>" % b"".join(
    b"<!ENTITY a%d '%s'>" % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 10)
)
QUADRATIC = b"<!DOCTYPE l [<!ENTITY q '%s'>]>" % (b"ha " * 30_000)


def part(name, kind):
    return b'<Override PartName="/%s" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/>' % (
        name,
        kind,
    )


def docx(document, *, prolog=b""):
    """A Word file around the pieces of a body."""
    relation = b'<Relationship Id="r1" Type="%sofficeDocument" Target="word/document.xml"/>' % MAIN
    head, tail = b'<?xml version="1.0"?>%s<w:document %s><w:body>' % (prolog, WORD), b"</w:body></w:document>"
    types = TYPES % part(b"word/document.xml", b"wordprocessingml.document.main")
    return zip_of(
        [
            ("[Content_Types].xml", types),
            ("_rels/.rels", RELS % relation),
            ("word/document.xml", [head, *document, tail]),
        ]
    )


def xlsx(rows, *, prolog=b"", more=(), level=9):
    """A workbook of one sheet around the pieces of its rows; `more` are members beside it."""
    types = part(b"xl/workbook.xml", b"spreadsheetml.sheet.main") + part(
        b"xl/worksheets/sheet1.xml", b"spreadsheetml.worksheet"
    )
    book = b'<workbook %s xmlns:r="%s"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>' % (
        SHEET,
        MAIN[:-1],
    )
    head = b'<?xml version="1.0"?>%s<worksheet %s><sheetData>' % (prolog, SHEET)
    return zip_of(
        [
            ("[Content_Types].xml", TYPES % types),
            (
                "_rels/.rels",
                RELS % (b'<Relationship Id="r1" Type="%sofficeDocument" Target="xl/workbook.xml"/>' % MAIN),
            ),
            ("xl/workbook.xml", book),
            (
                "xl/_rels/workbook.xml.rels",
                RELS % (b'<Relationship Id="r1" Type="%sworksheet" Target="worksheets/sheet1.xml"/>' % MAIN),
            ),
            ("xl/worksheets/sheet1.xml", [head, *rows, b"</sheetData></worksheet>"]),
            *more,
        ],
        level=level,
    )


def row(number, cells):
    return b'<row r="%d">%s</row>' % (number, b"".join(cells))


def text_cell(place, text):
    return b'<c r="%s" t="inlineStr"><is><t>%s</t></is></c>' % (place, text)


def large_xlsx(size):
    """A workbook file of about `size` bytes that does not compress: an honest sheet, and noise beside it."""
    rng = random.Random(6)
    rows = (row(n, [text_cell(b"A%d" % n, rng.randbytes(40).hex().encode())]) for n in range(1, 200_000))
    noise = ((f"xl/media/image{i}.bin", rng.randbytes(MIB)) for i in range(size // MIB - 10))
    return xlsx(rows, more=noise, level=1)


def many_rows_xlsx(rows, columns):
    """Cells without end that compress to nothing."""
    cells = b"".join(b"<c><v>1</v></c>" for _ in range(columns))
    return xlsx(b"<row>%s</row>" % cells for _ in range(rows))


def far_cell_xlsx():
    """Two cells that span the largest sheet there is."""
    return xlsx([row(1, [text_cell(b"A1", b"near")]), row(1_048_576, [text_cell(b"XFD1048576", b"far")])])


def zip_bomb():
    """1 GiB of zeros in 1 MiB."""
    zeros = b"\0" * MIB
    return zip_of([("word/document.xml", (zeros for _ in range(1024))), ("[Content_Types].xml", b"<Types/>")])


def lying_zip():
    """A member that says it is small and is 300 MiB."""
    data = bytearray(
        zip_of([("[Content_Types].xml", b"<Types/>"), ("word/document.xml", (b" " * MIB for _ in range(300)))])
    )
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    return bytes(data)


def nested_zip(depth=6, copies=16):
    """A zip of zips of zips: little at every step, 16 to the 6th of a megabyte in all."""
    data = zip_of([("a.txt", b"words " * 200_000)])
    for _ in range(depth):
        data = zip_of([(f"{i}.zip", data) for i in range(copies)])
    return data


def quine_mail(depth):
    """Messages within messages."""
    data = b"Subject: innermost\n\nwords\n"
    for i in range(depth):
        data = b"Subject: %d\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n" % i + data
    return data


def many_parts_mail(parts):
    body = b"--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nx\n" * parts
    return (
        b'From: a@b.c\nSubject: parts\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
        + body
        + b"--b--\n"
    )


def many_alternatives_mail(parts):
    body = b"--b\nContent-Type: text/plain\n\nx\n" * parts
    return (
        b'From: a@b.c\nSubject: p\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary="b"\n\n'
        + body
        + b"--b--\n"
    )


def deep_multipart_mail(depth):
    head = b"From: a@b.c\nSubject: deep\nMIME-Version: 1.0\n"
    body = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (i, i) for i in range(depth))
    return head + body + b"Content-Type: text/plain\n\nx\n"


def huge_png(side=50_000):
    """A picture of 2.5 thousand million points in a few kilobytes."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packer = zlib.compressobj(9)
    line = b"\0" * (1 + side // 8)
    packed = b"".join(packer.compress(line) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def xml(body, prolog=b""):
    return b'<?xml version="1.0"?>' + prolog + b"<l>" + body + b"</l>"


def deep(opening, closing, depth, middle=b"x"):
    return opening * depth + middle + closing * depth


def huge_png_docx():
    picture = huge_png(30_000)
    return zip_of(
        [
            ("[Content_Types].xml", TYPES % part(b"word/document.xml", b"wordprocessingml.document.main")),
            (
                "_rels/.rels",
                RELS % (b'<Relationship Id="r1" Type="%sofficeDocument" Target="word/document.xml"/>' % MAIN),
            ),
            ("word/document.xml", b"<w:document %s><w:body><w:p/></w:body></w:document>" % WORD),
            ("word/media/image1.png", picture),
        ]
    )
