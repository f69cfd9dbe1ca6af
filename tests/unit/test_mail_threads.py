"""Mail as people write it: what is theirs, what is quoted, which alternative says more, what is attached."""

from email.message import EmailMessage

import pytest

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.mail.quotes import is_attribution
from upwell.parse.route import parse
from upwell.records import ParseStatus


def message(text=None, html=None, **fields):
    mail = EmailMessage()
    for name, value in {"From": "Ana <a@x.y>", "Subject": "Larches", **fields}.items():
        mail[name] = value
    if text is not None:
        mail.set_content(text)
    if html is not None and text is not None:
        mail.add_alternative(html, subtype="html")
    elif html is not None:
        mail.set_content(html, subtype="html")
    return mail


def read(mail):
    return parse(mail if isinstance(mail, bytes) else mail.as_bytes(), "a.eml", None, DEFAULT_LIMITS)


def body(mail):
    """Kind, level and text of what follows the title and the fields."""
    return [(b.kind.value, b.level, b.text) for b in read(mail).blocks[2:]]


def test_quoted_lines_are_quotes_with_their_depth():
    """Answers between them are the writer's own; a signature is text of its own."""
    text = "Yes.\n\nOn Mon, 3 May 2021 at 10:00, Bo\n<b@x.y> wrote:\n> Shall we?\n>\n>> earlier\n\nAt noon.\n-- \nAna\n"
    assert body(message(text)) == [
        ("paragraph", None, "Yes."),
        ("quote", 1, "On Mon, 3 May 2021 at 10:00, Bo\n<b@x.y> wrote:"),
        ("quote", 1, "> Shall we?\n>"),
        ("quote", 2, ">> earlier"),
        ("paragraph", None, "At noon."),
        ("paragraph", None, "-- \nAna"),
    ]


@pytest.mark.parametrize(
    "copied",
    [
        "-----Original Message-----\nFrom: Bo\n\nold words",
        "________________________________\nFrom: Bo <b@x.y>\nSent: Monday\nTo: Ana\nSubject: Larches\n\nold words",
        "Von: Bo\nGesendet: Montag\nAn: Ana\nBetreff: Larches\n\nold words",
        "---------- Forwarded message ---------\nFrom: Bo\nDate: Monday\n\nold words",
        "Begin forwarded message:\n\nold words",
    ],
)
def test_all_below_copied_headers_is_quoted(copied):
    """Outlook marks no line of the message that it copies."""
    blocks = body(message(f"New words.\n\n{copied}\n"))
    assert blocks[0] == ("paragraph", None, "New words.")
    assert {kind for kind, _, _ in blocks[1:]} == {"quote"}
    assert blocks[-1][2] == "old words"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("On Mon, 3 May 2021, Bo <b@x.y> wrote:", True),
        ("Am 3. Mai 2021 um 10:00 schrieb Bo <b@x.y>:", True),
        ("Le lun. 3 mai 2021 à 10:00, Bo <b@x.y> a écrit :", True),
        ("El lun, 3 may 2021, Bo escribió:", True),
        ("2021年5月3日(月) 10:00 Bo <b@x.y>のメール:", True),
        ("Bo <b@x.y> wrote:", True),
        ("On the wall somebody wrote a word.", False),
        ("We need three things:", False),
        ("", False),
    ],
)
def test_lines_that_say_who_wrote(line, expected):
    """In the languages of the commoner programs; no sentence that merely ends in a colon."""
    assert is_attribution(line) is expected


def test_quotes_in_html_are_quotes():
    """Blockquotes, Gmail's quote, Outlook's copied headers."""
    gmail = '<p>New.</p><div class="gmail_quote"><div>On Mon, Bo wrote:</div><blockquote>old</blockquote></div>'
    outlook = (
        "<p>New.</p><div><p><b>From:</b> Bo<br><b>Sent:</b> Monday<br><b>To:</b> Ana</p></div><p>old</p><p>older</p>"
    )
    assert [(k, t) for k, _, t in body(message(html=gmail))] == [
        ("paragraph", "New."),
        ("quote", "On Mon, Bo wrote:"),
        ("quote", "old"),
    ]
    assert [k for k, _, _ in body(message(html=outlook))] == ["paragraph", "quote", "quote", "quote"]


def test_a_mails_html_is_all_its_writers():
    """Nothing of it is judged to be boilerplate; what is hidden is, as in any page."""
    html = '<div class="footer"><p>Words</p></div><div style="display:none">preheader</div>'
    assert body(message(html=html)) == [("paragraph", None, "Words"), ("page_furniture", None, "preheader")]


