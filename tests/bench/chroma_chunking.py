"""Chroma's chunking evaluation: its texts and questions, its measures, and where a chunk stands in the text.

Measures as in B. Smith and A. Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024), and in their
`chunking_evaluation` (github.com/brandonstarxel/chunking_evaluation, evaluation_framework/base_evaluation.py):
ranges are characters of the text; all texts' chunks are in one collection; one score a question, then the mean.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from upwell.records import Block, Chunk

WORD = re.compile(r"\w+")
AFTER_A_WORD = re.compile(r"[^\w\s]*")
WORDS_AHEAD = 400

Range = tuple[int, int]


class Question(NamedTuple):
    """A question, the text that answers it, and the excerpts there that do."""

    words: str
    text: str
    excerpts: list[Range]


class Passage(NamedTuple):
    """A chunk: its text's name, its characters there, the words that are embedded, and its tokens without a prefix."""

    text: str
    start: int
    end: int
    words: str
    tokens: int


class Score(NamedTuple):
    """Shares from 0 to 1 of one question."""

    recall: float
    precision: float
    iou: float


def texts(corpora: Path) -> dict[str, str]:
    """The texts by name."""
    folder = corpora / "retrieval" / "chroma-chunking" / "corpora"
    return {path.stem: path.read_text() for path in sorted(folder.iterdir())}


def questions(corpora: Path, names: Sequence[str]) -> list[Question]:
    """The questions on the texts called `names`."""
    with (corpora / "retrieval" / "chroma-chunking" / "questions.csv").open(newline="") as file:
        return [
            Question(
                row["question"],
                row["corpus_id"],
                [(e["start_index"], e["end_index"]) for e in json.loads(row["references"])],
            )
            for row in csv.DictReader(file)
            if row["corpus_id"] in names
        ]


def score(found: Sequence[Passage], question: Question) -> Score:
    """recall = covered / excerpts; precision = covered / retrieved; IoU = covered / (retrieved + missed).

    Retrieved characters count as often as they are retrieved, from whichever text; covered and missed ones once.
    """
    covered = length(
        merged(
            (max(passage.start, start), min(passage.end, end))
            for passage in found
            if passage.text == question.text
            for start, end in question.excerpts
        )
    )
    wanted = sum(end - start for start, end in question.excerpts)
    missed = length(merged(question.excerpts)) - covered
    retrieved = sum(passage.end - passage.start for passage in found)
    return Score(covered / wanted, covered / retrieved if retrieved else 0.0, covered / (retrieved + missed))


def merged(ranges: Iterator[Range] | Sequence[Range]) -> list[Range]:
    """The same characters, each once; empty ranges are none."""
    done: list[Range] = []
    for start, end in sorted((start, end) for start, end in ranges if end > start):
        if done and start <= done[-1][1]:
            done[-1] = (done[-1][0], max(done[-1][1], end))
        else:
            done.append((start, end))
    return done


def length(ranges: Sequence[Range]) -> int:
    return sum(end - start for start, end in ranges)


class Places:
    """Where the words of a document's blocks stand in its source, markup apart: each word's next occurrence."""

    def __init__(self, source: str, blocks: Sequence[Block]) -> None:
        self._source = source
        words = [(found.group(), found.span()) for found in WORD.finditer(source)]
        self._of: list[list[tuple[Range, Range]]] = []
        at = 0
        for block in blocks:
            places: list[tuple[Range, Range]] = []
            for found in WORD.finditer(block.text):
                ahead = range(at, min(len(words), at + WORDS_AHEAD))
                here = next((k for k in ahead if words[k][0] == found.group()), None)
                if here is not None:
                    places.append((found.span(), words[here][1]))
                    at = here + 1
            self._of.append(places)

    def of(self, chunk: Chunk) -> Range | None:
        """From the chunk's first word to the marks behind its last; None for a chunk without words."""
        here = [
            place
            for span in chunk.spans
            for (start, end), place in self._of[span.block]
            if start < span.end and end > span.start
        ]
        if not here:
            return None
        last = AFTER_A_WORD.match(self._source, max(end for _, end in here))
        return min(start for start, _ in here), last.end() if last else max(end for _, end in here)
