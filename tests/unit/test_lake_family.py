"""A document and its parts as one unit: keys, names, sections, facts and faults by value."""

import pytest

from upwell.lake.family import (
    MOST_CHILDREN,
    family_chunks,
    family_facts,
    family_faults,
    parents,
    seen_as,
)
from upwell.ports import ChildFacts, DocumentRow
from upwell.records import Acl, Chunk, DocKey, Kind, ParseStatus, PreparedDocument

KEY = DocKey(tenant="t", source="s", doc_id="mail.eml")


def chunk(name, section=0):
    return Chunk(
        chunk_key=name, text=name, tokens=1, kind=Kind.PARAGRAPH, spans=(), parent=section, embed_key=f"e-{name}"
    )


def document(name=None, *chunks, children=(), status=ParseStatus.OK, **facts):
    return PreparedDocument(name=name, status=status, chunks=chunks, children=children, **facts)


def places(prepared):
    return [(c.child, c.text, c.parent) for c in family_chunks(prepared)]


def keys(prepared):
    return {(c.child, c.text): c.chunk_key for c in family_chunks(prepared)}


def test_a_document_without_parts_stays_as_it_is():
    chunks = (chunk("a"), chunk("b", 1))
    assert family_chunks(document(None, *chunks)) == chunks
    assert family_facts(document(None, *chunks)) == ()


def test_parts_follow_depth_first_with_paths_and_sections_of_their_own():
    """No two parts share a section, or reading one would show the other."""
    inner = document("a.txt", chunk("in"))
    mail = document(
        None,
        chunk("body"),
        chunk("end", 1),
        children=(document("inner.zip", children=(inner,)), document("b.pdf", chunk("x"), chunk("y", 2))),
    )
    assert places(mail) == [
        (None, "body", 0),
        (None, "end", 1),
        ("inner.zip!/a.txt", "in", 2),
        ("b.pdf", "x", 3),
        ("b.pdf", "y", 5),
    ]
    assert [facts.name for facts in family_facts(mail)] == ["inner.zip", "inner.zip!/a.txt", "b.pdf"]


def test_a_part_that_comes_or_goes_shifts_no_other_key():
    b = document("b.pdf", chunk("same"), chunk("x"))
    before = keys(document(None, chunk("same"), children=(b,)))
    after = keys(document(None, chunk("same"), children=(document("a.pdf", chunk("same")), b)))
    assert before.items() < after.items()
    assert len(set(after.values())) == len(after), "equal words of two parts are two chunks"
    assert before[None, "same"] == "same", "the document's own keys do not know of parts"


def test_another_name_is_another_key_but_the_same_vectors():
    (one,) = family_chunks(document(None, children=(document("a.pdf", chunk("x")),)))
    (other,) = family_chunks(document(None, children=(document("b.pdf", chunk("x")),)))
    assert one.chunk_key != other.chunk_key
    assert one.embed_key == other.embed_key == "e-x"


def test_equal_names_are_told_apart():
    """The second `a.txt` is `a (2).txt`, whatever else is called that already, and paths cannot be forged."""
    parts = [
        document(name, chunk(str(n))) for n, name in enumerate(["a.txt", "a (2).txt", "a.txt", None, ".env", ".env"])
    ]
    forged = document("z", children=(document("x", chunk("inside")),))
    mail = document(None, children=(*parts, forged, document("z!/x", chunk("beside"))))
    names = [facts.name for facts in family_facts(mail)]
    assert names == ["a.txt", "a (2).txt", "a (3).txt", "part-4", ".env", ".env (2)", "z", "z!/x", "z!/x (2)"]
    assert len({c.chunk_key for c in family_chunks(mail)}) == 8


def test_parts_beyond_the_limit_are_counted_and_said_to_be_left_out():
    """A mail of a hundred mails of a hundred mails costs a bounded row."""
    crowd = tuple(document(f"{n}.txt", chunk("x")) for n in range(MOST_CHILDREN + 7))
    mail = document(None, children=crowd)
    assert len(family_chunks(mail)) == MOST_CHILDREN
    *_, last = family_facts(mail)
    assert (last.name, last.status) == ("more", "too_large")
    assert "7 are left out" in last.reason
    assert [fault.key.doc_id for fault in family_faults(KEY, mail)] == ["mail.eml!/more"]


@pytest.mark.parametrize(
    ("status", "media_type", "is_fault"),
    [
        (ParseStatus.OK, "text/plain", False),
        (ParseStatus.EMPTY, "text/plain", False),
        (ParseStatus.CORRUPT, "application/pdf", True),
        (ParseStatus.CORRUPT, "image/png", True),
        (ParseStatus.ENCRYPTED, "application/pdf", True),
        (ParseStatus.NEEDS_OCR, "application/pdf", True),
        (ParseStatus.NEEDS_OCR, "image/png", False),
        (ParseStatus.UNSUPPORTED, "application/zip", True),
    ],
)
def test_what_will_not_parse_is_a_dead_letter_but_a_picture_is_not(status, media_type, is_fault):
    child = document("part", status=status, media_type=media_type, reason="because")
    faults = family_faults(KEY, document(None, chunk("x"), children=(child,)))
    found = [(f.key.doc_id, f.fate.outcome, f.fate.reason, f.fate.detail, f.fate.stage) for f in faults]
    assert found == ([("mail.eml!/part", "dead", status, "because", "parse")] if is_fault else [])


def test_a_part_is_seen_with_its_own_facts_under_its_parents_permissions():
    parts = (
        ChildFacts(name="a.zip", status=ParseStatus.OK, parser="zip/1"),
        ChildFacts(name="a.zip!/b.pdf", status=ParseStatus.OK, title="B", media_type="application/pdf", parser="pdf/1"),
        ChildFacts(name="c.txt", status=ParseStatus.CORRUPT),
        ChildFacts(name="d.docx", status=ParseStatus.OK, parser="docling/2", choice="fuller text"),
    )
    acl = Acl(levels=(frozenset({"user:ana"}),))
    row = DocumentRow(
        key=KEY,
        version=7,
        acl=acl,
        title="Mail",
        lineage={"parser": "mail/1", "choice": "the mail's own", "model": "m"},
        children=parts,
    )
    assert seen_as(row, None) is row
    part = seen_as(row, "a.zip!/b.pdf")
    assert (part.key.doc_id, part.title, part.media_type) == ("mail.eml!/a.zip!/b.pdf", "B", "application/pdf")
    assert part.lineage == {"parser": "pdf/1", "model": "m"}
    assert (part.version, part.acl, part.children) == (7, acl, ())
    assert [known.name for known in seen_as(row, "a.zip").children] == ["b.pdf"]
    assert seen_as(row, "c.txt").status is ParseStatus.CORRUPT
    assert seen_as(row, "c.txt").lineage == {"model": "m"}, "not its parent's parser"
    assert seen_as(row, "d.docx").lineage == {"parser": "docling/2", "choice": "fuller text", "model": "m"}


def test_a_name_is_read_as_a_part_in_every_way_it_can_be():
    assert list(parents("a!/b!/c")) == [("a", "b!/c"), ("a!/b", "c")]
    assert list(parents("plain.md")) == []
