"""A real control worker with a store in its memory: `python tests/control_worker.py BROKERS REGISTRY BLOBS`."""

import sys
from pathlib import Path

from handlers import publisher_of
from memory_store import MemoryStore
from upwell.clock import now_us
from upwell.config import Settings
from upwell.lake.blobs import FsspecBlobs
from upwell.lake.registry import SqlRegistry
from upwell.runtime.stream import worker
from upwell.runtime.stream.stages.control import ControlStage
from upwell.runtime.stream.topics import Line, Role


def main(brokers, registry_path, blobs_path):
    def equip(metrics):
        registry, blobs = SqlRegistry.at(Path(registry_path)), FsspecBlobs(blobs_path)
        publisher = publisher_of(registry, MemoryStore(), "pipeline", model="model", clock=now_us)
        stage = ControlStage(
            publisher,
            registry=registry,
            directory=registry.directory,
            blobs=blobs,
            clock=now_us,
            metrics=metrics,
        )
        return stage, blobs

    sys.exit(worker.run(Settings(brokers=brokers), Role.UPSERT, Line.CONTROL, equip))


if __name__ == "__main__":
    main(*sys.argv[1:])
