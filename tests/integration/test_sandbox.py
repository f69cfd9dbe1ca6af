"""The parsers' children: cheap, confined, and nobody's neighbour is harmed by what one document does."""

import pytest

from upwell.errors import Rejected, Retryable
from upwell.parse.limits import Limits
from upwell.parse.sandbox import SandboxPreparer, sandbox_strength
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
