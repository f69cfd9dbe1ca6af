"""What is sent to a Qdrant server, and how its answers are taken: by its documentation, against a port that plays it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lake_samples import ALL_MAY, DIM, key, point, query, vectors
from qdrant_stub import CUT, FIELDS, HANGS_UP, NUMBERS, OK, SILENT, Stub, refusal, served
from upwell.access import payload_of
from upwell.errors import Misconfigured, Overloaded, Reason, Rejected, Retryable
from upwell.lake.store import qdrant_collection, qdrant_points, qdrant_server
from upwell.lake.store.qdrant import QdrantStore
from upwell.lake.store.qdrant_server import connected, version_of


@pytest.fixture
def stub():
    return Stub()


@pytest.fixture
def url(stub):
    with served(stub) as url:
        yield url


@pytest.fixture
def store(url):
    store = QdrantStore(url, collection="lake", dim=DIM)
    yield store
    store.close()


def made_by(stub, **options):
    """The request that made the collection, after opening the store on this stub."""
    with served(stub) as url:
        QdrantStore(url, collection="lake", dim=DIM, **options).close()
    return stub.bodies("PUT", "/collections/lake")


def test_a_new_collection_has_every_index_before_anything_is_loaded():
    """Each filtered field, waited for; the tenant's as such. Deleted points shall leave early, new ones be seen at once
    whatever the server's default."""
    stub = Stub(made=False, indexed=())
    ((_, body),) = made_by(stub)
    early = {"deleted_threshold": 0.05, "vacuum_min_vector_number": 100}
    assert body["optimizers_config"] == early | {"prevent_unoptimized": False}
    indexes = {sent["field_name"]: (asked, sent["field_schema"]) for asked, sent in stub.bodies("PUT", "/index")}
    assert set(indexes) == {*FIELDS, *NUMBERS}
    assert all("wait=true" in asked for asked, _ in indexes.values())
    assert [name for name in FIELDS if indexes[name][1]["is_tenant"]] == ["tenant"]


@pytest.mark.parametrize(
    ("version", "datatype", "modifier"), [("1.18.1", "float16", None), ("1.19.0", "turbo4", "idf")]
)
def test_the_server_s_version_decides_what_it_is_asked_for(version, datatype, modifier):
    """turbo4 and term statistics of one tenant exist from 1.19 on."""
    stub = Stub(version, made=False, indexed=())
    ((_, body),) = made_by(stub)
    assert body["vectors"]["late"]["datatype"] == datatype
    assert body["vectors"]["late"]["hnsw_config"]["m"] == 0
    assert body["sparse_vectors"]["sparse"].get("modifier") == modifier


def test_a_version_is_asked_for_once(store, stub):
    """Not with each write."""
    store.insert([point("a")])
    assert len([m for m, path, *_ in stub.asked if (m, path) == ("GET", "/")]) == 1


@pytest.mark.parametrize(("text", "version"), [("1.18.1", (1, 18)), ("1.20.0-dev", (1, 20)), ("v2.0.0", (2, 0))])
def test_versions_are_read(text, version):
    """As servers and their builds write them."""
    assert version_of(text) == version


@pytest.mark.parametrize("version", ["1.17.9", "0.11.0", "latest"])
def test_a_server_too_old_is_misconfigured(version):
    """Insert-only writes must be there; what has no version is no server of this kind."""
    with served(Stub(version)) as url, pytest.raises(Misconfigured, match="version"):
        QdrantStore(url, collection="lake", dim=DIM)


@pytest.mark.parametrize(
    "answer",
    [(200, b"<html>hello</html>"), (200, {"name": "elastic"}), (404, b"<html>no such page</html>"), (301, b"")],
)
def test_what_is_no_qdrant_server_is_misconfigured(stub, url, answer):
    """A web page at that port will never become one, nor one that is elsewhere: the setting is wrong."""
    stub.answer("GET", "", answer)
    with pytest.raises(Misconfigured, match="UPWELL_STORE"):
        QdrantStore(url, collection="lake", dim=DIM)


@pytest.mark.parametrize("bad", ["qdrant://host", "http://", "ftp://host:1", "http://host:notaport", "http://[::1"])
def test_a_url_that_cannot_be_one_is_misconfigured(bad):
    """Said before anything is sent."""
    with pytest.raises(Misconfigured, match="UPWELL_STORE"):
        QdrantStore(bad, collection="lake", dim=DIM)


