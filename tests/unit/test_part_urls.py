"""The URLs of a lake's parts: one that is none is refused, and never taken for a file in the folder one stands in."""

import sys

import pytest

from upwell.config import Settings
from upwell.errors import Misconfigured
from upwell.lake.blobs import FsspecBlobs
from upwell.runtime.parts import Identity
from upwell.runtime.stream.vendor import servers
from upwell.wiring import opening

IDENTITY = Identity(embedder="hash", model="m", dim=16, pipeline="p")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("store", ["qdrant", "127.0.0.1:6333", "grpc://qdrant:6334"])
def test_a_store_that_is_no_url_of_a_server(store):
    settings = Settings(brokers="kafka:9092", store=store)
    with pytest.raises(Misconfigured, match="setting store: not the URL of a Qdrant server, such as http://"):
        opening.open_store(settings, IDENTITY)


@pytest.mark.parametrize("registry", ["geheim", "upwell:geheim@postgres/upwell"])
def test_a_registry_that_is_no_url(registry):
    for open_part in (opening.open_registry, opening.open_ledger):
        with pytest.raises(Misconfigured, match="setting registry: not a URL, such as postgresql://") as refused:
            open_part(Settings(registry=registry))
        assert "geheim" not in str(refused.value)


@pytest.mark.parametrize("brokers", ["kafka", "kafka://kafka:9092", "kafka:9092,PLAINTEXT://kafka:9093", "kafka:0"])
def test_brokers_that_are_no_addresses(brokers):
    with pytest.raises(Misconfigured, match="setting brokers: not of the form host:port"):
        servers(brokers)


def test_a_protocol_of_blobs_whose_package_is_missing_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(Misconfigured, match=r"setting blobs: .*gcsfs"):
        FsspecBlobs("gs://bucket/folder")
