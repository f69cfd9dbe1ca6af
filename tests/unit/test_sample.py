"""The sample company: small, whole, and current with the tool that writes its binary files."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "services" / "upwell" / "sample"
DOCUMENTS = [p for p in SAMPLE.rglob("*") if p.is_file() and "access" not in p.name and "__pycache__" not in p.parts]
ACCESS = list(SAMPLE.rglob(".upwell-access.yaml"))


def test_about_twenty_documents_of_every_promised_kind():
    assert 18 <= len(DOCUMENTS) <= 25
    kinds = {p.suffix for p in DOCUMENTS}
    assert kinds == {".md", ".html", ".docx", ".pptx", ".xlsx", ".csv", ".pdf", ".eml", ".py"}


def test_every_document_is_small():
    assert [p.name for p in DOCUMENTS if p.stat().st_size >= 60_000] == []


def test_generated_documents_are_what_the_tool_writes():
    done = subprocess.run(
        [sys.executable, "tools/make_sample.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", ACCESS, ids=[str(p.parent.relative_to(SAMPLE)) for p in ACCESS])
def test_access_files_hold_only_known_settings_and_full_principals(path):
    access = yaml.safe_load(path.read_text())
    assert set(access) <= {"allow", "deny", "inherit", "files"}
    named = [*access.get("allow", []), *access.get("deny", [])]
    named += [p for rule in access.get("files", {}).values() for p in rule["allow"]]
    assert named
    assert all(p == "everyone" or p.partition(":")[0] in {"user", "group"} for p in named)


def test_rights_differ_between_folders():
    """At least five different permissions, a file pattern, a denial and a fresh start among them."""
    loaded = [yaml.safe_load(p.read_text()) for p in ACCESS]
    assert len({tuple(a["allow"]) for a in loaded}) >= 5
    assert any("files" in a for a in loaded)
    assert any("deny" in a for a in loaded)
    assert any(a.get("inherit") is False for a in loaded)
