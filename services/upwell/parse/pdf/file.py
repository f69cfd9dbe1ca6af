"""A PDF file as PDFium opens it: pages, links, bookmarks, metadata and attached files. Vendor errors end here."""

import ctypes
from collections.abc import Iterator
from typing import Any, Self

from upwell.parse.failures import corrupt, encrypted, too_large
from upwell.parse.limits import Limits
from upwell.parse.naming import part_name
from upwell.parse.pdf.frame import BBox, Frame
from upwell.records import Record

PASSWORD_ERROR = 4
MOST_LINKS_A_PAGE = 500
MOST_BOOKMARKS = 5_000
LONGEST_URI = 2_048
WIDEST_PAGE_POINTS = 100_000.0
END_BYTES = 2_048
SHARPEST = 200 / 72
FREE_TEXT, STAMP, FILE_ATTACHMENT, WIDGET = 3, 13, 17, 20
SHOWN_ANNOTATIONS = frozenset({FREE_TEXT, STAMP, WIDGET})
MOST_ANNOTATIONS = 2_000
FLAT_FOR_DISPLAY, FLATTENED = 0, 1


class Bookmark(Record, frozen=True, kw_only=True):
    """An entry of the outline that readers show beside the pages; level from 1, page from 1 where it is known."""

    title: str
    level: int
    page: int | None = None


