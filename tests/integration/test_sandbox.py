"""The parsers' children: cheap, confined, and nobody's neighbour is harmed by what one document does."""

import os
import signal
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from upwell.embed import tokenizer_of
from upwell.errors import Reason, Rejected, Retryable
from upwell.parse.confined.sandbox import SandboxParser, SandboxPreparer, sandbox_strength
from upwell.parse.limits import Limits
from upwell.parse.prepare import prepare_parsed
from upwell.records import ParseStatus

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def preparer():
    made = SandboxPreparer("hash", "fp", workers=2)
    yield made
    made.close()


def test_prepares_bytes(preparer):
    """Markdown bytes come back as chunks with keys, prefixes and fingerprints."""
    prepared = preparer.prepare(b"# Guide\n\n## Setup\n\nInstall it.\n", "guide.md")
    assert prepared.status is ParseStatus.OK
    assert prepared.title == "Guide"
    assert [c.text for c in prepared.chunks] == ["Guide\n\nSetup\n\nInstall it."]
    assert all((prepared.chunks[0].chunk_key, prepared.chunks[0].embed_key, prepared.content_sha256))
    assert all((prepared.parser, prepared.chunker, prepared.prefixer))


def test_prepares_a_path_but_no_link(preparer, tmp_path):
    """A plain file is read; a symbolic link is refused as unreadable; a missing one may come back."""
    file = tmp_path / "a.md"
    file.write_text("# A\n\nwords\n")
    link = tmp_path / "b.md"
    link.symlink_to(file)
    assert preparer.prepare(file, "a.md").status is ParseStatus.OK
    with pytest.raises(Rejected, match="cannot be opened"):
        preparer.prepare(link, "b.md")
    with pytest.raises(Retryable):
        preparer.prepare(tmp_path / "none.md", "none.md")


def test_closed_preparer_is_retryable():
    """After close nothing is parsed and nothing hangs."""
    preparer = SandboxPreparer("hash", "fp", workers=1, limits=Limits(wall_s=5))
    preparer.close()
    with pytest.raises(Retryable):
        preparer.prepare(b"x", "x.txt")


def test_strength_is_what_a_child_found():
    """The child really has limits; what it could not have is said in the notes."""
    strength = sandbox_strength()
    assert strength.memory in {"rlimit", "watched"}
    assert strength.no_file_writes
    assert strength.network is False or strength.notes


def heavy(paragraphs):
    return b"".join(b"Paragraph %d *of* [many](x) `words`.\n\n" % i for i in range(paragraphs))


def test_a_document_that_takes_too_long_is_timed_out():
    """The wall clock ends it; the next document is served as if nothing had been."""
    slow = SandboxPreparer("hash", "fp", workers=1, limits=Limits(wall_s=0.05))
    try:
        slow.prepare(b"warm", "a.txt")
        assert slow.prepare(heavy(300_000), "slow.md").status is ParseStatus.TIMED_OUT
        assert slow.prepare(b"hello", "a.txt").status is ParseStatus.OK
    finally:
        slow.close()


def test_a_document_that_wants_too_much_memory_is_refused():
    """The memory limit ends the document with a status or as crashed, never the next one."""
    small = SandboxPreparer("hash", "fp", workers=1, limits=Limits(memory_bytes=120 * 1024 * 1024))
    try:
        try:
            status = small.prepare(heavy(300_000), "big.md").status
        except Rejected as e:
            status = e.reason
        assert status in {ParseStatus.TOO_LARGE, Reason.PARSER_CRASHED}
        assert small.prepare(b"hello", "a.txt").status is ParseStatus.OK
    finally:
        small.close()


def killed(preparer, times):
    """Kill the child that is busy, `times` times, while it parses."""
    result = []

    def run():
        try:
            result.append(preparer.prepare(heavy(12_000), "a.md").status)
        except Rejected as e:
            result.append(e.reason)

    thread = threading.Thread(target=run)
    thread.start()
    seen = set()
    while len(seen) < times and thread.is_alive():
        for warm in list(preparer.pool._busy):
            pid = warm.child.process.pid
            if pid not in seen:
                os.kill(pid, signal.SIGKILL)
                seen.add(pid)
        time.sleep(0.005)
    thread.join(60)
    return result


def test_a_crash_is_tried_once_more_and_then_rejected():
    """One crash costs a retry; a second one is the document's: `parser_crashed`."""
    preparer = SandboxPreparer("hash", "fp", workers=1)
    try:
        preparer.prepare(b"warm", "a.txt")
        assert killed(preparer, 1) == [ParseStatus.OK]
        assert killed(preparer, 2) == [Reason.PARSER_CRASHED]
        assert preparer.prepare(b"hello", "a.txt").status is ParseStatus.OK
    finally:
        preparer.close()


def test_callers_in_parallel_get_their_own_answers(preparer):
    """Eight threads on two children: every answer is that of its own document."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: preparer.prepare(b"words %d" % i, f"{i}.txt").chunks[0].text, range(64)))
    assert made == [f"words {i}" for i in range(64)]


def test_children_are_recycled():
    """After its number of documents a child is replaced."""
    preparer = SandboxPreparer("hash", "fp", workers=1, recycle_after=3)
    try:
        pids = []
        for _ in range(6):
            preparer.prepare(b"x", "x.txt")
            pids.append(preparer.pool._idle[0].child.process.pid if preparer.pool._idle else None)
        assert len({pid for pid in pids if pid}) >= 2
    finally:
        preparer.close()


def test_a_large_text_is_refused_by_its_head(preparer, tmp_path):
    """50 MB of text is too large at once; so is what a zip would unpack to."""
    big = tmp_path / "big.txt"
    with big.open("wb") as file:
        file.write(b"words and words\n" * 8192)
        file.truncate(50 * 1024 * 1024)
    start = time.monotonic()
    assert preparer.prepare(big, "big.txt").status is ParseStatus.TOO_LARGE
    assert time.monotonic() - start < 15, "its head is enough"
    bomb = tmp_path / "bomb.docx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"\0" * (60 * 1024 * 1024))
    assert preparer.prepare(bomb, "bomb.docx").status is ParseStatus.TOO_LARGE


def test_parses_alone_what_is_chunked_elsewhere(preparer, tmp_path):
    """Parse here, chunk and prefix there: the same document, byte for byte; and no tokenizer is needed to parse."""
    data = b"# Guide\n\n## Setup\n\nInstall it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    file = tmp_path / "guide.md"
    file.write_bytes(data)
    parser = SandboxParser()
    try:
        for content in (data, file):
            prepared = prepare_parsed(parser.parse(content, "guide.md"), tokenizer_of("hash"), "fp")
            whole = preparer.prepare(data, "guide.md")
            assert replace(prepared, content_sha256=whole.content_sha256) == whole
        with pytest.raises(Retryable):
            parser.parse(tmp_path / "none.md", "none.md")
    finally:
        parser.close()


def test_a_parse_alone_that_takes_too_long_is_timed_out():
    """The same limits and the same word for it as in a whole preparation."""
    slow = SandboxParser(limits=Limits(wall_s=0.05))
    try:
        parsed = slow.parse(heavy(300_000), "slow.md")
    finally:
        slow.close()
    assert parsed.status is ParseStatus.TIMED_OUT
