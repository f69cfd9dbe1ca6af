"""Benchmarks measure the installed command on real documents, from the folder named in UPWELL_CORPORA."""

import os
import tarfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def otel_start(tmp_path_factory) -> Path:
    """The 228 documents of the start state of otel-docs, unpacked."""
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    pack = Path(corpora) / "changes" / "otel-docs"
    folder = tmp_path_factory.mktemp("otel") / "docs"
    with tarfile.open(pack / "blobs.tar.xz") as tar:
        blobs = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
    for line in (pack / "base.tsv").read_text().splitlines():
        path, blob = line.split("\t")[:2]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(blobs[blob])
    return folder
