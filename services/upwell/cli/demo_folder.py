"""The demo's folder: the sample company, copied out of the package, with a mark that says whose it is."""

import shutil
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from upwell.errors import Misconfigured

MARK = ".upwell-demo"
COMPANY = "harbor-and-pine"
LAKE = "lake"


def is_ours(folder: Path) -> bool:
    """True for a folder that an earlier demo made."""
    return (folder / MARK).is_file()


def check(folder: Path) -> None:
    """Raises Misconfigured for a folder that holds something else: the demo removes only what it made."""
    if folder.exists() and not is_ours(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise Misconfigured(f"{folder}: exists and was not made by a demo; choose another folder with --dir")


def lay_out(folder: Path) -> Path:
    """Make the folder anew, without its old documents and lake, and return where the company's documents are."""
    check(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text("Made by `upwell demo`, which removes and makes again what is in here.\n")
    for part in (COMPANY, LAKE):
        if (folder / part).exists():
            shutil.rmtree(folder / part)
    company = folder / COMPANY
    _copy(files("upwell") / "sample", company)
    return company


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir()
    for item in source.iterdir():
        if item.is_dir():
            if item.name != "__pycache__":  # an installer compiles the sample's Python file
                _copy(item, target / item.name)
        else:
            (target / item.name).write_bytes(item.read_bytes())
