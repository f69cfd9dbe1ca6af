"""Events as programs offer them: what is filled in, what is refused."""

import base64
import json

import pytest

from gateways import NOW
from upwell.errors import Reason, Rejected
from upwell.records import Acl, BlobRef, DocKey, Inline, Lane, Op, SourceRef
from upwell.sources.offers import NotYours, events_of
from upwell.sources.terms import Terms

STAFF = Acl(levels=(frozenset({"group:staff"}),))
TERMS = Terms(tenant="default", source="notes", acl=STAFF, connector="s3", roots=("s3://notes/",))
HELLO = {"type": "inline", "data": base64.b64encode(b"Hello").decode()}


def offer(**more):
    return {"doc_id": "a.md", "op": "upsert", "content": HELLO, **more}


def taken(*offers, numbered=False):
    body = offers[0] if len(offers) == 1 else list(offers)
    return events_of(json.dumps(body).encode(), TERMS, NOW, numbered=numbered)


def test_what_is_left_out_is_filled_in():
    (event,) = taken(offer())
    assert (event.tenant, event.source, event.version, event.received_at) == ("default", "notes", NOW, NOW)
    assert (event.acl, event.acl_version, event.lane, event.content) == (STAFF, 0, Lane.LIVE, Inline(data=b"Hello"))


def test_of_a_document_twice_in_a_list_the_later_one_is_newer():
    first, second = taken(offer(), {"doc_id": "a.md", "op": "delete"})
    assert first.version < second.version


def test_the_same_numbered_event_has_the_same_id_and_another_has_not():
    (first,), (again,) = taken(offer(version=1)), taken(offer(version=1, lane="backfill"))
    assert first.event_id == again.event_id
    others = [
        taken(offer(version=2))[0],
        taken(offer(version=1, doc_id="b.md"))[0],
        taken(offer(version=1, content={"type": "inline", "data": ""}))[0],
        taken(offer(version=1, acl={"levels": [["everyone"]]}))[0],
        taken(offer(version=1, acl_version=2, acl={"levels": [["everyone"]]}))[0],
    ]
    assert len({first.event_id, *(event.event_id for event in others)}) == 6


def test_a_given_id_stays():
    assert taken(offer(event_id="mine"))[0].event_id == "mine"


def test_a_permission_is_as_new_as_its_content_unless_it_says():
    assert taken(offer(version=7, acl={"levels": [["everyone"]]}))[0].acl_version == 7
    assert taken(offer(version=7, acl_version=9, acl={"levels": [["everyone"]]}))[0].acl_version == 9
    (event,) = taken({"doc_id": "a.md", "op": "acl", "version": 7, "acl": {"levels": []}})
    assert (event.op, event.acl, event.acl_version) == (Op.ACL, Acl(), NOW)


@pytest.mark.parametrize("op", ["delete", "erase"])
def test_a_delete_is_numbered_among_permissions_as_far_as_it_can_be(op):
    """By its arrival if that is all there is; its own version says nothing of the numbers of permissions."""
    assert [(e.version, e.acl_version) for e in taken({"doc_id": "a", "op": op})] == [(NOW, NOW)]
    assert [(e.version, e.acl_version) for e in taken({"doc_id": "a", "op": op, "version": 7})] == [(7, 0)]
    assert [e.acl_version for e in taken({"doc_id": "a", "op": op, "version": 7, "acl_version": 3})] == [3]
    assert [e.acl_version for e in taken({"doc_id": "a", "op": op, "acl_version": 3})] == [3]


def test_permissions_that_are_missing_leave_out_the_default_too():
    """An upsert's stand at its version, an acl event's at its arrival; of no content, so that none is waited for."""
    upsert, acl = taken(
        offer(version=7, acl_missing="forbidden"), {"doc_id": "a.md", "op": "acl", "acl_missing": "timed_out"}
    )
    assert (upsert.acl, upsert.acl_missing, upsert.acl_version) == (None, "forbidden", 7)
    assert (acl.acl, acl.acl_missing, acl.acl_version, acl.version) == (None, "timed_out", NOW + 1, 0)


