"""The true type of a document: what its bytes are wins over what its name or its sender says."""

import codecs
import io
import re
import zipfile

from upwell.parse import media
from upwell.parse.letters.encoding import looks_binary

HEAD_BYTES = 4096
PHP = "text/x-php"
MAGIC = (
    (b"{\\rtf", media.RTF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\x1f\x8b", media.GZIP),
    (b"BZh", media.BZIP2),
    (b"\xfd7zXZ\0", media.XZ),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
)
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLE_STREAMS = (
    ("__substg1.0_", media.MSG),
    ("__properties_version1.0", media.MSG),
    ("EncryptedPackage", media.OLE),
    ("WordDocument", media.DOC),
    ("Workbook", media.XLS),
    ("PowerPoint Document", media.PPT),
)
PDF_OBJECT = re.compile(rb"(?m)^\d+\s+\d+\s+obj\b")
SAID_INSIDE = ("application/vnd.oasis.opendocument.", media.EPUB)
SHEBANG = re.compile(rb"#!\s*\S*?(?:/env\s+(?:-\S+\s+)*)?(python|bash|sh|zsh|node|ruby|php|perl|lua|Rscript)[\d.]*\s")
SHEBANG_LANGUAGES = {"sh": "bash", "zsh": "bash", "node": "javascript", "Rscript": "r"}
JSON_START = re.compile(rb"\{\s*[\"}]|\[\s*[\[{\"\]\d-]|\[\s*(?:true|false|null)\b")
ELEMENT_START = re.compile(rb"<([A-Za-z_][\w.:-]{0,80})(?:\s[^<>]*)?/?>")
HTML_PARTS = frozenset(
    {b"a", b"article", b"b", b"blockquote", b"br", b"center", b"div", b"font", b"h1", b"h2", b"h3", b"i", b"img", b"li"}
    | {b"main", b"ol", b"p", b"pre", b"section", b"span", b"strong", b"table", b"title", b"ul"}
)
ZIP_FOLDERS = (("word/", media.DOCX), ("ppt/", media.PPTX), ("xl/", media.XLSX))
HTML_START = re.compile(
    rb"(?:\s|<!--.*?-->|<\?xml[^>]*\?>)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.IGNORECASE | re.DOTALL
)
JATS_START = re.compile(
    rb"<!DOCTYPE\s+article\b[^>]*(?:JATS|NLM)|<article\b[^>]*(?:dtd-version|article-type)", re.IGNORECASE
)
SUBRIP_START = re.compile(rb"\d+\s*\n\d{1,2}:\d{2}:\d{2},\d{3}\s*-->")
MAIL_FIELD = re.compile(
    rb"(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|delivered-to|x-[a-z-]+)\s*:",
    re.IGNORECASE,
)
FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]*:[ \t]|[ \t]+\S")


def detect(data: bytes, name: str, claimed: str | None = None) -> str:
    """The media type of `data`; `name` and `claimed` only decide between kinds of text. Binary of no known kind is
    `application/octet-stream`.
    """
    head = data[:HEAD_BYTES]
    if (known := _by_magic(data, head, name)) is not None:
        return known
    if _is_pdf(data) and not _is_plainly_text(head):
        return media.PDF
    if looks_binary(data):
        return media.BINARY
    return _text_type(head, name, claimed)


def _by_magic(data: bytes, head: bytes, name: str) -> str | None:
    """The type by how the bytes begin: what is stored inside (a PDF as an archive's first member) does not count."""
    if head.startswith(b"%PDF-"):
        return media.PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(data, name)
    if head.startswith(OLE_MAGIC):
        return _ole_type(data)
    for magic, media_type in MAGIC:
        if head.startswith(magic):
            return media_type
    if head[257:263] in {b"ustar\0", b"ustar "} and b"\0" in head[:257]:
        return media.TAR
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def _is_pdf(data: bytes) -> bool:
    """Readers take what begins within the first kilobyte; a text that only mentions the mark has no objects."""
    at = data[:1024].find(b"%PDF-")
    if at <= 0:
        return at == 0
    return not data[:at].strip(b"\xef\xbb\xbf \t\r\n\0") or PDF_OBJECT.search(data, at) is not None


def _is_plainly_text(head: bytes) -> bool:
    """Whether it begins as a page, a mail or a script does, which may hold a PDF in the clear."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return HTML_START.match(text) is not None or text.startswith((b"<?xml", b"#!")) or _is_mail(text)


def _zip_type(data: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                said = archive.read("mimetype").decode("ascii", "replace").strip()
                return said if said.startswith(SAID_INSIDE) else media.ZIP
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, KeyError, EOFError):
        # Cut or damaged: the first member's name is in the clear, and the name says the rest.
        inside = next((t for folder, t in ZIP_FOLDERS if folder.encode() in data[: 64 * 1024]), None)
        return inside or media.by_name(name) or media.ZIP
    if "[Content_Types].xml" in names:
        return next((t for folder, t in ZIP_FOLDERS if any(n.startswith(folder) for n in names)), media.ZIP)
    return media.ZIP


def _ole_type(data: bytes) -> str:
    # The directory's names are UTF-16 in the clear, wherever its sectors lie.
    for stream, media_type in OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            return media_type
    return media.OLE


def _text_type(head: bytes, name: str, claimed: str | None) -> str:
    named = media.by_name(name) or (claimed.split(";")[0].strip().lower() if claimed else None)
    if named is not None and not media.is_text(named):
        named = None  # a .docx that is plain text
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = head[: len(head) // 2 * 2].decode("utf-16", "replace").encode()
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if HTML_START.match(text) and named != PHP:
        return media.HTML
    if media.code_language(named or ""):
        return named or media.PLAIN
    if text.startswith(b"WEBVTT"):
        return media.VTT
    if text.startswith(b"<?xml") or named in {media.XML, media.JATS}:
        return media.JATS if JATS_START.search(head) or named == media.JATS else media.XML
    if named in {None, media.PLAIN, media.VTT, media.SUBRIP} and SUBRIP_START.match(text):
        return media.SUBRIP
    if named in {None, media.PLAIN, media.EML} and _is_mail(text):
        return media.EML
    if (named is None and JSON_START.match(text)) or (
        named in {media.JSON, media.NOTEBOOK} and text[:1] in {b"{", b"["}
    ):
        return media.NOTEBOOK if named == media.NOTEBOOK or b'"nbformat"' in text else media.JSON
    return named or _nameless(text)


def _nameless(text: bytes) -> str:
    """What a text is whose name says nothing: by the interpreter that it asks for, or its first element."""
    if (found := SHEBANG.match(text)) is not None:
        said = found.group(1).decode("ascii")
        return f"text/x-{SHEBANG_LANGUAGES.get(said, said)}"
    if text.startswith(b"<?php"):
        return PHP
    if (element := ELEMENT_START.match(text)) is not None:
        return media.HTML if element.group(1).lower() in HTML_PARTS else media.XML
    return media.PLAIN


def _is_mail(text: bytes) -> bool:
    lines = text.split(b"\n\n")[0].replace(b"\r", b"").split(b"\n\n")[0].split(b"\n")[:20]
    known = sum(bool(MAIL_FIELD.match(line)) for line in lines)
    return known >= 2 and bool(MAIL_FIELD.match(lines[0])) and all(FIELD.match(line + b" x") for line in lines if line)
