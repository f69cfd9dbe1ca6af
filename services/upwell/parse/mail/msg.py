"""Outlook messages (MS-OXMSG) as the mail that they are, so that one reader reads both.

Properties are named by their tags in MS-OXPROPS: 0037 is the subject, 1000 the body, 1013 the HTML body …
"""

import re
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.charset import BASE64, Charset
from email.encoders import encode_base64
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr
from functools import cached_property

from msgspec.structs import replace

from upwell.parse.failures import too_large
from upwell.parse.letters.encoding import decode
from upwell.parse.limits import Limits
from upwell.parse.mail.message import parse_mail
from upwell.parse.naming import part_name
from upwell.parse.office.ole import Compound
from upwell.parse.parts import ParseChild
from upwell.parse.policy import ParsePolicy
from upwell.parse.rtf.compressed import decompressed
from upwell.parse.rtf.document import parse_rtf
from upwell.records import ParsedDocument

PARSER = "msg/1"
PROPERTIES = "__properties_version1.0"
EMBEDDED = "__substg1.0_3701000D"
FILETIME_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
SENT, DELIVERED = 0x00390040, 0x0E060040
INTERNET_CODE_PAGE, MESSAGE_CODE_PAGE = 0x3FDE0003, 0x3FFD0003
RECIPIENT_TYPE = 0x0C150003
TO, CC = 1, 2
LONGEST_HEADER = 20_000
MEDIA_TYPE = re.compile(r"[A-Za-z]{2,20}/[A-Za-z0-9.+-]{1,100}")


def parse_msg(data: bytes, limits: Limits, policy: ParsePolicy, parse_child: ParseChild) -> ParsedDocument:
    """The message with its attachments as children. Raises Unparsable."""
    message = _Item(Compound(data), (), 32).as_mail(limits, policy, limits.child_depth + 1)
    return replace(parse_mail(message.as_bytes(), limits, parse_child), parser=PARSER)


