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
DEFAULT = ACLS[2]
"""What a source says of documents that bring no permission."""


class Content(msgspec.Struct, frozen=True):
    """What an upsert carries: how it parses, its words, one a chunk, and what is inside it (name, words)."""

    status: ParseStatus
    words: tuple[str, ...]
    inside: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def data(self):
        return msgspec.json.encode(self)

    @property
    def texts(self):
        """All words that a reader finds, of the document and then of what is inside it."""
        inside = (word for _, words in self.inside for word in words)
        return (*self.words, *inside) if self.status is ParseStatus.OK else ()


contents = st.builds(
    lambda status, words, inside: Content(
        status if words or inside or status is not ParseStatus.OK else ParseStatus.EMPTY, words, inside
    ),
    st.sampled_from([ParseStatus.OK] * 8 + [ParseStatus.CORRUPT, ParseStatus.CORRUPT, ParseStatus.ENCRYPTED]),
    st.lists(st.sampled_from("pqrstuv"), max_size=5).map(tuple),
    st.lists(
        st.tuples(st.sampled_from(["x.pdf", "y.pdf"]), st.lists(st.sampled_from("pqxyz"), max_size=3).map(tuple)),
        max_size=2,
    ).map(tuple),
)
ops = st.sampled_from([Op.UPSERT] * 6 + [Op.ACL] * 3 + [Op.DELETE] * 2 + [Op.ERASE])


def permissions(op):
    """A permission and its number: an upsert may bring none, or its source's default, which has number 0; most deletes
    bring no number either."""
    numbers = st.integers(0, 6)
    if op is Op.ACL:
        return st.tuples(st.sampled_from((*ACLS, *ACLS[:3])), numbers)
    if op is not Op.UPSERT:
        return st.tuples(st.sampled_from((None, None, None, *ACLS[:2])), st.sampled_from([0] * 7 + list(range(1, 7))))
    default = st.tuples(st.sampled_from([DEFAULT, DEFAULT, None]), st.just(0))
    return st.one_of(default, st.tuples(st.sampled_from((None, *ACLS, *ACLS[:3])), numbers))


@st.composite
def events(draw, number=0, docs=DOCS):
    """One event; equal contents of one version carry equal metadata, as one source's do."""
    op, doc = draw(ops), draw(st.sampled_from(docs))
    others = [None, None, None, *(d for d in docs if d != doc)]
    content = draw(contents) if op is Op.UPSERT else None
    acl, acl_version = draw(permissions(op))
    any_content = op is Op.ACL and draw(st.sampled_from([True, False, False]))
    return ChangeEvent(
        event_id=f"e{number}",
        tenant="t",
        source="s",
        doc_id=doc,
        op=op,
        version=0 if any_content else draw(st.integers(1, 7)),
        received_at=number,
        acl_version=acl_version,
        previous_doc_id=draw(st.sampled_from(others)) if op is Op.UPSERT else None,
        content=None if content is None else Inline(data=content.data),
        acl=acl,
        acl_missing=draw(st.sampled_from([None] * 5 + ["away"])) if op in {Op.UPSERT, Op.ACL} else None,
        metadata={} if content is None else {"words": "".join(content.words)},
    )


def histories(min_size=3, max_size=12, docs=DOCS):
    """Distinct events, in no order that matters."""
    return st.integers(min_size, max_size).flatmap(lambda n: st.tuples(*(events(i, docs) for i in range(n))))


WORDS = st.lists(st.sampled_from([f"w{number}" for number in range(30)]), min_size=1, max_size=20).map(tuple)


def upsert(words, number=1, doc="a", inside=(), **changes):
    """Version `number` of a document that all may read, with these words and parts inside it (name, words)."""
    fields = {
        "event_id": f"{doc}{number}",
        "tenant": "t",
        "source": "s",
        "doc_id": doc,
        "op": Op.UPSERT,
        "version": number,
        "received_at": number,
        "acl": ACLS[0],
        "acl_version": number,
        "content": Inline(data=Content(ParseStatus.OK, tuple(words), tuple(inside)).data),
    }
    return ChangeEvent(**(fields | changes))


def prepared(event):
    """What the stages make of an upsert's content: one chunk a word, a child for each part inside."""
    content = msgspec.json.decode(event.content.data, type=Content)
    readable = content.status is ParseStatus.OK
    return PreparedDocument(
        status=content.status,
        chunks=chunks_of(content.words) if readable else (),
        reason=None if content.status in {ParseStatus.OK, ParseStatus.EMPTY} else str(content.status),
        media_type="text/plain",
        parser="words 1",
        chunker="words 1",
        prefixer="none 1",
        children=tuple(child_of(name, words) for name, words in content.inside) if readable else (),
    )


def child_of(name, words):
    return PreparedDocument(
        status=ParseStatus.OK if words else ParseStatus.EMPTY, chunks=chunks_of(words), name=name, parser="parts 1"
    )


def chunks_of(words):
    seen, chunks = {}, []
    for block, word in enumerate(words):
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
    return tuple(chunks)
