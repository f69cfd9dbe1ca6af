"""Erasure of an embedded lake, on its real parts: once a certificate is issued, no file of the lake holds a word."""

import json
import threading
from email.message import EmailMessage

import pytest

from canaries import Canaries
from lakes import contents
from upwell import config, wiring
from upwell.answers import EraseWish, Scope
from upwell.erase.certificate import jwks_verifier, verified
from upwell.errors import Misconfigured, NotFound
from upwell.identity.own_key import LakeKey
from upwell.records import Acl, ChangeEvent, Inline, Membership, Op, stable_hash
from upwell.runtime.accepting import EngineSink

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
OWNER = "user:ana"
OPEN = Acl(levels=(frozenset({"everyone"}),))
FILLER = "plane wood shavings larch maple alder drawer dovetail chisel mallet bench vice saw glue clamp varnish "


@pytest.fixture
def place(tmp_path):
    return tmp_path / "lake"


@pytest.fixture
def lake(place):
    opened = wiring.own(config.load(lake=place, embedder="hash"))
    yield opened
    opened.close()


def send(lake, *events, wait=True):
    sink = EngineSink(lake._parts.engine, lake._parts.log, 10_000)
    sink.accept(events)
    if wait:
        assert len(sink.fates(events, 60)) == len(events)


def event(doc_id, data=b"", version=1, *, op=Op.UPSERT, source="wiki", acl=OPEN, tenant="default", **fields):
    return ChangeEvent(
        event_id=stable_hash(tenant, source, doc_id, version, op), tenant=tenant, source=source, doc_id=doc_id, op=op,
        version=version, received_at=version, acl=acl, acl_version=version,
        content=Inline(data=data) if op is Op.UPSERT else None, **fields,
    )  # fmt: skip


def mail(words):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ana@example.org", "ben@example.org", f"On {words['title']}"
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    message.set_content(f"{FILLER} {words['text']} {FILLER}")
    child = f"# {words['heading']}\n\n{FILLER} {words['childtext']} {FILLER}".encode()
    message.add_attachment(child, maintype="text", subtype="markdown", filename=f"{words['child']}.md")
    return message.as_bytes()


def plant(lake, words, doc_id="letter.eml", source="wiki", others=20):
    """A document with a word in every place, an older version of it, a dead letter, a search; and others around it."""
    about = {
        "media_type": "message/rfc822",
        "url": f"https://example.org/{words['url']}",
        "title": f"T {words['title']}",
    }
    meta = {"metadata": {"note": words["metadata"]}, "source": source}
    around = [
        event(f"other{n}.md", f"# Other {n}\n\n{FILLER * (n % 7 + 1)}".encode(), source=source) for n in range(others)
    ]
    send(lake, *around[::2])
    send(lake, event(doc_id, f"{FILLER} {words['older']}".encode(), 1, media_type="text/plain", **meta))
    send(lake, event(doc_id, mail(words), 2, **about, **meta))
    send(lake, *around[1::2])
    send(lake, event(doc_id, b"%PDF-1.7 " + words["dead"].encode(), 3, media_type="application/pdf", **meta))
    lake.search(f"who wrote {words['query']}", principals=frozenset({OWNER, "everyone"}))


def found(lake, query=FILLER, tenant="default"):
    hits = lake.search(query, principals=frozenset({OWNER, "everyone"}), k=100, tenant=tenant).hits
    return {hit.doc_id.partition("!/")[0] for hit in hits}


SHOWN = [("child", f"audit.sqlite{end}") for end in ("", "-wal")]
"""The audit keeps the ids of what was shown, and a part's id ends in its name: the certificate says so."""


def check(place, answer, words, allowed=()):
    """The certificate holds by the lake's public keys alone, and no file has a word but the `allowed` ones."""
    assert answer.remaining == ()
    assert answer.certificate is not None
    data = config_json(answer)
    jwks = json.dumps(LakeKey(place / "signing-key.json").public_jwks()).encode()
    assert verified(data, jwks_verifier(jwks)).valid
    assert answer.certificate.events["pending"] == 0
    left = {(kind, path) for kind, paths in words.in_folder(place).items() for path in paths}
    assert left - set(allowed) == set()


def config_json(answer):
    from upwell.cli.output import as_json

    return as_json(answer).encode()


