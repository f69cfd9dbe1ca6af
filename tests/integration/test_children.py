"""Attachments end to end: found, shown, hidden, renamed and deleted with their mail; what cannot be read stops nothing."""

import io
from email.message import EmailMessage
from pathlib import Path

import pytest
from PIL import Image

import upwell
from lakes import contents
from upwell import config, wiring
from upwell.errors import Misconfigured, NotFound

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
OWNER = "user:ana"
SAFETY = (Path(upwell.__file__).parent / "sample" / "handbook" / "safety.docx").read_bytes()


@pytest.fixture
def world(tmp_path):
    """An empty folder and a lake; once it is closed its parts agree to the last point."""
    folder = tmp_path / "mails"
    folder.mkdir()
    lake = wiring.connect(config.load(lake=tmp_path / "lake", embedder="hash"))
    yield folder, lake
    lake.close()
    contents(tmp_path / "lake")


def mail(words="The body speaks of larch.", parts=(), forwarded=None):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ana@example.org", "ben@example.org", "Drawers"
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    message.set_content(words)
    for name, data, (maintype, subtype) in parts:
        message.add_attachment(data, maintype=maintype, subtype=subtype, filename=name)
    if forwarded is not None:
        message.add_attachment(forwarded)
    return message


def picture():
    """A plain one, with no words in it."""
    file = io.BytesIO()
    Image.new("RGB", (120, 60), "green").save(file, "PNG")
    return file.getvalue()


DOCX = ("safety.docx", SAFETY, ("application", "octet-stream"))
DUMP = ("dump.bin", bytes(range(256)) * 20, ("application", "octet-stream"))
LOGO = ("logo.png", picture(), ("image", "png"))
SIGNED = ("smime.p7s", b"\x30\x80" + bytes(range(256)), ("application", "pkcs7-signature"))


def hits(lake, words, who=OWNER):
    return {hit.doc_id: hit for hit in lake.search(words, principals=frozenset({who}), k=50).hits}


def dead(lake):
    return {letter.doc_id: (letter.stage, letter.reason) for letter in lake.dead_list()}


def test_attachments_are_found_cited_and_shown_under_their_own_names(world):
    folder, lake = world
    inner = mail("The forwarded words speak of maple.", [("note.txt", b"The note speaks of alder.", ("text", "plain"))])
    (folder / "m.eml").write_bytes(mail(parts=[DOCX, DUMP, LOGO, SIGNED], forwarded=inner).as_bytes())
    answer = lake.ingest(folder, owner=OWNER)
    assert (answer.documents.new, answer.documents.dead) == (1, 0)
    assert dead(lake) == {"m.eml!/dump.bin": ("parse", "unsupported")}
    found = hits(lake, "safety workshop larch maple alder")
    assert found.keys() == {"m.eml", "m.eml!/safety.docx", "m.eml!/message-5.eml", "m.eml!/message-5.eml!/note.txt"}
    hit = found["m.eml!/safety.docx"]
    assert hit.citation.startswith("mails/m.eml!/safety.docx")
    assert hit.version == found["m.eml"].version
    assert hit.title != found["m.eml"].title
    assert hit.lineage["parser"].startswith("word/")
    assert found["m.eml"].lineage["parser"].startswith("mail/")
    assert hit.lineage["model"] == found["m.eml"].lineage["model"]
    assert "alder" in found["m.eml!/message-5.eml!/note.txt"].text

    whole, part = lake.show("m.eml"), lake.show("m.eml!/safety.docx")
    assert [(child.doc_id, child.status) for child in whole.children] == [
        ("m.eml!/safety.docx", "ok"),
        ("m.eml!/dump.bin", "unsupported"),
        ("m.eml!/logo.png", "needs_ocr"),
        ("m.eml!/smime.p7s", "empty"),
        ("m.eml!/message-5.eml", "ok"),
        ("m.eml!/message-5.eml!/note.txt", "ok"),
    ]
    assert all("larch" in chunk.text for chunk in whole.chunks)
    assert (part.doc_id, part.status, part.children) == ("m.eml!/safety.docx", "ok", ())
    assert [chunk.ordinal for chunk in part.chunks] == list(range(whole.children[0].chunks))
    assert (part.version, part.acl, part.history) == (whole.version, whole.acl, whole.history)
    assert [child.doc_id for child in lake.show("m.eml!/message-5.eml").children] == ["m.eml!/message-5.eml!/note.txt"]
    assert lake.show("m.eml!/dump.bin").chunks == ()
    status = lake.status().sources[0]
    assert (status.documents, status.dead) == (1, 1)
    assert status.chunks == len(whole.chunks) + sum(child.chunks for child in whole.children)