@pytest.mark.parametrize(("host", "kept"), [("qdrant", 20), ("localhost", 0)])
def test_an_idle_connection_is_given_up_before_the_server_closes_it(host, kept):
    """After 5 s, as actix-web does: a request that goes out at that moment would find nobody."""
    client = connected(f"http://{host}:6333", None)
    pool = client.http.client._client._transport._pool
    assert pool._max_keepalive_connections == kept
    assert kept == 0 or 0 < pool._keepalive_expiry < 4
    client.close()


def test_key_and_path_reach_the_server(stub, url):
    """A server behind a proxy's path, with a key and without TLS (a private network): no warning, every request."""
    QdrantStore(f"{url}/behind/proxy", collection="lake", dim=DIM, api_key="secret").close()
    assert stub.asked
    assert all(path.startswith("/behind/proxy") for _, path, *_ in stub.asked)
    assert all(headers.get("Api-Key", headers.get("api-key")) == "secret" for *_, headers in stub.asked)


def test_a_collection_that_somebody_else_made_first_is_as_good(monkeypatch):
    """409 from the race, then 500 or 503 until its shards are there, then the other's collection, mended to the last
    index."""
    monkeypatch.setattr(qdrant_collection, "FIRST_PAUSE_S", 0.001)
    stub = Stub(indexed=("tenant",))
    with served(stub) as url:
        stub.answer("GET", "lake/exists", (200, {"result": {"exists": False}, "status": "ok", "time": 0.0}))
        stub.answer("PUT", "collections/lake", (409, refusal("Wrong input: Collection `lake` already exists!")))
        late = [
            (500, refusal("Service internal error: 0 of 0 read operations failed")),
            (503, refusal("Shard temporarily unavailable: the replica is not active")),
        ]
        stub.answer("GET", "collections/lake", *late, (200, stub.info()), (200, Stub().info()))
        QdrantStore(url, collection="lake", dim=DIM).close()
    assert {sent["field_name"] for _, sent in stub.bodies("PUT", "/index")} == {*FIELDS, *NUMBERS} - {"tenant"}


def test_several_that_make_one_collection_all_open_it():
    """Six at once, as when a deployment starts."""
    stub = Stub(made=False, indexed=())
    with served(stub) as url, ThreadPoolExecutor(6) as pool:
        for store in pool.map(lambda _: QdrantStore(url, collection="lake", dim=DIM), range(6)):
            store.close()
    assert stub.indexed == {*FIELDS, *NUMBERS}


def test_a_worker_makes_no_collection():
    """One that is not there, or half there, is for `upwell init` to make: an empty one would hide the loss."""
    for stub in (Stub(made=False), Stub(indexed=FIELDS)):
        with pytest.raises(Misconfigured, match="upwell init"):
            made_by(stub, make=False)
        assert not any(method == "PUT" for method, *_ in stub.asked)


@pytest.mark.parametrize("lost", ["late", "sparse"])
def test_a_collection_without_our_vectors_is_misconfigured(lost):
    """Somebody else's of that name: else each document would be refused for it, one after the other."""
    stub = Stub()
    info = stub.info()
    params = info["result"]["config"]["params"]
    (params["vectors"] if lost in params["vectors"] else params["sparse_vectors"]).pop(lost)
    stub.answer("GET", "collections/lake", (200, info))
    with pytest.raises(Misconfigured, match=lost):
        made_by(stub)


def test_another_dimension_is_misconfigured(url):
    """The collection of another model."""
    with pytest.raises(Misconfigured, match="numbers"):
        QdrantStore(url, collection="lake", dim=DIM * 2)


def test_every_write_waits_and_is_strongly_ordered(store, stub):
    """Inserts leave what is there; the others are repeated without harm."""
    stub.answer("POST", "points/scroll", (200, {"result": {"points": []}, "status": "ok", "time": 0.0}))
    store.insert([point("a")])
    store.stamp(key("a"), 2, payload_of(ALL_MAY))
    store.prune(key("a"), 1, frozenset())
    writes = [
        *stub.bodies("PUT", "/points"),
        *stub.bodies("POST", "/points/payload"),
        *stub.bodies("POST", "/points/delete"),
    ]
    assert len(writes) == 3
    assert all("wait=true" in asked and "ordering=strong" in asked for asked, _ in writes)
    assert writes[0][1]["update_mode"] == "insert_only"


