"""The JSON Schema of every record that crosses a process, written to `schemas/` by `python -m upwell.schemas [FOLDER]`.

Files are named after their record and its version. A change that an old reader could not read is a new record in a new
file (`*.v2.json`), never an edit; a test and `make check` keep the files equal to the code.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from upwell import answers, messages, records
from upwell.records import Record

CROSSING: tuple[type[Record], ...] = (
    # between stages, and from sources
    records.ChangeEvent,
    records.ParsedDocument,
    records.PreparedDocument,
    records.Chunk,
    records.Vectors,
    messages.Change,
    messages.Parsed,
    messages.Chunked,
    messages.Prefixed,
    messages.Embedded,
    messages.Member,
    messages.Ended,
    messages.Dead,
    # what commands print with --json and HTTP answers
    answers.IngestAnswer,
    answers.SearchAnswer,
    answers.ShowAnswer,
    answers.StatusAnswer,
    answers.DeadAnswer,
    answers.EraseAnswer,
    answers.Certificate,
    answers.VerifyAnswer,
    answers.MemberAnswer,
    answers.ApproveAnswer,
    answers.Check,
    answers.TopicsCheck,
    answers.TopicsAnswer,
)
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """File name -> its content, for every record that crosses."""
    return {_file_name(record): _text(record) for record in CROSSING}


def write(folder: Path) -> None:
    """Make the folder hold exactly the schemas of this code."""
    folder.mkdir(parents=True, exist_ok=True)
    current = schemas()
    for old in folder.glob("*.json"):
        if old.name not in current:
            old.unlink()
    for name, text in current.items():
        (folder / name).write_text(text, encoding="utf-8")


def stale(folder: Path) -> list[str]:
    """Names of files that differ from the code, lack, or should not be there."""
    current = schemas()
    stored = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in current.keys() | stored.keys() if current.get(name) != stored.get(name))


def _file_name(record: type[Record]) -> str:
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", record.__name__).lower()
    return f"{words}.v{records.SCHEMA_VERSION}.json"


def _text(record: type[Record]) -> str:
    schema: dict[str, Any] = {"$schema": DIALECT, "$id": _file_name(record), **msgspec.json.schema(record)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write(Path(*sys.argv[1:] or ["schemas"]))