def test_a_revocation_hides_the_attachments_with_their_mail(world):
    folder, lake = world
    (folder / ".upwell-access.yaml").write_text("allow: [everyone]\n")
    (folder / "m.eml").write_bytes(mail(parts=[DOCX]).as_bytes())
    lake.ingest(folder, owner=OWNER)
    assert hits(lake, "safety", "user:ben").keys() == {"m.eml", "m.eml!/safety.docx"}
    (folder / ".upwell-access.yaml").write_text("allow: [user:eve]\n")
    answer = lake.ingest(folder, owner=OWNER)
    assert (answer.chunks.embedded, answer.chunks.removed) == (0, 0)
    assert hits(lake, "safety", "user:ben") == {}
    assert hits(lake, "safety").keys() == {"m.eml", "m.eml!/safety.docx"}


def test_a_renamed_mail_and_an_edited_one_embed_no_attachment_again(world):
    folder, lake = world
    (folder / "m.eml").write_bytes(mail(parts=[DOCX, DUMP]).as_bytes())
    lake.ingest(folder, owner=OWNER)
    (folder / "m.eml").rename(folder / "n.eml")
    answer = lake.ingest(folder, owner=OWNER)
    assert (answer.documents.renamed, answer.chunks.embedded) == (1, 0)
    assert dead(lake) == {"n.eml!/dump.bin": ("parse", "unsupported")}
    assert hits(lake, "safety").keys() == {"n.eml", "n.eml!/safety.docx"}
    with pytest.raises(NotFound):
        lake.show("m.eml!/safety.docx")
    (folder / "n.eml").write_bytes(mail("The body speaks of birch.", parts=[DOCX]).as_bytes())
    answer = lake.ingest(folder, owner=OWNER)
    assert answer.chunks.embedded == 1, "the body alone"
    assert dead(lake) == {}, "the part that could not be read is gone"


def test_a_deleted_mail_takes_attachments_and_their_dead_letters_with_it(world):
    folder, lake = world
    (folder / "stays.txt").write_text("A folder that is suddenly empty would be another matter.")
    (folder / "m.eml").write_bytes(mail(parts=[DOCX, DUMP]).as_bytes())
    (folder / "m.eml.txt").write_text("A neighbour of nearly the same name.")
    lake.ingest(folder, owner=OWNER)
    assert dead(lake) == {"m.eml!/dump.bin": ("parse", "unsupported")}
    (folder / "m.eml").unlink()
    lake.ingest(folder, owner=OWNER)
    assert dead(lake) == {}
    assert hits(lake, "safety").keys() == {"stays.txt", "m.eml.txt"}


def test_an_erasure_takes_a_mail_whole_and_never_a_part_of_it(world):
    folder, lake = world
    (folder / "m.eml").write_bytes(mail(parts=[DOCX, DUMP]).as_bytes())
    lake.ingest(folder, owner=OWNER)
    with pytest.raises(Misconfigured, match="inside"):
        lake.erase("m.eml!/safety.docx")
    answer = lake.erase("m.eml")
    assert answer.remaining == ()
    assert (hits(lake, "safety"), dead(lake)) == ({}, {})
    assert lake.show("m.eml").children == ()


def test_a_mail_of_broken_attachments_alone_is_a_document_all_the_same(world):
    """Each part has its own reason; hostile and equal names are told apart and obeyed nowhere."""
    folder, lake = world
    parts = [
        ("../../etc/x.pdf", b"%PDF-1.7\nnothing more", ("application", "pdf")),
        ("a.docx", b"PK\x03\x04 not a zip", ("application", "octet-stream")),
        ("a.docx", b"PK\x03\x04 not a zip", ("application", "octet-stream")),
        ("", b"Plain words: alder.", ("text", "plain")),
    ]
    (folder / "m.eml").write_bytes(mail(parts=parts).as_bytes())
    assert lake.ingest(folder, owner=OWNER).documents.dead == 0
    assert {name: reason for name, (_, reason) in dead(lake).items()} == {
        "m.eml!/.._.._etc_x.pdf": "corrupt",
        "m.eml!/a.docx": "corrupt",
        "m.eml!/a (2).docx": "corrupt",
    }
    assert hits(lake, "alder").keys() == {"m.eml", "m.eml!/attachment-4.txt"}
    assert lake.ingest(folder, owner=OWNER).documents.unchanged == 1