def test_an_exported_event_can_be_offered_again():
    (event,) = taken(offer(received_at=5, schema=1, tenant="default", source="notes"))
    assert event.received_at == NOW


@pytest.mark.parametrize("stranger", [{"tenant": "acme"}, {"source": "wiki"}])
def test_another_tenants_or_sources_event_is_not_yours(stranger):
    with pytest.raises(NotYours):
        taken(offer(), offer(**stranger))


REFUSED = [
    {},
    offer(doc_id=""),
    offer(doc_id="x" * 3000),
    offer(doc_id="a\0"),
    offer(op="destroy"),
    offer(version=-1),
    offer(version=2**53),
    offer(version="1"),
    offer(version=1.5),
    offer(unknown=1),
    offer(acl={"levels": [["everyone"]], "denied": ["user:eve"]}),
    offer(acl={"levels": [[""]]}),
    offer(metadata={"a": "b\0"}),
    offer(metadata={str(i): "" for i in range(65)}),
    offer(content=None),
    offer(content={"type": "inline", "data": "not base64!"}),
    offer(content={"type": "else"}),
    offer(previous_doc_id="a.md"),
    {"doc_id": "a.md", "op": "delete", "content": HELLO},
    {"doc_id": "a.md", "op": "delete", "acl": {}},
    {"doc_id": "a.md", "op": "delete", "previous_doc_id": "b.md"},
    {"doc_id": "a.md", "op": "acl", "version": 1},
    {"doc_id": "a.md", "op": "acl", "acl": {}},
    {"doc_id": "a.md", "op": "acl", "version": 1, "acl": {}, "acl_missing": "forbidden"},
    {"doc_id": "a.md", "op": "delete", "acl_missing": "forbidden"},
    offer(acl={"levels": []}, acl_missing="forbidden"),
    offer(acl_missing=""),
    offer(acl_missing="The page of ana@example.com is not to be read."),
    offer(acl_missing="x" * 65),
]


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_is_wrong_is_refused_and_nothing_of_it_taken(body):
    with pytest.raises(Rejected) as refused:
        taken(offer(), body)
    assert refused.value.reason is Reason.INVALID_EVENT


def test_an_unknown_schema_is_said_to_be_that():
    with pytest.raises(Rejected) as refused:
        taken(offer(schema=2))
    assert refused.value.reason is Reason.UNKNOWN_SCHEMA


def test_a_reference_goes_only_where_the_source_may():
    ref = {"type": "source", "connector": "s3", "uri": "s3://notes/a.md"}
    assert taken(offer(content=ref))[0].content == SourceRef(connector="s3", uri="s3://notes/a.md")
    for wrong in (
        {"uri": "s3://other/a.md"},
        {"uri": "s3://notes/../other/a.md"},
        {"uri": "file:///etc/passwd", "connector": "file"},
        {"uri": "/etc/passwd", "connector": "folder"},
        {"connector": "gs"},
    ):
        with pytest.raises(Rejected):
            taken(offer(content={**ref, **wrong}))
    with pytest.raises(Rejected):
        events_of(json.dumps(offer(content=ref)).encode(), Terms(tenant="default", source="notes"), NOW)


def test_a_blob_must_be_the_documents_own():
    own = BlobRef.of(DocKey(tenant="default", source="notes", doc_id="a.md"), b"x", 1)
    ref = {"type": "blob", "uri": own.uri, "sha256": own.sha256, "size": 1}
    assert taken(offer(content=ref))[0].content == own
    with pytest.raises(Rejected):
        taken(offer(content=ref, doc_id="b.md"))


def test_too_much_is_said_to_be_too_much():
    large = {"type": "inline", "data": base64.b64encode(b"x" * (256 * 1024 + 1)).decode()}
    for offers in ([offer(content=large)], [offer()] * 1001):
        with pytest.raises(Rejected) as refused:
            taken(*offers)
        assert refused.value.reason is Reason.TOO_LARGE


def test_a_signed_event_must_bring_its_version_for_a_replay_would_be_new():
    assert taken(offer(version=1), numbered=True)
    with pytest.raises(Rejected):
        taken(offer(), numbered=True)