@pytest.mark.parametrize("status", ["acknowledged", "wait_timeout"])
def test_a_write_that_is_only_noted_is_not_done(store, stub, status):
    """HTTP says 200, the body says that nobody waited to the end."""
    noted = (200, OK | {"result": {"operation_id": 1, "status": status}})
    stub.answer("PUT", "lake/points", noted)
    stub.answer("POST", "points/payload", noted)
    for write in (lambda: store.insert([point("a")]), lambda: store.stamp(key("a"), 2, payload_of(ALL_MAY))):
        with pytest.raises(Retryable, match="not applied"):
            write()


def test_an_insert_goes_in_requests_that_a_server_takes(store, stub, monkeypatch):
    """In order, each below the limit by its real size, none empty; what no request could carry is refused whole."""
    monkeypatch.setattr(qdrant_points, "REQUEST_BYTES", 20_000)
    points = [point("a", n, given=vectors(n, tokens=1 + n % 40), text="ü\n" * n) for n in range(60)]
    store.insert(points)
    sent = [[p["id"] for p in body["points"]] for _, body in stub.bodies("PUT", "/points")]
    assert [one for batch in sent for one in batch] == [p.point_id for p in points]
    assert len(sent) > 3
    sizes = [int(headers["Content-Length"]) for m, path, *_, headers in stub.asked if m == "PUT" and "points" in path]
    assert all(size < 21_000 for size in sizes)
    monkeypatch.setattr(qdrant_points, "MOST_NUMBERS", 5 * DIM)
    before = len(stub.asked)
    with pytest.raises(Rejected) as refused:
        store.insert([point("b"), point("c", given=vectors(1, tokens=6))])
    assert refused.value.reason is Reason.TOO_LARGE
    assert len(stub.asked) == before


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (413, "Request Entity Too Large"),
        (400, "Payload error: JSON payload (9 bytes) is larger than allowed (limit: 8 bytes)."),
    ],
)
def test_a_server_that_takes_smaller_requests_gets_smaller_ones(store, stub, status, text):
    """By its own setting or a proxy's: in halves, in order; one point that is too large by itself is refused."""
    points = [point("a", n) for n in range(5)]
    stub.limit = 3, (status, refusal(text))
    store.insert(points)
    taken = [body["points"] for _, body in stub.bodies("PUT", "/points") if len(body["points"]) < 3]
    assert [one["id"] for batch in taken for one in batch] == [p.point_id for p in points]
    stub.limit = 1, (status, refusal(text))
    with pytest.raises(Rejected) as refused:
        store.insert(points)
    assert refused.value.reason is Reason.TOO_LARGE


def test_every_page_of_a_document_is_read(store, stub):
    """Until the server gives no further offset, from a majority of replicas."""
    page = {"points": [{"id": point("a").point_id, "payload": {"born": 1}}], "next_page_offset": point("a", 1).point_id}
    last = {"points": [{"id": point("a", 1).point_id, "payload": {"born": 2}}], "next_page_offset": None}
    stub.answer("POST", "points/scroll", *[(200, {"result": r, "status": "ok", "time": 0.0}) for r in (page, last)])
    assert store.present(key("a")) == {point("a").point_id: 1, point("a", 1).point_id: 2}
    assert all("consistency=majority" in asked for asked, _ in stub.bodies("POST", "/scroll"))


def test_a_prune_lists_what_it_deletes_and_asks_for_no_exact_count(store, stub):
    """A strict mode with `search_allow_exact: false` refuses that. What replicas lag behind with is deleted, too: the
    filter goes out even when nobody was found."""
    page = {"points": [{"id": point("a", n).point_id} for n in range(2)], "next_page_offset": None}
    stub.answer("POST", "points/scroll", *[(200, {"result": r, "status": "ok"}) for r in (page, {"points": []})])
    stub.answer("POST", "points/count", (400, refusal("Bad request: Exact search disabled!. Help: Set exact=false.")))
    assert store.prune(key("a"), 3, {point("a", 9).point_id}) == 2
    assert store.prune(key("a"), 3, {point("a", 9).point_id}) == 0
    (_, listed), _ = stub.bodies("POST", "/scroll")
    assert listed["with_payload"] is False
    assert [body["filter"] for _, body in stub.bodies("POST", "/delete")] == [listed["filter"]] * 2