class PdfFile:
    """An open PDF. Raises Unparsable: `encrypted`, `corrupt`, `too_large` (by its pages)."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415 - a C library that loads only when a PDF comes
        import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

        self._pdfium, self._error, self._wrapped = pdfium, pypdfium2.PdfiumError, pypdfium2.PdfAttachment
        self._limits, self._left = limits, limits.unpacked_bytes
        self._attached: list[tuple[str, bytes]] = []
        self.whole = b"%%EOF" in data[-END_BYTES:]
        self.unread: list[int] = []
        try:
            self.document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as e:
            if getattr(e, "err_code", None) == PASSWORD_ERROR or "password" in str(e).lower():
                raise encrypted("the PDF is encrypted; its password is not known") from e
            raise corrupt("the PDF cannot be read") from e
        self.count = len(self.document)
        if self.count > limits.pages:
            self.document.close()
            raise too_large(f"{self.count} pages; at most {limits.pages} are read")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.document.close()

    def pages(self) -> Iterator[tuple[int, Any]]:
        """Each page that can be loaded, with its number from 1; closed when the next is asked for."""
        for number in range(1, self.count + 1):
            try:
                page = self.document[number - 1]
            except self._error:
                self.unread.append(number)
                continue
            try:
                yield number, page
            finally:
                page.close()

    def frame(self, page: Any) -> Frame:
        """The part of the page that shows. A page without a sensible size counts as letter paper."""
        crop, media = page.get_cropbox(), page.get_mediabox()
        left, bottom = max(crop[0], media[0]), max(crop[1], media[1])
        right, top = min(crop[2], media[2]), min(crop[3], media[3])
        frame = Frame(box=(left, bottom, right, top), rotation=page.get_rotation())
        if 0 < right - left < WIDEST_PAGE_POINTS and 0 < top - bottom < WIDEST_PAGE_POINTS:
            return frame
        return Frame(box=(0.0, 0.0, 612.0, 792.0), rotation=frame.rotation)

    def text_page(self, page: Any) -> Any:
        """PDFium's text page, to be closed by the caller."""
        try:
            return page.get_textpage()
        except self._error as e:
            raise corrupt("the text of a page cannot be read") from e

    def render(self, number: int, most_pixels: int) -> Any | None:
        """Page `number` as pixels (height, width, 3; BGR), as sharp as that many allow, or None."""
        page = None
        try:
            page = self.document[number - 1]
            width, height = page.get_size()
            if not (0 < width < WIDEST_PAGE_POINTS and 0 < height < WIDEST_PAGE_POINTS):
                return None
            scale = min(SHARPEST, (most_pixels / (width * height)) ** 0.5)
            bitmap = page.render(scale=scale, may_draw_forms=False, rev_byteorder=False)
            try:
                pixels = bitmap.to_numpy()[:, :, :3].copy()
            finally:
                bitmap.close()
        except (self._error, ValueError, OSError, IndexError):
            return None
        finally:
            if page is not None:
                page.close()
        return pixels

    def links(self, page: Any) -> list[tuple[BBox, str]]:
        """The boxes (left, bottom, right, top, as the PDF has them) that lead to an address, at most 500."""
        pdfium, found = self._pdfium, []
        position, link, rect = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
        for _ in range(MOST_LINKS_A_PAGE):
            if not pdfium.FPDFLink_Enumerate(page, position, link):
                break
            uri = self._uri(link)
            if uri and pdfium.FPDFLink_GetAnnotRect(link, rect):
                found.append(((rect.left, rect.bottom, rect.right, rect.top), uri))
        return found

    def _uri(self, link: Any) -> str:
        pdfium = self._pdfium
        action = pdfium.FPDFLink_GetAction(link)
        if not action:
            return ""
        length = pdfium.FPDFAction_GetURIPath(self.document, action, None, 0)
        if not 1 < length <= LONGEST_URI:
            return ""
        buffer = ctypes.create_string_buffer(length)
        pdfium.FPDFAction_GetURIPath(self.document, action, buffer, length)
        return buffer.value.decode("utf-8", "replace")

    def bookmarks(self) -> list[Bookmark]:
        """The outline, as far as it can be read."""
        found: list[Bookmark] = []
        try:
            for entry in self.document.get_toc(max_depth=10):
                target = entry.get_dest()
                index = target.get_index() if target is not None else None
                title = " ".join(entry.get_title().split())
                if title:
                    found.append(
                        Bookmark(title=title, level=entry.level + 1, page=None if index is None else index + 1)
                    )
                if len(found) >= MOST_BOOKMARKS:
                    break
        except (self._error, ValueError, UnicodeDecodeError):
            pass  # damaged bookmarks say less, and harm nothing
        return found

    def metadata_title(self) -> str:
        """The title of the file's properties, or nothing."""
        try:
            return " ".join(str(self.document.get_metadata_value("Title")).split())
        except (self._error, ValueError, UnicodeDecodeError):
            return ""

    def attached(self) -> list[tuple[str, bytes]]:
        """Names and bytes of the files attached to the document, and to the pages that were `settled` so far."""
        for i in range(min(self.document.count_attachments(), self._limits.children)):
            try:
                self._keep(self.document.get_attachment(i))
            except self._error:
                continue  # a damaged attachment does not take its PDF with it
        return self._attached

    def _keep(self, attachment: Any) -> None:
        """Take a file's bytes as far as the limits allow."""
        content = self._content(attachment, self._left)
        if content is not None and len(self._attached) < self._limits.children:
            self._left -= len(content)
            self._attached.append((part_name(self._name(attachment), len(self._attached) + 1), content))

    def _content(self, attachment: Any, most_bytes: int) -> bytes | None:
        size = ctypes.c_ulong()
        self._pdfium.FPDFAttachment_GetFile(attachment, None, 0, size)
        if not 0 < size.value <= most_bytes:
            return None
        try:
            return bytes(attachment.get_data())
        except (self._error, ValueError):
            return None

    def _name(self, attachment: Any) -> str | None:
        try:
            return str(attachment.get_name())
        except (self._error, ValueError, UnicodeDecodeError):
            return None

    def settled(self, page: Any, number: int) -> Any:
        """The page with what its forms and notes show (fields' values, text boxes, stamps) drawn into it.

        Where there is any it is another page object, to be closed by the caller. Keeps the files attached to it.
        """
        pdfium, kinds = self._pdfium, set()
        for i in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
            annotation = pdfium.FPDFPage_GetAnnot(page, i)
            if not annotation:
                continue
            kinds.add(pdfium.FPDFAnnot_GetSubtype(annotation))
            if pdfium.FPDFAnnot_GetSubtype(annotation) == FILE_ATTACHMENT:
                attachment = pdfium.FPDFAnnot_GetFileAttachment(annotation)
                if attachment:
                    self._keep(self._wrapped(attachment, self.document))
            pdfium.FPDFPage_CloseAnnot(annotation)
        if not kinds & SHOWN_ANNOTATIONS or pdfium.FPDFPage_Flatten(page, FLAT_FOR_DISPLAY) != FLATTENED:
            return page
        try:
            return self.document[number - 1]
        except self._error:
            return page
