"""The numbers of chunking, and how they shrink to an embedder's limit."""

from upwell.errors import Misconfigured
from upwell.records import Record

CHUNKER = "layout/2"
SMALLEST_LIMIT_TOKENS = 48


class ChunkPolicy(Record, frozen=True, kw_only=True):
    """Sizes in the embedder's own tokens.

    A chunk is cut while it is over `most_tokens` and both sides keep `least_tokens` (or, failing that, `crumb_tokens`).
    Tables and functions stay whole up to `whole_tokens`, what belongs together (a heading and its first words, a
    lead-in and its list) up to `room_tokens`, the most a chunk may have. `prefix_tokens` are kept free for the prefix,
    `special_tokens` for what the model adds. `characters_per_token` bounds text that tokenizers swallow whole.
    """

    least_tokens: int = 70
    most_tokens: int = 175
    crumb_tokens: int = 35
    whole_tokens: int = 400
    room_tokens: int = 440
    prefix_tokens: int = 64
    special_tokens: int = 2
    characters_per_token: int = 8

    @property
    def fingerprint(self) -> str:
        return f"{CHUNKER}:{self.least_tokens}-{self.most_tokens}-{self.whole_tokens}"

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
        most = min(self.most_tokens, room)
        return ChunkPolicy(
            least_tokens=min(self.least_tokens, most * 2 // 5),
            most_tokens=most,
            crumb_tokens=min(self.crumb_tokens, most // 5),
            whole_tokens=min(self.whole_tokens, room),
            room_tokens=room,
            prefix_tokens=prefix,
            special_tokens=self.special_tokens,
            characters_per_token=self.characters_per_token,
        )


DEFAULT_POLICY = ChunkPolicy()
