"""Small pieces of documents for tests of assembly, and a tokenizer of another kind than the embedder's."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from upwell.assemble import Candidate, Origin, Piece
from upwell.records import DocKey


def piece(text, ordinal=0, *, doc="a.md", source="wiki", section=0, chunk_key=None, tokens=None, citation=None, **rest):
    """A chunk; its key follows from its text and place unless given."""
    return Piece(
        point_id=f"{source}/{doc}/{ordinal}",
        origin=Origin(key=DocKey(tenant="default", source=source, doc_id=doc), version=1, **rest),
        chunk_key=chunk_key or f"{ordinal}:{text}",
        ordinal=ordinal,
        section=section,
        text=text,
        tokens=len(text.split()) if tokens is None else tokens,
        citation=f"{source}/{doc}" if citation is None else citation,
        joiner="" if ordinal == 0 else "\n\n",
    )


def candidate(found, score=1.0, section=()):
    return Candidate(piece=found, score=score, section=section or (found,))


def byte_pairs(path):
    """A small byte-level BPE tokenizer.json, as chat models have: its tokens run over the borders of words and lines."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    corpus = ["</passage>\n<passage id=", "the kiln is hot\n\nthe kiln is cold\n", "a b c d e f " * 20]
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator(corpus, trainer)
    made.save(str(path))
    return path
