"""How fast documents go in: everything but the model, the model's share, and the memory it takes."""

import statistics
import subprocess
import time

import pytest
from measuring import UPWELL, PeakMemory, upwell_json

from upwell.embed import embedder_of
from upwell.lake.vectors import embed_text
from upwell.parse.confined.sandbox import SandboxPreparer

pytestmark = [pytest.mark.bench, pytest.mark.timeout(2400)]


def test_overhead_with_the_hash_embedder_is_at_least_400_chunks_a_second(otel_start, tmp_path, capsys):
    rates = []
    for n in range(3):
        answer = upwell_json(
            "ingest", otel_start, "--owner", "user:ana", "--embedder", "hash", "--lake", tmp_path / f"l{n}"
        )
        rates.append(answer["chunks"]["embedded"] / answer["seconds"])
    with capsys.disabled():
        print(
            f"\nhash embedder: {answer['chunks']['embedded']} chunks, chunks/s of three runs: {[round(r) for r in rates]}"
        )
    assert statistics.median(rates) >= 400


def test_wall_time_is_at_most_1_15_of_the_pure_model_time(otel_start, tmp_path, capsys):
    answer = upwell_json("ingest", otel_start, "--owner", "user:ana", "--lake", tmp_path / "lake")
    embedder = embedder_of("minilm")
    documents = passages(otel_start, embedder.fingerprint)
    embedder.embed(documents[0])
    start = time.perf_counter()
    for texts in documents:
        embedder.embed(texts)
    pure = time.perf_counter() - start
    with capsys.disabled():
        print(
            f"\nminilm: {answer['chunks']['embedded']} chunks, {answer['tokens_embedded']} tokens, wall "
            f"{answer['seconds']:.1f} s, pure model {pure:.1f} s, ratio {answer['seconds'] / pure:.3f}"
        )
    assert answer["seconds"] <= 1.15 * pure


def test_peak_memory_of_the_start_state_is_under_700_mb(otel_start, tmp_path, capsys):
    command = [*UPWELL, "ingest", str(otel_start), "--owner", "user:ana", "--lake", str(tmp_path / "lake"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        memory = PeakMemory(process.pid)
        process.wait(timeout=1800)
    peak = memory.stop()
    with capsys.disabled():
        print(f"\npeak memory, minilm, 228 documents: {peak:.0f} MB")
    assert process.returncode == 0
    assert peak < 700


def passages(folder, fingerprint) -> list[list[str]]:
    """What the model reads of each document, each text once in all."""
    preparer = SandboxPreparer("minilm", fingerprint, workers=1)
    try:
        seen: set[str] = set()
        documents = []
        for path in sorted(folder.rglob("*.md")):
            texts = {embed_text(chunk) for chunk in preparer.prepare(path, path.name).chunks} - seen
            seen |= texts
            documents.append(sorted(texts))
        return [texts for texts in documents if texts]
    finally:
        preparer.close()
