"""The true type of a document: what its bytes are wins over what its name or its sender says."""

import io
import re
import zipfile

from upwell.parse import media
from upwell.parse.encoding import looks_binary

HEAD_BYTES = 4096
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
    if b"%PDF-" in head[:1024]:
        return media.PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(data, name)
    if head.startswith(OLE_MAGIC):
        return _ole_type(data)
    for magic, media_type in MAGIC:
        if head.startswith(magic):
            return media_type
    if head[257:262] == b"ustar":
        return media.TAR
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if looks_binary(data):
        return media.BINARY
    return _text_type(head, name, claimed)


def _zip_type(data: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                return archive.read("mimetype").decode("ascii", "replace").strip()
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
    if media.code_language(named or ""):
        return named or media.PLAIN
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if HTML_START.match(text):
        return media.HTML
    if text.startswith(b"WEBVTT"):
        return media.VTT
    if text.startswith(b"<?xml") or named in {media.XML, media.JATS}:
        return media.JATS if JATS_START.search(head) or named == media.JATS else media.XML
    if named in {None, media.PLAIN, media.VTT, media.SUBRIP} and SUBRIP_START.match(text):
        return media.SUBRIP
    if named in {None, media.PLAIN, media.EML} and _is_mail(text):
        return media.EML
    if named in {None, media.JSON, media.NOTEBOOK} and text[:1] in {b"{", b"["}:
        return media.NOTEBOOK if named == media.NOTEBOOK or b'"nbformat"' in text else media.JSON
    return named or media.PLAIN


def _is_mail(text: bytes) -> bool:
    lines = text.split(b"\n\n")[0].replace(b"\r", b"").split(b"\n\n")[0].split(b"\n")[:20]
    known = sum(bool(MAIL_FIELD.match(line)) for line in lines)
    return known >= 2 and bool(MAIL_FIELD.match(lines[0])) and all(FIELD.match(line + b" x") for line in lines if line)
