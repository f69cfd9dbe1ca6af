"""Small office documents, built from their XML."""

import io
import zipfile

ODF_SPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" '
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
)


def zipped(parts: dict[str, str | bytes]) -> bytes:
    """A zip of these members, in their order."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def odf(kind: str, body: str, *, styles: str = "", master: str = "", manifest: str = "", **parts: str) -> bytes:
    """An OpenDocument file; `kind` is text, spreadsheet or presentation."""
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {ODF_SPACES}><office:automatic-styles>{styles}"
            f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body>"
            "</office:document-content>",
            "styles.xml": f"<office:document-styles {ODF_SPACES}><office:master-styles>{master}</office:master-styles>"
            "</office:document-styles>",
            "META-INF/manifest.xml": f"<m:manifest xmlns:m='urn:m'>{manifest}</m:manifest>",
            **parts,
        }
    )


WORD_SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(**targets: str) -> str:
    """A relationships part: kind -> target; an address outside is one with `://` in it."""
    lines = "".join(
        f'<Relationship Id="{kind}" Type="{RELATION}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if "://" in target else "/>")
        for kind, target in targets.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{lines}</Relationships>'
    )


def docx(body: str, *, styles: str = "", numbering: str = "", others: dict | None = None, **notes: str) -> bytes:
    """A Word file from its body's XML; `notes` are footnotes, endnotes, comments, header, footer."""
    wrap = lambda tag, inner: f"<w:{tag} {WORD_SPACES}>{inner}</w:{tag}>"  # noqa: E731
    tags = {"header": "hdr", "footer": "ftr"}
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/document.xml": wrap("document", f"<w:body>{body}</w:body>"),
            "word/styles.xml": wrap("styles", styles),
            "word/numbering.xml": wrap("numbering", numbering),
            "word/_rels/document.xml.rels": relations(
                styles="styles.xml", numbering="numbering.xml", hyperlink="http://x.example/",
                **{kind: f"{kind}.xml" for kind in notes},
            ),
            **{f"word/{kind}.xml": wrap(tags.get(kind, kind), inner) for kind, inner in notes.items()},
            **(others or {}),
        }
    )  # fmt: skip


def p(text: str = "", style: str = "", properties: str = "", more: str = "") -> str:
    """A paragraph of Word."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run}{more}</w:p>"
