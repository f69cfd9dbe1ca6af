"""Events, messages and a blob store in memory, for tests of what flows over the log."""

import itertools

from upwell.lake.blobs import FsspecBlobs
from upwell.messages import Change, Chunked, Dead, Embedded, Ended, Origin, Parsed, Prefixed
from upwell.ports import ChildFault, Fate
from upwell.records import (
    Acl,
    Block,
    ChangeEvent,
    Chunk,
    ChunkedDocument,
    Draft,
    Inline,
    Kind,
    Op,
    Outcome,
    ParsedDocument,
    ParseStatus,
    PreparedDocument,
    Span,
    Vectors,
)

NUMBERS = itertools.count()


def event(doc="a.md", *, op=Op.UPSERT, data=b"tea", **rest):
    """One event; an upsert carries `data`."""
    values = {
        "event_id": f"e{doc}{rest.get('version', 1)}",
        "tenant": "default",
        "source": "wiki",
        "version": 1,
        "received_at": 1_700_000_000_000_000,
        "content": Inline(data=data) if op is Op.UPSERT else None,
        "acl": Acl(levels=(frozenset({"everyone"}),)),
    }
    return ChangeEvent(doc_id=doc, op=op, **{**values, **rest})


CHUNK = Chunk(chunk_key="k", text="tea", tokens=1, kind=Kind.PARAGRAPH, spans=(Span(block=0, start=0, end=3),))
VECTORS = Vectors(
    dense=b"\x00\x7c\x01\x00", late=b"\x00\xfe" * 4, late_count=2, sparse_indices=(1,), sparse_values=(0.5,)
)
FATE = Fate(outcome=Outcome.DEAD, reason="corrupt", detail="broken", stage="parse", attempts=3)


def messages(of=None):
    """One message of each kind about the same event; a dead letter of each form."""
    of = of or event()
    parsed = ParsedDocument(status=ParseStatus.OK, blocks=(Block(kind=Kind.PARAGRAPH, text="tea"),))
    chunked = ChunkedDocument(status=ParseStatus.OK, drafts=(Draft(chunk=CHUNK, headings=("Tea",), shows_title=True),))
    prepared = PreparedDocument(status=ParseStatus.OK, chunks=(CHUNK,))
    return [
        Change(event=of),
        Parsed(event=of, document=parsed, content_sha256="0" * 64),
        Chunked(event=of, document=chunked),
        Prefixed(event=of, document=prepared, wanted=("w",), attempts=2),
        Embedded(event=of, document=prepared, vectors={"e": VECTORS}),
        Embedded(event=of, document=PreparedDocument(status=ParseStatus.CORRUPT), fate=FATE),
        Ended(event=of, fate=FATE, at=5, faults=(ChildFault(key=of.key, fate=FATE),), kept=1),
        Dead(event=of, fate=FATE, at=5),
        Dead(raw=b"\xff\x00", fate=FATE, at=5, origin=Origin(topic="upwell.parsed.live.v1", partition=1, offset=7)),
    ]


def memory_blobs():
    """An empty blob store in this process's memory."""
    return FsspecBlobs(f"memory://blobs-{next(NUMBERS)}")
