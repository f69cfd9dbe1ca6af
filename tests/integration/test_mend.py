"""What a store has lost, by whatever accident, a sweep finds and brings back."""

import pytest

from lakes import contents
from upwell import config, wiring
from upwell.records import DocKey

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]


def test_lost_points_are_embedded_again_and_stray_ones_removed(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for n in range(3):
        (folder / f"{n}.md").write_text(f"# Page {n}\n\nThe word is larch{n}.\n")
    lake = wiring.own(config.load(lake=tmp_path / "lake", embedder="hash"))
    try:
        lake.ingest(folder, owner="user:ana")
        key = DocKey(tenant="default", source="docs", doc_id="1.md")
        parts = lake._parts
        assert parts.store().prune(key, 2**40, set()) == 1
        scanning = lake.scanning(folder, owner="user:ana", source=None, tenant="default")
        assert scanning.mend(parts.publisher()) == 1
        lake.ingest(folder, owner="user:ana")
        assert scanning.mend(parts.publisher()) == 0
        (hit,) = lake.search("larch1", principals=frozenset({"user:ana"}), k=1).hits
        assert hit.doc_id == "1.md"
    finally:
        lake.close()
    assert len(contents(tmp_path / "lake")) == 3
