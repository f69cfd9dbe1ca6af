"""How commands come by a lake: settings from the options, then the owner that runs, or this process as the owner."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from upwell.cli.errors import debug_wanted
from upwell.cli.output import note
from upwell.errors import Misconfigured
from upwell.reading import ReadableLake

if TYPE_CHECKING:
    from upwell.config import Settings


def settings_of(lake: Path | None, config: Path | None, embedder: str | None = None) -> "Settings":
    """The settings that hold for this command. Raises Misconfigured for an unusable one."""
    from upwell import config as configuration
    from upwell.cli import logs

    logs.configure(debug=debug_wanted())
    if embedder == "hash":
        note("note: --embedder hash makes test vectors from words; it finds no meanings")
    return configuration.load(lake=lake, config=config, embedder=embedder)


@contextmanager
def opened(settings: "Settings", *, create: bool = False) -> Iterator[ReadableLake]:
    """The lake, through its running owner or opened here; closed at the end.

    Raises Misconfigured when there is none, unless `create` makes one.
    """
    from upwell import wiring

    lake = wiring.connect(settings, create=create)
    try:
        yield lake
    finally:
        lake.close()


def folder_at(path: Path) -> Path:
    """`path` made absolute (the owner may stand elsewhere). Raises Misconfigured when there is no such folder."""
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "no such folder"
        raise Misconfigured(f"{path}: {what}; give the folder that holds the documents (nothing was changed)")
    return path.absolute()


def keep_apart(folder: Path, lake: Path) -> None:
    """Raises Misconfigured for documents that lie in the lake's own folder, before anything is written there."""
    if folder.resolve().is_relative_to(lake.resolve()):
        raise Misconfigured(f"{folder} lies in the lake {lake}: name another folder with --lake (nothing was changed)")
