"""What has to do with a document: links from both ends, duplicates, what is like it; nothing that may not be seen."""

import pytest

from readings import SECRET, Library, who
from upwell.errors import Misconfigured
from upwell.lake.links import beside, names_of, targets_of, url_name
from upwell.ports import DocumentRow
from upwell.records import DocKey, Op

ANA = who("user:ana")
BOARD = who("group:board")


@pytest.fixture
def lake(tmp_path):
    made = Library(tmp_path)
    yield made
    made.close()


def related(lake, doc_id, reader=ANA, **how):
    answer = lake.reading.related(doc_id, reader=reader, **how)
    return {(one.relation, one.document.doc_id) for one in answer.related}


def words(seed, count=120):
    return " ".join(f"{seed}{n}" for n in range(count))


def test_links_are_found_from_both_ends(lake):
    """Relative paths beside the document, from the source's top, and web addresses of any source."""
    lake.publish(
        "hr/leave.md",
        f"See [pay](../pay/rates.md#top) and [faq](/faq.md) and [site](HTTPS://Example.org:443/p).\n\n{words('a')}",
    )
    lake.publish("pay/rates.md", words("b"))
    lake.publish("faq.md", words("c"))
    lake.publish("p1", words("d"), source="web", name="p1.txt", url="https://example.org/p#part")
    expected = {("links_to", "pay/rates.md"), ("links_to", "faq.md"), ("links_to", "p1")}
    assert related(lake, "hr/leave.md") == expected
    for there in ("pay/rates.md", "faq.md", "p1"):
        assert related(lake, there) == {("linked_from", "hr/leave.md")}


def test_a_link_comes_and_goes_with_the_text(lake):
    lake.publish("a.md", f"[b](b.md)\n\n{words('a')}")
    lake.publish("b.md", words("b"))
    assert related(lake, "b.md") == {("linked_from", "a.md")}
    lake.publish("a.md", words("a"))
    assert related(lake, "b.md") == set()
    lake.publish("a.md", f"[b](b.md)\n\n{words('a')}")
    lake.delete("a.md")
    assert related(lake, "b.md") == set()


def test_a_target_that_comes_later_is_linked(lake):
    """A link is a name, whether or not anything answers to it yet."""
    lake.publish("a.md", f"[b](b.md)\n\n{words('a')}")
    assert related(lake, "a.md") == set()
    lake.publish("b.md", words("b"))
    assert related(lake, "a.md") == {("links_to", "b.md")}


def test_links_of_hidden_documents_are_not_told(lake):
    """Neither that a secret points here, nor what an open page points to."""
    lake.publish("open.md", f"[s](secret.md)\n\n{words('a')}")
    lake.publish("secret.md", f"[o](open.md)\n\n{words('b')}", acl=SECRET)
    assert related(lake, "open.md") == set()
    assert related(lake, "open.md", BOARD) == {("links_to", "secret.md")}
    lake.permit("secret.md", SECRET)
    assert related(lake, "secret.md", BOARD) == {("links_to", "open.md")}


def test_links_stay_within_the_tenant(lake):
    lake.publish("a.md", f"[b](b.md) [x](https://example.org/x)\n\n{words('a')}")
    lake.publish("b.md", words("b"), tenant="theirs")
    lake.publish("x", words("x"), tenant="theirs", url="https://example.org/x", name="x.txt")
    assert related(lake, "a.md") == set()


def test_a_copy_is_a_duplicate_with_the_shared_part(lake):
    lake.publish("a.md", f"# One\n\n{words('a')}\n\n# Two\n\n{words('b')}")
    lake.publish("copy.md", f"# One\n\n{words('a')}\n\n# Two\n\n{words('b')}")
    lake.publish("other.md", words("z"))
    (one,) = lake.reading.related("a.md", reader=ANA).related
    assert (one.relation, one.document.doc_id, one.score) == ("duplicate", "copy.md", 1.0)


