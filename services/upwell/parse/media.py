"""Media types by file name, and how each is read. Content wins over these (see `detect`)."""

from types import MappingProxyType

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
ZIP = "application/zip"
TAR = "application/x-tar"
GZIP = "application/gzip"
BZIP2 = "application/x-bzip2"
XZ = "application/x-xz"
OLE = "application/x-ole-storage"
MSG = "application/vnd.ms-outlook"
DOC = "application/msword"
XLS = "application/vnd.ms-excel"
PPT = "application/vnd.ms-powerpoint"
RTF = "application/rtf"
HTML = "text/html"
MARKDOWN = "text/markdown"
CSV = "text/csv"
TSV = "text/tab-separated-values"
PLAIN = "text/plain"
ASCIIDOC = "text/asciidoc"
LATEX = "application/x-latex"
VTT = "text/vtt"
JSON = "application/json"
JSON_LINES = "application/jsonl"
SUBRIP = "application/x-subrip"
RESTRUCTURED = "text/prs.fallenstein.rst"
NOTEBOOK = "application/x-ipynb+json"
XML = "application/xml"
JATS = "application/x-jats+xml"
EML = "message/rfc822"
BINARY = "application/octet-stream"

CODE_LANGUAGES = MappingProxyType(
    {
        "py": "python", "pyi": "python", "ts": "typescript", "tsx": "typescript", "js": "javascript",
        "jsx": "javascript", "mjs": "javascript", "go": "go", "rs": "rust", "java": "java", "kt": "kotlin",
        "c": "c", "h": "cpp", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "cs": "csharp", "rb": "ruby",
        "php": "php", "swift": "swift", "scala": "scala", "sh": "bash", "bash": "bash", "sql": "sql", "lua": "lua",
        "r": "r", "pl": "perl", "proto": "protobuf", "tf": "terraform", "yaml": "yaml", "yml": "yaml", "toml": "toml",
        "ini": "ini", "cfg": "ini", "css": "css", "scss": "css", "dockerfile": "dockerfile", "mk": "make",
    }
)  # fmt: skip

BY_EXTENSION = MappingProxyType(
    {
        "pdf": PDF, "docx": DOCX, "docm": DOCX, "pptx": PPTX, "xlsx": XLSX, "xlsm": XLSX, "odt": ODT, "ods": ODS,
        "odp": ODP, "epub": EPUB, "zip": ZIP, "tar": TAR, "gz": GZIP, "tgz": GZIP, "bz2": BZIP2,
        "tbz2": BZIP2, "xz": XZ, "txz": XZ, "msg": MSG, "doc": DOC, "xls": XLS, "ppt": PPT, "rtf": RTF,
        "html": HTML, "htm": HTML, "xhtml": HTML, "md": MARKDOWN, "markdown": MARKDOWN, "mdx": MARKDOWN, "csv": CSV,
        "tsv": TSV, "tab": TSV, "txt": PLAIN, "text": PLAIN, "log": PLAIN, "adoc": ASCIIDOC,
        "asciidoc": ASCIIDOC, "asc": ASCIIDOC, "tex": LATEX, "latex": LATEX, "vtt": VTT, "json": JSON,
        "jsonl": JSON_LINES, "ndjson": JSON_LINES, "ipynb": NOTEBOOK, "xml": XML, "nxml": JATS, "eml": EML,
        "rst": RESTRUCTURED, "rest": RESTRUCTURED, "srt": SUBRIP,
        **{extension: f"text/x-{language}" for extension, language in CODE_LANGUAGES.items()},
    }
)  # fmt: skip

ARCHIVES = frozenset({ZIP, TAR, GZIP, BZIP2, XZ})
TEXT_TYPES = frozenset({JSON, JSON_LINES, SUBRIP, NOTEBOOK, XML, JATS, EML, LATEX})


def is_text(media_type: str) -> bool:
    """Whether the bytes of this type are text (RTF, ASCII that nobody reads as such, is not)."""
    return media_type.startswith("text/") or media_type in TEXT_TYPES


def by_name(name: str) -> str | None:
    """The media type that a file's name claims, or None."""
    base = name.rsplit("/", 1)[-1].lower()
    if base in {"dockerfile", "makefile"}:
        return f"text/x-{'make' if base == 'makefile' else base}"
    return BY_EXTENSION.get(base.rsplit(".", 1)[-1]) if "." in base else None


def code_language(media_type: str) -> str | None:
    """The programming language of a `text/x-…` type."""
    return media_type.removeprefix("text/x-") if media_type.startswith("text/x-") else None
