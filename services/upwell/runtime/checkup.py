"""What `doctor` finds: the installation, the weights, the sandbox, the extras, the lake; and what to do about it."""

import platform
import sys
from collections.abc import Collection, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import msgspec

from upwell import __version__
from upwell.answers import Check
from upwell.embed import embedder_of
from upwell.errors import UpwellError
from upwell.parse.confined.sandbox import sandbox_strength
from upwell.parse.policy import DEFAULT_POLICY, ParsePolicy
from upwell.runtime.checkup_parsers import parsers
from upwell.runtime.owner.lock import OwnerInfo, reachable

EXTRAS = {
    "distributed": ("faust", "Kafka, Faust workers and PostgreSQL"),
}
PARTS = ("docling-slim", "pypdfium2", "fastembed", "qdrant-edge-py", "qdrant-client", "onnxruntime", "watchfiles")


def checks(
    lake: Path,
    embedder: str,
    models: Path | None,
    policy: ParsePolicy = DEFAULT_POLICY,
    *,
    needed: Collection[str] = (),
) -> list[Check]:
    """Every finding, the necessary ones first. `needed`: the extras that the lake cannot do without."""
    return [
        *_system(),
        *_parts(),
        _weights(embedder, models),
        _sandbox(),
        *parsers(policy),
        *_extras(needed),
        _lake(lake),
    ]


def _system() -> Iterator[Check]:
    python = ".".join(map(str, sys.version_info[:3]))
    good = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Check(
        name="python",
        state="ok" if good else "wrong",
        detail=f"{python} on {platform.system()} {platform.machine()}",
        remedy="" if good else "use Python 3.11, 3.12 or 3.13",
    )
    yield Check(name="upwell", state="ok", detail=__version__)


def _parts() -> Iterator[Check]:
    for part in PARTS:
        try:
            yield Check(name=part, state="ok", detail=metadata.version(part))
        except metadata.PackageNotFoundError:
            yield Check(name=part, state="wrong", detail="not installed", remedy="install upwell again (make setup)")


def _weights(embedder: str, models: Path | None) -> Check:
    try:
        found = embedder_of(embedder, models=models)
    except UpwellError as e:
        return Check(name="weights", state="wrong", detail=str(e), remedy="see the setting `models`")
    return Check(name="weights", state="ok", detail=f"{embedder}: {found.dim} dimensions, {found.fingerprint[:16]}")


def _sandbox() -> Check:
    try:
        strength = msgspec.to_builtins(sandbox_strength())
    except UpwellError as e:
        return Check(name="sandbox", state="wrong", detail=str(e), remedy="parsers cannot be started")
    detail = ", ".join(f"{name}: {_words(value)}" for name, value in strength.items() if value not in ((), [], None))
    return Check(name="sandbox", state="ok", detail=detail)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _extras(needed: Collection[str]) -> Iterator[Check]:
    for extra, (module, meaning) in EXTRAS.items():
        there = find_spec(module) is not None
        yield Check(
            name=f"extra {extra}",
            state="ok" if there else "wrong" if extra in needed else "missing",
            detail=meaning,
            remedy="" if there else f"make setup-{extra}, or pip install 'upwell[{extra}]'",
        )


def _lake(lake: Path) -> Check:
    if not lake.is_dir():
        return Check(name="lake", state="ok", detail=f"{lake}: none yet", remedy="upwell ingest DIR makes it")
    try:
        info = msgspec.json.decode((lake / "lock").read_bytes(), type=OwnerInfo)
    except (OSError, msgspec.DecodeError):
        return Check(name="lake", state="ok", detail=f"{lake}: never opened")
    held = f"held by process {info.pid} ({info.role})" if reachable(info) else "free"
    return Check(name="lake", state="ok", detail=f"{lake}: {held}")
