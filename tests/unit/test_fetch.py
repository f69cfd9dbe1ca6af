"""Bringing content: only below the roots, within the limit, and every trouble named for what it is."""

import errno
import hashlib
import http.server
import threading
from pathlib import Path

import aiohttp
import botocore.exceptions
import fsspec
import pytest
from s3fs.errors import translate_boto_error

from upwell.config import SourceSettings
from upwell.errors import Misconfigured, Reason, Rejected, Retryable
from upwell.lake.blobs import FsspecBlobs
from upwell.records import BlobRef, ChangeEvent, DocKey, Inline, Op, SourceRef
from upwell.sources.fetch import Fetching
from upwell.sources.fetch_errors import translated

LIMIT = 3_000_000
SOURCES = {
    "notes": SourceSettings(connector="memory", roots=("memory://notes/",)),
    "odd": SourceSettings(connector="no-such-protocol", roots=("odd://x/",)),
    "local": SourceSettings(connector="file", roots=("file:///",)),
    "acme": SourceSettings(tenant="acme", connector="memory", roots=("memory://notes/",)),
}


def event(content, source="notes", tenant="default"):
    return ChangeEvent(
        event_id="1",
        tenant=tenant,
        source=source,
        doc_id="a.md",
        op=Op.UPSERT,
        version=1,
        received_at=1,
        content=content,
    )


def ref(uri="memory://notes/a.md", connector="memory", **more):
    return SourceRef(connector=connector, uri=uri, **more)


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    files.pipe("/notes/a.md", b"Hello")
    files.pipe("/secret/a.md", b"Secret")
    yield files
    for name in ("/notes", "/secret"):
        files.rm(name, recursive=True)


@pytest.fixture
def fetch(memory, tmp_path):
    return Fetching(SOURCES, FsspecBlobs(str(tmp_path)), limit_bytes=LIMIT).fetch


def refused(fetch, asked):
    with pytest.raises(Rejected) as error:
        fetch(asked)
    return error.value.reason


def test_content_comes_from_the_event_the_blobs_and_the_connector(fetch, tmp_path):
    blob = FsspecBlobs(str(tmp_path)).put(DocKey(tenant="default", source="notes", doc_id="a.md"), b"Blob", 1)
    assert fetch(event(Inline(data=b"Inline"))) == b"Inline"
    assert fetch(event(blob)) == b"Blob"
    assert fetch(event(ref())) == b"Hello"


def test_a_folders_file_is_read_only_where_this_process_follows_folders(fetch):
    assert refused(fetch, event(ref("/etc/passwd", "folder"))) is Reason.INVALID_EVENT
    here = Fetching({}, None, limit_bytes=LIMIT, folders=True)
    assert here.fetch(event(ref("/srv/a.md", "folder"))) == Path("/srv/a.md")


@pytest.mark.parametrize(
    "asked",
    [
        event(ref("memory://secret/a.md")),
        event(ref("memory://notes/../secret/a.md")),
        event(ref("file:///etc/hostname")),
        event(ref("file:///etc/hostname", "file")),
        event(ref("file:///etc/hostname", "file"), source="local"),
        event(ref(), source="unknown"),
        event(ref(), tenant="acme"),
        event(ref(), source="acme"),
        event(ref(connector="s3")),
        event(None),
    ],
)
def test_what_the_settings_do_not_name_is_never_fetched(fetch, asked):
    assert refused(fetch, asked) is Reason.INVALID_EVENT


def test_another_documents_blob_is_not_read(fetch, tmp_path):
    other = FsspecBlobs(str(tmp_path)).put(DocKey(tenant="default", source="notes", doc_id="b.md"), b"Blob", 1)
    assert refused(fetch, event(other)) is Reason.INVALID_EVENT
    assert refused(Fetching({}, None, limit_bytes=LIMIT).fetch, event(other)) is Reason.INVALID_EVENT


def test_a_lost_object_or_blob_is_said_to_be_that(fetch):
    lost = BlobRef.of(DocKey(tenant="default", source="notes", doc_id="a.md"), b"lost", 1)
    assert refused(fetch, event(lost)) is Reason.BLOB_MISSING
    assert refused(fetch, event(ref("memory://notes/gone.md"))) is Reason.UNREADABLE


