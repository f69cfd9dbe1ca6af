"""The numbers of chunking, and how they shrink to an embedder's limit."""

from msgspec.structs import replace

from upwell.errors import Misconfigured
from upwell.records import Record

CHUNKER = "layout/3"
SMALLEST_LIMIT_TOKENS = 48


class ChunkPolicy(Record, frozen=True, kw_only=True):
    """Sizes in the embedder's own tokens.

    A chunk is cut while it is over `most_tokens` and both sides keep `least_tokens` (or, failing that, `crumb_tokens`).
    Tables and functions stay whole up to `whole_tokens`, what belongs together (a heading and its first words, a
    lead-in and its list) up to `room_tokens`, the most a chunk may have. `prefix_tokens` are kept free for the prefix,
    `special_tokens` for what the model adds. `characters_per_token` bounds text that tokenizers swallow whole.

    Chosen by `make bench-chunking`: with 70 to 175 tokens both recall and IoU are above what is published for MiniLM,
    by the vectors alone. Sections of code are cut by `code_least_tokens` and `code_most_tokens`: what answers a
    question about code is longer than what answers one about prose.
    """

    least_tokens: int = 70
    most_tokens: int = 175
    crumb_tokens: int = 35
    whole_tokens: int = 400
    room_tokens: int = 440
    prefix_tokens: int = 64
    special_tokens: int = 2
    code_least_tokens: int = 100
    code_most_tokens: int = 250
    characters_per_token: int = 8

    @property
    def fingerprint(self) -> str:
        code = f"{self.code_least_tokens}-{self.code_most_tokens}"
        return f"{CHUNKER}:{self.least_tokens}-{self.most_tokens}-{self.whole_tokens}:{code}"

    @property
    def for_code(self) -> "ChunkPolicy":
        """The sizes that a section of code is cut by."""
        return replace(self, least_tokens=self.code_least_tokens, most_tokens=self.code_most_tokens)

    def within(self, limit_tokens: int) -> "ChunkPolicy":
        """The policy for a model of `limit_tokens`: prefix, text and special tokens together never exceed it.

        Raises Misconfigured for a model too small to hold any context.
        """
        if limit_tokens < SMALLEST_LIMIT_TOKENS:
            raise Misconfigured(
                f"the embedder takes {limit_tokens} tokens; at least {SMALLEST_LIMIT_TOKENS} are needed"
            )
        prefix = min(self.prefix_tokens, limit_tokens // 4)
        room = limit_tokens - self.special_tokens - prefix
        most, code_most = min(self.most_tokens, room), min(self.code_most_tokens, room)
        return ChunkPolicy(
            least_tokens=min(self.least_tokens, most * 2 // 5),
            most_tokens=most,
            crumb_tokens=min(self.crumb_tokens, most // 5),
            whole_tokens=min(self.whole_tokens, room),
            room_tokens=room,
            prefix_tokens=prefix,
            special_tokens=self.special_tokens,
            code_least_tokens=min(self.code_least_tokens, code_most * 2 // 5),
            code_most_tokens=code_most,
            characters_per_token=self.characters_per_token,
        )


DEFAULT_POLICY = ChunkPolicy()
