"""Objects embedded in OpenDocument files, as children: documents in a folder of the package, and files as they are."""

import io
import re
import zipfile

from msgspec.structs import replace

from upwell.parse.failures import Unparsable
from upwell.parse.limits import Limits
from upwell.parse.office.objects import unwrapped
from upwell.parse.office.package import Package
from upwell.parse.parts import ParseChild
from upwell.records import ParsedDocument, ParseStatus

OBJECT = re.compile(r"Object \d{1,6}")
BODY = re.compile(rb"<office:(text|spreadsheet|presentation)[\s>/]")
ENDINGS = {b"text": ("odt", "text"), b"spreadsheet": ("ods", "spreadsheet"), b"presentation": ("odp", "presentation")}


def odf_children(package: Package, limits: Limits, parse_child: ParseChild) -> tuple[ParsedDocument, ...]:
    """Each document within; charts and formulas are parts of the outer one and no documents."""
    children: list[ParsedDocument] = []
    for part in package.names:
        folder, _, rest = part.partition("/")
        if not OBJECT.fullmatch(folder) or rest not in {"", "content.xml"} or part.endswith("/"):
            continue
        if len(children) >= limits.children:
            break
        try:
            data = package.read(part)
            name, inner = _document(package, folder, data) if rest else unwrapped(data, folder)
        except Unparsable as e:
            children.append(ParsedDocument(status=e.status, reason=e.reason, name=folder))
            continue
        if inner:
            children.append(replace(parse_child(inner, name, None), name=name))
    return tuple(child for child in children if child.status is not ParseStatus.EMPTY)


def _document(package: Package, folder: str, content: bytes) -> tuple[str, bytes]:
    """The folder as a file of its own; no bytes for what is a chart or a formula."""
    found = BODY.search(content)
    if found is None:
        return folder, b""
    ending, kind = ENDINGS[found.group(1)]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", content)
        if f"{folder}/styles.xml" in package:
            archive.writestr("styles.xml", package.read(f"{folder}/styles.xml"))
    return f"{folder}.{ending}", file.getvalue()