@pytest.mark.parametrize("modifier", ["idf", None])
def test_words_weigh_by_their_rarity_in_the_tenant_or_alike(modifier):
    """A collection without that modifier would refuse to be asked for it, and one of all tenants must not be."""
    stub = Stub(modifier=modifier)
    empty = {"points": []}
    stub.answer("POST", "query/batch", (200, {"result": [empty] * 3, "status": "ok", "time": 0.0}))
    with served(stub) as url:
        store = QdrantStore(url, collection="lake", dim=DIM)
        assert store.search(query()) == []
        store.close()
    ((_, body),) = stub.bodies("POST", "query/batch")
    sparse = body["searches"][1]
    assert ("idf" in (sparse.get("params") or {})) is (modifier == "idf")
    assert all(search["filter"]["must"] for search in body["searches"])


@pytest.mark.parametrize(
    ("status", "text", "kind", "says"),
    [
        (401, "Must provide an API key or an Authorization bearer token", Misconfigured, "UPWELL_STORE_API_KEY"),
        (403, "Forbidden: Global manage access is required", Misconfigured, "UPWELL_STORE_API_KEY"),
        (404, "Not found: Collection `lake` doesn't exist!", Misconfigured, "upwell init"),
        (400, 'Bad request: Limit exceeded 9 > 5 for "limit". Help: Reduce it.', Misconfigured, "strict mode"),
        (400, "Wrong input: TEXT", Rejected, "HTTP 400"),
        (429, "Rate limiting exceeded", Overloaded, "for now"),
        (503, "Service Unavailable", Retryable, "503"),
        (500, "Service internal error: No space left on device", Retryable, "500"),
    ],
)
def test_refusals_of_a_server(store, stub, status, text, kind, says):  # noqa: PLR0917
    """What the operator has to set, what is the input's fault, what passes."""
    stub.answer("PUT", "lake/points", (status, refusal(text)))
    with pytest.raises(kind, match=says) as refused:
        store.insert([point("a")])
    assert "TEXT" not in str(refused.value)


def test_a_rate_limit_says_when_to_come_back(store, stub):
    """Whoever tries again waits for so long; a time of day, as a proxy may say it, is only a reason to try again."""
    stub.answer("PUT", "lake/points", (429, refusal("Rate limiting exceeded: Write rate limit exceeded")))
    with pytest.raises(Overloaded) as refused:
        store.insert([point("a")])
    assert refused.value.retry_after_s == 7
    stub.retry_after = "Wed, 21 Oct 2026 07:28:00 GMT"
    with pytest.raises(Retryable) as refused:
        store.insert([point("a")])
    assert type(refused.value) is Retryable


@pytest.mark.parametrize("failure", [HANGS_UP, CUT, SILENT], ids=["hangs up", "cut", "silent"])
def test_an_answer_that_never_comes_whole_is_retryable(stub, url, monkeypatch, failure):
    """A server that ends, a proxy that gives up, nothing at all for as long as a request may take: whoever asked tries
    again, for all may have been applied and nothing harms twice."""
    monkeypatch.setattr(qdrant_server, "TIMEOUT_S", 1)
    store = QdrantStore(url, collection="lake", dim=DIM)
    stub.answer("PUT", "lake/points", failure, (200, OK))
    stub.answer("POST", "query/batch", failure)
    with pytest.raises(Retryable):
        store.insert([point("a")])
    with pytest.raises(Retryable):
        store.search(query())
    store.insert([point("a")])
    first, second = stub.bodies("PUT", "/points")
    assert first == second
    store.close()


def test_a_server_that_breaks_off_at_the_start_is_retryable(stub, url):
    """It is starting, or overloaded: no setting is wrong."""
    for failure in (HANGS_UP, CUT, (503, refusal("Service Unavailable")), (429, refusal("Rate limiting exceeded"))):
        stub.answer("GET", "", failure)
        with pytest.raises(Retryable):
            QdrantStore(url, collection="lake", dim=DIM)


STRANGE = [
    b"<html>down for maintenance</html>",
    b"",
    b"\xff\xfe",
    b"[]",
    b"null",
    b"{}",
    {"result": None},
    {"result": 7},
]


@pytest.mark.parametrize("strange", STRANGE)
def test_an_answer_that_is_none_is_retryable(store, stub, strange):
    """A proxy's page with status 200, or an envelope with nothing in it, is no fault of the document's."""
    for method, path in (("PUT", "lake/points"), ("POST", "points/scroll"), ("POST", "query/batch")):
        stub.answer(method, path, (200, strange))
    for asked in (lambda: store.insert([point("a")]), lambda: store.present(key("a")), lambda: store.search(query())):
        with pytest.raises(Retryable):
            asked()


def test_a_vacuum_never_stops_an_erasure(store):
    """Nothing can be ordered of a server, and nothing is raised."""
    store.vacuum()