def test_no_file_of_the_lake_holds_a_word_of_an_erased_document(lake, place):
    """With an event of it in flight; the audit keeps the ids of what was shown, those of parts too."""
    words = Canaries()
    plant(lake, words)
    send(lake, event("letter.eml", f"{FILLER} {words['pending']}".encode(), 4, media_type="text/plain"), wait=False)
    before = words.in_folder(place)
    assert before.keys() >= set(words.words) - {"pending", "query"}, "the search can find each of them"
    answer = lake.erase("letter.eml")
    check(place, answer, words, SHOWN)
    assert {one.place for one in answer.certificate.remaining} == {
        "registry", "certificates", "audit", "outside the lake",
    }  # fmt: skip
    assert answer.certificate.documents[0].doc_id == "letter.eml"
    assert answer.removed["points"] > 0
    assert "letter.eml" not in found(lake)
    assert len(found(lake)) == 20
    assert lake.dead_list() == ()


def test_after_the_lake_is_closed_and_opened_nothing_has_come_back(place):
    words = Canaries()
    lake = wiring.own(config.load(lake=place, embedder="hash"))
    plant(lake, words)
    answer = lake.erase("letter.eml")
    lake.close()
    check(place, answer, words, SHOWN)
    contents(place)
    again = wiring.own(config.load(lake=place, embedder="hash"))
    assert len(found(again)) == 20
    again.close()
    check(place, answer, words, SHOWN)


def test_a_source_goes_whole_with_what_its_folder_remembers(lake, place, tmp_path):
    words, kept = Canaries(), Canaries(("text", "title"))
    docs = tmp_path / "docs"
    (docs / words["child"]).mkdir(parents=True)
    (docs / words["child"] / "a.md").write_text(f"# {words['title']}\n\n{words['text']} {FILLER}")
    (docs / "bad.pdf").write_bytes(b"%PDF-1.7 " + words["dead"].encode())
    lake.ingest(docs, owner=OWNER, source="docs")
    send(lake, event("kept.md", f"# {kept['title']}\n\n{kept['text']} {FILLER}".encode()))
    dry = lake.erase_all(EraseWish(scope=Scope.SOURCE, name="docs", dry_run=True))
    assert (dry.dry_run, dry.documents, dry.certificate) == (True, 2, None)
    assert dry.removed["points"] > 0
    assert dry.removed["folder memory"] > 0
    assert {"text", "title"} <= words.in_folder(place).keys(), "a dry run removes nothing"
    answer = lake.erase_all(EraseWish(scope=Scope.SOURCE, name="docs", names=False))
    assert {document.doc_id for document in answer.certificate.documents} == {None}
    doc_ids = {("child", "registry.sqlite"), ("child", "audit.sqlite"), ("child", "audit.sqlite-wal")}
    check(place, answer, words, allowed=doc_ids)
    assert found(lake) == {"kept.md"}
    assert kept.in_folder(place).keys() == {"text", "title"}
    assert lake.ingest(docs, owner=OWNER, source="docs").documents.new == 2, "nothing of the folder is remembered"
    assert found(lake) == {"kept.md", f"{words['child']}/a.md"}


def test_a_tenant_goes_whole_with_its_directory(lake, place):
    words = Canaries(("text", "dead", "older"))
    directory = lake._parts.registry.directory
    directory.put(Membership(tenant="acme", principal="user:eve", version=1, member_of=frozenset({"group:k9"})))
    events = [
        event(f"a{n}.md", f"{FILLER} {words['text']} {n}".encode(), tenant="acme", source=f"s{n % 3}")
        for n in range(30)
    ]
    send(lake, *events, event("gone.md", words["older"].encode(), tenant="acme"), event("other.md", FILLER.encode()))
    send(lake, event("gone.md", op=Op.DELETE, version=2, tenant="acme"))
    answer = lake.erase_all(EraseWish(scope=Scope.TENANT, name="acme", tenant="acme"))
    check(place, answer, words)
    assert answer.documents == 31
    assert answer.certificate.removed["memberships"] == 1
    assert list(directory.members("acme")) == []
    assert found(lake, tenant="acme") == set()
    assert found(lake) == {"other.md"}
    assert lake.status().sources[0].source == "s0" or lake.status().sources


