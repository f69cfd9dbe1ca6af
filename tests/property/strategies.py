"""Histories: small sets of events over a few documents that meet in every awkward way (ties, moves, late permissions)."""

import msgspec
from hypothesis import strategies as st

from upwell.records import Acl, ChangeEvent, Chunk, Inline, Kind, Op, ParseStatus, PreparedDocument, Span, stable_hash

DOCS = ("a", "b", "c")
READERS = tuple(
    frozenset(who) | {"everyone"} for who in ((), ("user:ana",), ("user:ben", "group:eng"), ("user:ana", "group:hr"))
)
ACLS = (
    Acl(levels=(frozenset({"everyone"}),)),
    Acl(levels=(frozenset({"user:ana"}),)),
    Acl(levels=(frozenset({"group:eng", "user:ana"}),)),
    Acl(levels=(frozenset({"everyone"}), frozenset({"group:hr", "user:ben"}))),
    Acl(levels=(frozenset({"everyone"}),), deny=frozenset({"user:ana"})),
    Acl(levels=tuple(frozenset({who, "user:ana"}) for who in ("everyone", "group:eng", "group:hr", "user:ben"))),
    Acl(),
)


class Content(msgspec.Struct, frozen=True):
    """What an upsert carries: how it parses, and its words, one a chunk."""

    status: ParseStatus
    words: tuple[str, ...]

    @property
    def data(self):
        return msgspec.json.encode(self)

    @property
    def texts(self):
        return self.words if self.status is ParseStatus.OK else ()


contents = st.builds(
    lambda status, words: Content(status if words or status is not ParseStatus.OK else ParseStatus.EMPTY, words),
    st.sampled_from([ParseStatus.OK] * 8 + [ParseStatus.CORRUPT, ParseStatus.CORRUPT, ParseStatus.ENCRYPTED]),
    st.lists(st.sampled_from("pqrstuv"), max_size=5).map(tuple),
)
ops = st.sampled_from([Op.UPSERT] * 6 + [Op.ACL] * 3 + [Op.DELETE] * 2 + [Op.ERASE])


@st.composite
def events(draw, number=0, docs=DOCS):
    """One event; equal contents of one version carry equal metadata, as one source's do."""
    op, doc = draw(ops), draw(st.sampled_from(docs))
    others = [None, None, None, *(d for d in docs if d != doc)]
    content = draw(contents) if op is Op.UPSERT else None
    acl = draw(st.sampled_from((*ACLS, *ACLS[:3]) if op is Op.ACL else (None, *ACLS, *ACLS[:3])))
    return ChangeEvent(
        event_id=f"e{number}",
        tenant="t",
        source="s",
        doc_id=doc,
        op=op,
        version=draw(st.integers(1, 7)),
        received_at=number,
        acl_version=draw(st.integers(0, 6)),
        previous_doc_id=draw(st.sampled_from(others)) if op is Op.UPSERT else None,
        content=None if content is None else Inline(data=content.data),
        acl=acl,
        metadata={} if content is None else {"words": "".join(content.words)},
    )


def histories(min_size=3, max_size=12, docs=DOCS):
    """Distinct events, in no order that matters."""
    return st.integers(min_size, max_size).flatmap(lambda n: st.tuples(*(events(i, docs) for i in range(n))))


def prepared(event):
    """What the stages make of an upsert's content: one chunk a word."""
    content = msgspec.json.decode(event.content.data, type=Content)
    seen, chunks = {}, []
    for block, word in enumerate(content.texts):
        seen[word] = seen.get(word, 0) + 1
        chunks.append(
            Chunk(
                chunk_key=stable_hash(word, seen[word]),
                text=word,
                tokens=1,
                kind=Kind.PARAGRAPH,
                spans=(Span(block=block, start=0, end=len(word)),),
                page=block + 1,
                heading_path=("top",),
            )
        )
    return PreparedDocument(
        status=content.status,
        chunks=tuple(chunks),
        reason=None if content.status in {ParseStatus.OK, ParseStatus.EMPTY} else str(content.status),
        media_type="text/plain",
        parser="words 1",
        chunker="words 1",
        prefixer="none 1",
    )