@pytest.mark.parametrize(
    ("text", "html", "expected"),
    [
        (
            "Plain words that say it all, as they should.",
            "<p>Plain words that say it all, as they should.</p>",
            "paragraph",
        ),
        ("Your program shows no HTML.", f"<p>{'The real words of it. ' * 20}</p>", "paragraph"),
        ("a b 1 2", "<table><tr><th>a<th>b<tr><td>1<td>2</table>", "table"),
    ],
)
def test_the_alternative_that_says_more_is_read(text, html, expected):
    """The plain one, unless it is a stub or the HTML has tables; never both."""
    kinds = body(message(text, html))
    assert [k for k, _, _ in kinds] == [expected]
    assert ("real words" in kinds[0][2]) == ("real words" in html)


def test_flowed_lines_are_one_paragraph():
    """`format=flowed`: a line that ends in a space goes on."""
    raw = b"Subject: s\nFrom: a@x.y\nContent-Type: text/plain; format=flowed\n\none \ntwo\nthree\n"
    assert body(raw) == [("paragraph", None, "one two\nthree")]


def test_every_text_part_is_read():
    """Words between pictures, and what a list's server adds below."""
    mail = message("first")
    mail.make_mixed()
    part = EmailMessage()
    part.set_content("second")
    mail.attach(part)
    assert [t for *_, t in body(mail)] == ["first", "second"]


def test_attachments_are_named():
    """By their sender, else by their place and type; inline images too; Outlook's own copy is named and not read."""
    mail = message("body", "<p>body</p><img src=cid:1>")
    mail.get_payload()[1].add_related(b"\x89PNG\r\n\x1a\n", "image", "png", cid="<1>")
    mail.add_attachment("col\n1\n", subtype="csv", filename="Grüße.csv")
    mail.add_attachment(b"x", "application", "ms-tnef", filename="winmail.dat")
    image, table, copy = read(mail).children
    assert (image.name, image.media_type) == ("image-1.png", "image/png")
    assert (table.name, table.status) == ("Grüße.csv", ParseStatus.OK)
    assert (copy.name, copy.status, "Outlook" in copy.reason) == ("winmail.dat", ParseStatus.UNSUPPORTED, True)


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("iso-2022-jp", "東京へ行く"),
        ("koi8-r", "Привет, лиственница"),
        ("euc-kr", "안녕하세요"),
        ("gb18030", "你好世界"),
        ("cp1252", "“Grüße”"),
    ],
)
def test_charsets_are_those_that_the_mail_names(charset, text):
    """In the body and in the encoded words of the subject."""
    mail = EmailMessage()
    mail["Subject"], mail["From"] = text, "a@x.y"
    mail.set_content(text, charset=charset)
    assert read(mail).title == text
    assert body(mail)[0][2] == text


def test_raw_bytes_in_a_field_are_read():
    """No encoded word, as the standard has it, but UTF-8 or Latin letters as they are."""
    assert read("From: a@x.y\nSubject: Grüße\n\nwords\n".encode("latin-1")).title == "Grüße"
    assert read("From: a@x.y\nSubject: Grüße\n\nwords\n".encode()).title == "Grüße"


def test_an_encrypted_message_is_encrypted():
    """Its fields alone are no document."""
    raw = (
        b'From: a@x.y\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/encrypted; boundary="B"\n\n--B\n'
        b"Content-Type: application/pgp-encrypted\n\nVersion: 1\n--B\nContent-Type: application/octet-stream\n\nx\n--B--\n"
    )
    assert read(raw).status is ParseStatus.ENCRYPTED


def test_a_bounce_says_what_it_reports():
    """The report's fields are words of the message; the returned mail is a part of it."""
    raw = (
        b'From: d@x.y\nSubject: Failure\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary="B"\n\n'
        b"--B\n\nIt failed.\n--B\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx\n\nStatus: 5.1.1\n\n"
        b"--B\nContent-Type: message/rfc822\n\nSubject: Lost\nFrom: b@x.y\n\nlost words\n--B--\n"
    )
    parsed = read(raw)
    assert [b.text for b in parsed.blocks[2:]] == ["It failed.", "Reporting-MTA: dns; mx", "Status: 5.1.1"]
    assert [c.title for c in parsed.children] == ["Lost"]