def test_a_person_is_forgotten_and_only_their_own_documents_go_when_asked(lake, place):
    words, kept = Canaries(("text",)), Canaries(("text",))
    directory = lake._parts.registry.directory
    for who in ("user:ana", "user:ben"):
        directory.put(Membership(tenant="default", principal=who, version=1, member_of=frozenset({"group:staff"})))
    own = Acl(levels=(frozenset({"group:staff", "user:ana"}), frozenset({"user:ana"})))
    shared = Acl(levels=(frozenset({"user:ana", "user:ben"}),))
    send(lake, event("own.md", f"{words['text']} {FILLER}".encode(), acl=own))
    send(lake, event("shared.md", f"{kept['text']} {FILLER}".encode(), acl=shared))
    wish = EraseWish(scope=Scope.PRINCIPAL, name="user:ana")
    answer = lake.erase_all(wish)
    assert (answer.listed, answer.documents) == (("wiki/own.md",), 0)
    assert answer.certificate.removed == {"points": 0, "memberships": 1}
    assert [member.principal for member in directory.members("default")] == ["user:ben"]
    assert words.in_folder(place)
    answer = lake.erase_all(EraseWish(scope=Scope.PRINCIPAL, name="user:ana", with_documents=True))
    check(place, answer, words)
    assert [document.doc_id for document in answer.certificate.documents] == ["own.md"]
    assert {one.place for one in answer.certificate.remaining} >= {"permissions"}
    assert kept.in_folder(place)
    with pytest.raises(NotFound):
        lake.erase_all(EraseWish(scope=Scope.PRINCIPAL, name="user:nobody"))
    with pytest.raises(Misconfigured):
        lake.erase_all(EraseWish(scope=Scope.PRINCIPAL, name="group:staff"))


def test_a_moved_document_goes_under_its_earlier_ids_too(lake, place):
    words = Canaries(("text", "older", "dead"))
    send(lake, event("old.md", f"{words['older']} {FILLER}".encode()))
    send(lake, event("old.md", b"%PDF-1.7 " + words["dead"].encode(), 2, media_type="application/pdf"))
    send(lake, event("new.md", f"{words['text']} {FILLER}".encode(), 3, previous_doc_id="old.md"))
    answer = lake.erase("new.md")
    check(place, answer, words)
    assert [document.doc_id for document in answer.certificate.documents] == ["new.md", "old.md"]


def test_an_unknown_one_is_not_found_and_an_erased_one_may_come_anew(lake, place):
    words = Canaries(("text",))
    with pytest.raises(NotFound):
        lake.erase("nowhere.md")
    with pytest.raises(NotFound):
        lake.erase_all(EraseWish(scope=Scope.SOURCE, name="nothing"))
    send(lake, event("a.md", f"{words['text']} {FILLER}".encode()))
    first, second = lake.erase("a.md"), lake.erase("a.md")
    check(place, second, words)
    assert (first.removed["points"], second.removed["points"]) == (1, 0)
    assert first.certificate.id != second.certificate.id
    send(lake, event("a.md", FILLER.encode(), 2))
    assert found(lake) == set(), "nothing older than the erasure comes back"
    send(lake, event("a.md", FILLER.encode(), second.certificate.documents[0].version + 1))
    assert found(lake) == {"a.md"}


def test_erasing_while_others_search_and_write(lake, place):
    """Searches go on, see the document whole or not at all, and end; what is written meanwhile stays."""
    words = Canaries()
    plant(lake, words)
    stop, failures, seen = threading.Event(), [], []

    def read():
        while not stop.is_set():
            try:
                seen.append("letter.eml" in found(lake))
            except Exception as e:  # noqa: BLE001 a thread's failure is the test's
                failures.append(e)

    def write():
        for n in range(40):
            if stop.is_set():
                return
            send(lake, event(f"new{n}.md", f"{n} {FILLER}".encode()))

    threads = [threading.Thread(target=one) for one in (read, read, read, write)]
    for thread in threads:
        thread.start()
    try:
        answers = [lake.erase("letter.eml"), lake.erase("letter.eml")]
        stop.set()
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert failures == []
    assert seen
    check(place, answers[1], words, SHOWN)
    assert "letter.eml" not in found(lake)
