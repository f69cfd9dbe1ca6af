"""The cases of a run: case N of a seed is the same bytes on every machine that has the same documents."""

import os
import random
from dataclasses import dataclass
from pathlib import Path

from fuzz_bytes import BYTES
from fuzz_markup import MARKUP, is_markup
from fuzz_zip import MEMBERS, is_zip

SAMPLE = Path(__file__).parents[2] / "services" / "upwell" / "sample"
MOST_BYTES = 512 * 1024
MOST_STEPS = 4
STRANGE_NAMES = 0.1


@dataclass(frozen=True)
class Case:
    """A mutated document. `kind` is the file type it was made from, `steps` name what was done to it, in order."""

    number: int
    kind: str
    name: str
    data: bytes
    steps: tuple[str, ...]


def documents():
    """The corpus that UPWELL_CORPORA names, else the sample that Upwell carries: name and bytes, in the order of names."""
    corpora = os.environ.get("UPWELL_CORPORA")
    folder = Path(corpora) / "parsing" / "docs" if corpora else SAMPLE
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    if not found:
        raise SystemExit(f"no documents to mutate in {folder}")
    return [(path.name, path.read_bytes()) for path in found]


def case(seed, number, corpus):
    """Case `number` of a run: documents take turns, so that each format is seen as often."""
    rng = random.Random(f"{seed}:{number}")
    name, data = corpus[(number + seed) % len(corpus)]
    kind = name.rpartition(".")[2]
    if len(data) > MOST_BYTES:
        data = data[:MOST_BYTES]
    other = rng.choice(corpus)[1][:MOST_BYTES]
    steps = []
    if rng.random() < STRANGE_NAMES:
        name = strange_name(rng, name, rng.choice(corpus)[0])
    for _ in range(rng.randint(1, 2 if is_zip(data) else MOST_STEPS)):
        step = rng.choice(_possible(data))
        data = step(rng, data, other)[: 2 * MOST_BYTES]
        steps.append(step.__name__)
    return Case(number, kind, name, data, tuple(steps))


def strange_name(rng, name, other):
    """A name that lies about the type, or that nobody should print."""
    ending = other.rpartition(".")[2]
    return rng.choice((f"{name}.{ending}", f"a\x1b[31m\n{name}", f"\u202e{name}", "n" * 255, f"../../{name}", "."))


def _possible(data):
    """A zip's members and a markup's tags are mutated more often than bytes at random, which break the container."""
    if is_zip(data):
        return (*MEMBERS, *MEMBERS, *MEMBERS, *MEMBERS, *BYTES)
    return (*MARKUP, *BYTES) if is_markup(data) else BYTES
