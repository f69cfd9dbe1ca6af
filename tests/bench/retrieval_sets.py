"""Three sets of questions with the passages that answer them, as folders of documents."""

import ast
import csv
import json
import re
import shutil
from pathlib import Path

WORD = re.compile(r"\w+")
RUN = 5


def docs(corpora, folder):
    """Sections of public documentation, one file a page; a question's answers are whole sections."""
    found = json.loads((corpora / "anthropic-docs-rag" / "anthropic_docs.json").read_text())
    pages, words = {}, {}
    for section in found:
        words[section["chunk_link"]] = text = section["text"].removeprefix(section["chunk_heading"]).strip()
        page = re.sub(r"\W+", "-", section["chunk_link"].split("#")[0].split("/docs/")[-1])
        pages.setdefault(page, []).append(f"## {section['chunk_heading']}\n\n{text}")
    for page, sections in pages.items():
        (folder / f"{page}.md").write_text("\n\n".join(sections))
    asked = json.loads((corpora / "anthropic-docs-rag" / "queries.json").read_text())
    return [(q["question"], [words[link] for link in q["correct_chunks"] if link in words]) for q in asked]


def prose(corpora, folder):
    """Long texts, some without headings; a question's answers are single sentences."""
    for path in sorted((corpora / "chroma-chunking" / "corpora").iterdir()):
        shutil.copyfile(path, folder / path.name)
    with (corpora / "chroma-chunking" / "questions.csv").open(newline="") as file:
        return [
            (row["question"], [excerpt["content"] for excerpt in json.loads(row["references"])])
            for row in csv.DictReader(file)
        ]


def code(corpora, folder):
    """Source files of nine projects as plain text; a question's answers are the set's own chunks."""
    chunks = {}
    for document in json.loads((corpora / "contextual-embeddings" / "codebase_chunks.json").read_text()):
        (folder / f"{document['doc_id']}.txt").write_text(document["content"])
        found = document["chunks"]
        for chunk in ast.literal_eval(found) if isinstance(found, str) else found:
            chunks[document["original_uuid"], chunk["original_index"]] = chunk["content"]
    lines = (corpora / "contextual-embeddings" / "queries.jsonl").read_text().splitlines()
    return [
        (question["query"], [chunks[tuple(golden)] for golden in question["golden_chunks"]])
        for question in map(json.loads, lines)
    ]


SETS = {"docs": docs, "prose": prose, "code": code}


def laid_out(name: str, corpora: Path, folder: Path):
    """The set's documents in `folder`; its questions, each with the passages that answer it."""
    folder.mkdir(parents=True)
    return SETS[name](corpora / "retrieval", folder)


def covered(passages, text):
    """Which share of the answers' runs of five words stands in the text, 0 to 1, mean over the passages."""
    have = {n: runs(text, n) for n in range(1, RUN + 1)}
    shares = []
    for passage in passages:
        n = min(RUN, len(WORD.findall(passage))) or 1
        wanted = runs(passage, n)
        shares.append(len(wanted & have[n]) / len(wanted) if wanted else 1.0)
    return sum(shares) / len(shares)


def runs(text, n):
    words = WORD.findall(text.lower())
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}