def test_content_over_the_limit_is_too_large_whoever_says_its_size(fetch, memory):
    memory.pipe("/notes/large", b"x" * (LIMIT + 1))
    memory.pipe("/notes/just", b"x" * LIMIT)
    assert len(fetch(event(ref("memory://notes/just")))) == LIMIT
    for asked in (ref("memory://notes/large"), ref("memory://notes/large", size=1), ref(size=LIMIT + 1)):
        assert refused(fetch, event(asked)) is Reason.TOO_LARGE
    sha256 = hashlib.sha256(b"").hexdigest()
    key = DocKey(tenant="default", source="notes", doc_id="a.md")
    large = BlobRef(uri=f"{key.digest}/1-{sha256}", sha256=sha256, size=LIMIT + 1)
    assert refused(fetch, event(large)) is Reason.TOO_LARGE


def test_a_connector_that_cannot_be_had_names_its_setting(fetch):
    with pytest.raises(Misconfigured, match=r"sources\.odd"):
        fetch(event(ref("odd://x/a", "no-such-protocol"), source="odd"))


class Pages(http.server.BaseHTTPRequestHandler):
    """`/docs/a.md` is there, `/docs/away` redirects outside, `/docs/busy` is busy, `/docs/endless` never ends."""

    def do_GET(self):
        status = {"/docs/a.md": 200, "/docs/endless": 200, "/docs/away": 302, "/docs/busy": 503, "/docs/no": 403}
        self.send_response(status.get(self.path, 404))
        if self.path == "/docs/away":
            self.send_header("Location", "/secret")
        if self.path != "/docs/endless":
            self.send_header("Content-Length", "6")
        self.end_headers()
        try:
            self.wfile.write(b"Hello!")
            while self.path == "/docs/endless":
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def do_HEAD(self):
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_):
        """Be quiet."""


@pytest.fixture
def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}/docs/"
    sources = {"web": SourceSettings(connector="http", roots=(root,), options={"allow_redirects": True})}
    fetching = Fetching(sources, None, limit_bytes=1_000_000)
    yield lambda name: fetching.fetch(event(ref(root + name, "http"), source="web"))
    server.shutdown()
    server.server_close()


def test_a_page_is_read_and_a_redirection_not_followed(web):
    assert web("a.md") == b"Hello!"
    for name, reason in [
        ("away", Reason.UNREADABLE),
        ("gone", Reason.UNREADABLE),
        ("endless", Reason.TOO_LARGE),
        ("no", Reason.UNREADABLE),
    ]:
        with pytest.raises(Rejected) as error:
            web(name)
        assert error.value.reason is reason, name
    with pytest.raises(Retryable):
        web("busy")


def of_s3(code):
    return translate_boto_error(botocore.exceptions.ClientError({"Error": {"Code": code, "Message": "m"}}, "GetObject"))


def of_web(status):
    return aiohttp.ClientResponseError(None, (), status=status)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (of_s3("NoSuchKey"), Rejected),
        (of_s3("NoSuchBucket"), Rejected),
        (of_s3("404"), Rejected),
        (of_s3("AccessDenied"), Rejected),
        (of_s3("403"), Rejected),
        (of_s3("InvalidObjectState"), Rejected),
        (of_s3("ExpiredToken"), Retryable),
        (of_s3("InvalidAccessKeyId"), Retryable),
        (of_s3("SignatureDoesNotMatch"), Retryable),
        (of_s3("SlowDown"), Retryable),
        (of_s3("503"), Retryable),
        (of_s3("InternalError"), Retryable),
        (of_s3("SomethingNew"), Retryable),
        (botocore.exceptions.EndpointConnectionError(endpoint_url="http://x"), Retryable),
        (botocore.exceptions.NoCredentialsError(), Retryable),
        (botocore.exceptions.ParamValidationError(report="bucket"), Rejected),
        (of_web(404), Rejected),
        (of_web(429), Retryable),
        (of_web(500), Retryable),
        (aiohttp.ClientConnectionError(), Retryable),
        (TimeoutError(), Retryable),
        (ConnectionResetError(), Retryable),
        (OSError(errno.EBUSY, "changed"), Retryable),
        (IsADirectoryError(errno.EISDIR, "x"), Rejected),
        (KeyError("a defect of ours"), KeyError),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)[:40]),
)
def test_is_the_object_at_fault_or_the_world(error, kind):
    found = translated(error, "s3")
    assert isinstance(found, kind)
    assert not isinstance(found, Rejected) or found.reason is Reason.UNREADABLE
