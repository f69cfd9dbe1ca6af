"""What flows between the workers of the distributed lake: one message a document at each stage, with its event.

On the wire a message is msgpack, its key the canonical document key; `runtime.stream.codec` says how. Each has a
JSON Schema in `schemas/`; what an old worker could not read is a new version, never an edit.
"""

from msgspec.structs import replace

from upwell.ports import ChildFault, Fate
from upwell.records import ChangeEvent, ChunkedDocument, Membership, ParsedDocument, PreparedDocument, Record, Vectors


def without_words(event: ChangeEvent) -> ChangeEvent:
    """Its identity, order and permission alone: for topics that are not compacted, where an erased document's words
    would stay until retention takes them."""
    return replace(event, content=None, title=None, url=None, media_type=None, metadata={})


class Message(Record, frozen=True, kw_only=True):
    """Base: the event that it serves. `attempts` counts how often the document was sent back or replayed before."""

    event: ChangeEvent
    attempts: int = 0


class Change(Message, frozen=True, kw_only=True):
    """An accepted event: whole on `changes`, without its words on `control`."""


class Parsed(Message, frozen=True, kw_only=True):
    """A document as blocks; its status is `ok` or `empty`. `content_sha256` is of the bytes that were parsed."""

    document: ParsedDocument
    content_sha256: str = ""


class Chunked(Message, frozen=True, kw_only=True):
    document: ChunkedDocument
    content_sha256: str = ""


class Prefixed(Message, frozen=True, kw_only=True):
    """A document that lacks nothing but vectors. `wanted` are embed_keys that must be embedded although the registry
    lists points that hold them: the store has lost those."""

    document: PreparedDocument
    wanted: tuple[str, ...] = ()


class Embedded(Message, frozen=True, kw_only=True):
    """A document to publish: embed_key -> vectors of those chunks that the lake does not hold already.

    With `fate` there is nothing to publish: an earlier stage gave the document up, and the registry has still to say
    so (`document.status` is the parse status where there is one).
    """

    document: PreparedDocument
    vectors: dict[str, Vectors] = {}
    fate: Fate | None = None


class Ended(Message, frozen=True, kw_only=True):
    """How an event ended, and what it cost. The event is without its words. `at` is in us since the epoch."""

    fate: Fate
    at: int
    faults: tuple[ChildFault, ...] = ()
    kept: int = 0
    reused: int = 0
    embedded: int = 0
    removed: int = 0
    tokens_embedded: int = 0


class Member(Record, frozen=True, kw_only=True):
    """What a directory says of one of a tenant's principals. It serves no event, and the ledger knows nothing of it:
    the newest of a principal is all that counts."""

    membership: Membership
    attempts: int = 0

    @property
    def event(self) -> None:
        """None, as in a dead letter that nobody could read."""
        return None


class Origin(Record, frozen=True, kw_only=True):
    """Where a dead letter's message stands in the log."""

    topic: str
    partition: int
    offset: int


class Dead(Record, frozen=True, kw_only=True):
    """A dead letter. `event` is whole, to be replayed; None, with the `raw` bytes, for what could not be read."""

    fate: Fate
    at: int
    event: ChangeEvent | None = None
    raw: bytes = b""
    origin: Origin | None = None
