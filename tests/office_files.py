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