def test_what_shares_much_is_similar(lake):
    """By cosine; the document itself is never its own relation."""
    lake.publish("a.md", words("a", 100))
    lake.publish("b.md", words("a", 80) + " " + words("c", 20))
    (one,) = lake.reading.related("a.md", reader=ANA).related
    assert (one.relation, one.document.doc_id) == ("similar", "b.md")
    assert 0.5 <= one.score < 1


def test_a_hidden_copy_is_not_told(lake):
    lake.publish("a.md", words("a"))
    lake.publish("copy.md", words("a"), acl=SECRET)
    assert related(lake, "a.md") == set()
    assert related(lake, "a.md", BOARD) == {("duplicate", "copy.md")}


def test_at_most_k_of_all_kinds_in_turn(lake):
    """Fifty links crowd nothing else out; a document is there once."""
    for n in range(30):
        lake.publish(f"t{n}.md", words(f"t{n}x"))
    body = " ".join(f"[{n}](t{n}.md)" for n in range(30))
    lake.publish("hub.md", f"{body}\n\n{words('h')}")
    lake.publish("back.md", f"[hub](hub.md)\n\n{words('k')}")
    found = related(lake, "hub.md", k=5)
    assert len(found) == 5
    assert ("linked_from", "back.md") in found
    assert len(related(lake, "hub.md", k=100)) == 31


@pytest.mark.parametrize("k", [0, 101])
def test_k_is_bounded(lake, k):
    lake.publish("a.md", "Words.")
    with pytest.raises(Misconfigured, match="k is"):
        lake.reading.related("a.md", reader=ANA, k=k)


def test_an_erased_document_leaves_no_link(lake):
    lake.publish("a.md", f"[b](b.md)\n\n{words('a')}")
    lake.publish("b.md", words("b"))
    lake.delete("a.md", op=Op.ERASE)
    assert related(lake, "b.md") == set()
    names = names_of(lake.registry.row(DocKey(tenant="default", source="wiki", doc_id="b.md")))
    assert list(lake.registry.browsing("default").callers(names, "", 10)) == []


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("b.md", "hr/b.md"),
        ("./b.md?x=1#y", "hr/b.md"),
        ("../b.md", "b.md"),
        ("/b%20c.md", "b c.md"),
        ("../../b.md", None),
        ("..", None),
        ("#here", None),
        ("?x", None),
        ("https://example.org/b.md", None),
        ("//example.org/b.md", None),
        ("b%00.md", None),
        ("http://[", None),
        ("cafe\u0301.md", "hr/caf\u00e9.md"),
    ],
)
def test_a_relative_link_is_read_beside_its_document(link, name):
    assert beside("hr/a.md", link) == name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://example.org/a#b", "http://EXAMPLE.org:80/a", True),
        ("https://example.org", "https://example.org/", True),
        ("https://example.org/a", "https://example.org/A", False),
        ("https://example.org/a?x=1", "https://example.org/a", False),
        ("https://user:pw@example.org/a", "https://example.org/a", True),
    ],
)
def test_web_addresses_are_equal_up_to_what_does_not_count(one, other, same):
    assert (url_name("t", one) == url_name("t", other)) is same


@pytest.mark.parametrize("url", [None, "", "mailto:a@b.c", "javascript:x", "http://", "http://[", "http://a:b/", "a/b"])
def test_what_is_no_web_address_has_no_name(url):
    assert url_name("t", url) is None


def test_names_hold_the_tenant():
    assert url_name("a", "https://x.org/") != url_name("b", "https://x.org/")


def test_a_web_page_s_relative_links_are_read_as_browsers_do():
    """Beside its url as well as beside its id; its own names are left out."""
    key = DocKey(tenant="t", source="web", doc_id="pages/1")
    row = DocumentRow(key=key, url="https://x.org/a/b", links=("c", "/d", "b#x", "\udcff", "http://["))
    assert {url_name("t", "https://x.org/a/c"), url_name("t", "https://x.org/d")} <= set(targets_of(row))
    assert url_name("t", "https://x.org/a/b") not in targets_of(row)