class _Item:
    """A message, a recipient or an attachment: a storage with properties."""

    def __init__(self, ole: Compound, path: tuple[str, ...], header_bytes: int) -> None:
        self.ole, self.path, self.header_bytes = ole, path, header_bytes

    @cached_property
    def fixed(self) -> dict[int, bytes]:
        """The eight bytes of each property of fixed size, by its tag."""
        data = self.ole.read((*self.path, PROPERTIES)) or b""
        entries = range(self.header_bytes, len(data) - 15, 16)
        return {struct.unpack_from("<I", data, at)[0]: data[at + 8 : at + 16] for at in entries}

    def number(self, tag: int) -> int | None:
        value = self.fixed.get(tag)
        return None if value is None else int(struct.unpack_from("<i", value)[0])

    @cached_property
    def code_page(self) -> str:
        for tag in (MESSAGE_CODE_PAGE, INTERNET_CODE_PAGE):
            if number := self.number(tag):
                return code_page_name(number)
        return "cp1252"

    def binary(self, name: str) -> bytes | None:
        return self.ole.read((*self.path, f"__substg1.0_{name}0102"))

    def text(self, name: str) -> str:
        """A property of text, "" where there is none."""
        wide = self.ole.read((*self.path, f"__substg1.0_{name}001F"))
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self.ole.read((*self.path, f"__substg1.0_{name}001E"))
        return decode(narrow, self.code_page)[0].rstrip("\0") if narrow else ""

    def first(self, *names: str) -> str:
        return next((text for name in names if (text := " ".join(self.text(name).split())[:LONGEST_HEADER])), "")

    def as_mail(self, limits: Limits, policy: ParsePolicy, depth: int) -> Message:
        """The whole as a message of the Internet. Raises `too_large` past `depth`."""
        if depth < 0:
            raise too_large("nested too deeply")
        body = self._body(limits, policy)
        parts = list(self._attachments(limits, policy, depth))
        mail: Message = body
        if parts:
            mail = MIMEMultipart()
            mail.attach(body)
            for part in parts:
                mail.attach(part)
        for name, value in self._fields():
            if value:
                mail[name] = value
        return mail

    def _fields(self) -> Iterator[tuple[str, str]]:
        yield "Subject", Header(self.first("0037", "0E1D", "0070"), "utf-8").encode()
        sender = self.first("5D01", "0065", "0C1F")
        yield "From", _address(self.first("0C1A", "0042"), sender if "@" in sender else "")
        people = [_Item(self.ole, path, 8) for path in self.ole.folders(self.path, "__recip_version1.0_")[:500]]
        for field, kind, shown in (("To", TO, "0E04"), ("Cc", CC, "0E03")):
            found = [p for p in people if p.number(RECIPIENT_TYPE) == kind]
            addresses = [_address(p.first("3001", "5FF6"), p.first("39FE", "3003")) for p in found]
            yield field, ", ".join(filter(None, addresses)) or _address(self.first(shown), "")
        yield "Date", self._date()

    def _date(self) -> str:
        for tag in (SENT, DELIVERED):
            if value := self.fixed.get(tag):
                try:
                    ticks = struct.unpack("<q", value)[0]
                    return format_datetime(FILETIME_EPOCH + timedelta(microseconds=ticks // 10))
                except (OverflowError, ValueError):
                    continue
        return ""

    def _body(self, limits: Limits, policy: ParsePolicy) -> Message:
        """HTML where there is any: what Outlook keeps beside it is made from it."""
        html = self.binary("1013")
        if html:
            number = self.number(INTERNET_CODE_PAGE)
            return _text(decode(html, code_page_name(number) if number else None)[0], "html")
        if wide := self.text("1013"):
            return _text(wide, "html")
        if plain := self.text("1000"):
            return _text(plain, "plain")
        rich = decompressed(self.binary("1009") or b"", limits)
        if rich:
            parsed = parse_rtf(rich, limits, policy)
            return _text("\n\n".join(block.text for block in parsed.blocks), "plain")
        return _text("", "plain")

    def _attachments(self, limits: Limits, policy: ParsePolicy, depth: int) -> Iterator[Message]:
        folders = self.ole.folders(self.path, "__attach_version1.0_")
        if len(folders) > limits.children:
            raise too_large(f"over {limits.children} attachments")
        for number, path in enumerate(folders, 1):
            item = _Item(self.ole, path, 8)
            name = item.first("3707", "3704", "3001")
            data = item.binary("3701")
            if data is not None:
                yield _attached(data, part_name(name, number), item.first("370E"))
            elif self.ole.has((*path, EMBEDDED, PROPERTIES)):
                part = MIMEMessage(_Item(self.ole, (*path, EMBEDDED), 24).as_mail(limits, policy, depth - 1))
                yield _named(part, _message_name(name, number))


def code_page_name(number: int) -> str:
    """Python's name for a Windows code page."""
    if 28591 <= number <= 28606:
        return f"iso-8859-{number - 28590}"
    return {65001: "utf-8", 20127: "ascii", 50220: "iso2022_jp", 51949: "euc_kr", 20866: "koi8_r"}.get(
        number, f"cp{number}"
    )


def _message_name(name: str, number: int) -> str:
    name = part_name(name or f"message-{number}", number)
    return name if name.lower().endswith((".msg", ".eml")) else f"{name}.eml"


def _address(name: str, address: str) -> str:
    if not name or name == address:
        return address.encode("ascii", "ignore").decode()
    if not address:
        return Header(name, "utf-8").encode() if not name.isascii() else name
    return formataddr((name, address.encode("ascii", "ignore").decode()), "utf-8")


def _text(text: str, subtype: str) -> Message:
    charset = Charset("utf-8")
    charset.body_encoding = BASE64
    part = MIMEText("", subtype)
    del part["Content-Transfer-Encoding"]
    part.set_payload(text.encode("utf-8", "replace").decode(), charset)
    return part


def _attached(data: bytes, name: str, media_type: str) -> Message:
    main, _, sub = media_type.partition("/")
    fit = MEDIA_TYPE.fullmatch(media_type) and main not in {"multipart", "message"}
    part = MIMEBase(main, sub) if fit else MIMEBase("application", "octet-stream")
    part.set_payload(data)
    encode_base64(part)
    return _named(part, name)


def _named(part: Message, name: str) -> Message:
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    return part
