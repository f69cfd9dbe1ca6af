"""Hostile PDFs, made in code: loops, bombs, and more of everything than a page can hold."""

import zlib

MIB = 1024 * 1024


def pdf(objects, root=1):
    """A PDF of these numbered objects, with its table of where they are."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % p for p in places)
    out += b"trailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, root, start)
    return bytes(out)


def stream(content, extra=b""):
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def pages_pdf(pages, words=b"BT /F1 12 Tf 72 720 Td (words on a page) Tj ET"):
    """Many small pages, each with one line."""
    kids = b" ".join(b"%d 0 R" % (5 + i) for i in range(pages))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        stream(words),
    ]
    return pdf([*objects, *[page] * pages])


def one_page_pdf(content, resources, *more, extra=b""):
    """One page with these resources; further objects are numbered from 5."""
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << %s >> >>" % resources
    pages = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    return pdf([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, stream(content, extra), *more])


def font_loop_pdf():
    """A composite font that descends to itself, with a character map that uses itself."""
    cmap = stream(b"/CMapName /X def 1 begincodespacerange <00> <ff> endcodespacerange", b"/UseCMap 6 0 R")
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding 6 0 R /ToUnicode 6 0 R /DescendantFonts [5 0 R] >>"
    return one_page_pdf(b"BT /F1 12 Tf 72 720 Td (round and round) Tj ET", b"/Font << /F1 5 0 R >>", font, cmap)


def form_loop_pdf():
    """A form that draws itself twice."""
    form = stream(
        b"/X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
    )
    return one_page_pdf(b"/X Do", b"/XObject << /X 5 0 R >>", form)


def form_bomb_pdf(depth=30):
    """Forms that each draw the next ten times: ten to the thirtieth drawings, without a loop."""
    forms = [
        stream(
            b"/X Do " * 10,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>" % (6 + i),
        )
        for i in range(depth)
    ]
    last = stream(b"BT ET", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    return one_page_pdf(b"/X Do", b"/XObject << /X 5 0 R >>", *forms, last)


def page_loop_pdf():
    """A tree of pages whose branch is its own root."""
    return pdf(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 9999999 /Kids [2 0 R 2 0 R] /Parent 2 0 R >>"]
    )


def reference_loop_pdf():
    """References that lead to each other and nowhere; a length that is itself."""
    objects = [b"<< /Type /Catalog /Pages 3 0 R >>", b"3 0 R", b"2 0 R", b"<< /Length 4 0 R >>\nstream\nx\nendstream"]
    return pdf(objects)


def inflating_pdf(layers, size=64 * MIB):
    """A page content that is deflated several times over and unpacks to `size` bytes."""
    data = b" " * size
    for _ in range(layers):
        data = zlib.compress(data, 9)
    filters = b"/Filter [%s]" % (b"/FlateDecode " * layers)
    return one_page_pdf(data, b"", extra=filters)


def huge_image_pdf(side=30_000):
    """An image of 30,000 by 30,000 points of three colours that is a few kilobytes of deflated nothing."""
    packer = zlib.compressobj(9)
    line = b"\0" * (side * 3)
    packed = b"".join(packer.compress(line) for _ in range(side)) + packer.flush()
    picture = stream(
        packed,
        b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode"
        % (side, side),
    )
    return one_page_pdf(b"q 600 0 0 700 0 0 cm /I Do Q", b"/XObject << /I 5 0 R >>", picture)


def much_text_pdf(lines):
    """One page with more pieces of text than a page can hold."""
    shown = b"".join(b"1 0 0 1 %d %d Tm (word%d) Tj\n" % (i % 500, i % 700, i) for i in range(lines))
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    return one_page_pdf(b"BT /F1 4 Tf\n" + shown + b"ET", b"/Font << /F1 5 0 R >>", font)


def many_lines_pdf(lines):
    """One page full of rules, each crossing each."""
    drawn = b"".join(
        b"%d 0 m %d 792 l S 0 %d m 612 %d l S\n" % (i % 612, i % 612, i % 792, i % 792) for i in range(lines)
    )
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    return one_page_pdf(drawn + b"BT /F1 12 Tf 72 720 Td (x) Tj ET", b"/Font << /F1 5 0 R >>", font)


def deep_objects_pdf(depth=200_000):
    """An array in an array in an array."""
    return one_page_pdf(b"BT ET", b"/X " + b"[" * depth + b"]" * depth)
