"""The smallest documents that go through every stage: a word is a paragraph, a token and a chunk."""

import re

from upwell.chunk.policy import ChunkPolicy
from upwell.records import Block, Kind, ParsedDocument, ParseStatus

POLICY = ChunkPolicy(least_tokens=1, most_tokens=1, crumb_tokens=1)


class WordsTokenizer:
    """`ports.Tokenizer`: a word is a token."""

    max_tokens = 64

    def starts(self, text):
        return [match.start() for match in re.finditer(r"\S+", text)]


class WordsParser:
    """`ports.Parser` over UTF-8 words; a text that begins with `!` names the status it ends with instead."""

    def __init__(self, parsed=None):
        self.parsed = parsed or parsed_words
        self.seen = 0

    def parse(self, content, name, media_type=None):
        self.seen += 1
        return self.parsed(content)

    def close(self):
        pass


def parsed_words(content):
    text = content.decode()
    if text.startswith("!"):
        return ParsedDocument(status=ParseStatus(text[1:]), reason=f"says {text[1:]}", media_type="text/plain")
    return document_of(text.split())


def document_of(words, **fields):
    """A parsed document of these words, one a page."""
    return ParsedDocument(
        status=ParseStatus.OK if words else ParseStatus.EMPTY,
        blocks=tuple(Block(kind=Kind.PARAGRAPH, text=word, page=n) for n, word in enumerate(words, start=1)),
        **{"media_type": "text/plain", "parser": "words 1", **fields},
    )


class InlineFetcher:
    """`ports.Fetcher` of what events carry themselves."""

    def fetch(self, event):
        return event.content.data
