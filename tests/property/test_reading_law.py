"""What a reader may not see leaves no trace in any answer: a lake with it and one without it answer alike."""

import tempfile
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from readings import PUBLIC, SECRET, START, Library, who
from upwell.errors import Misconfigured, NotFound
from upwell.records import Acl

NAMES = ("a.md", "b.md", "dir/c.md")
SOURCES = ("wiki", "mail")
READER = who("user:ana")
MINE = Acl(levels=(frozenset({"user:ana"}),))
DENIED = Acl(levels=(frozenset({"everyone"}),), deny=frozenset({"user:ana"}))
NEVER = (SECRET, Acl(), DENIED, Acl(levels=(frozenset({"everyone"}), frozenset({"group:board"}))))
WORDS = ("larch", "maple", "alder", "birch", "hazel", "rowan")


@st.composite
def steps(draw):
    """One change: a publish or a delete of a document; whether the reader may ever see that document is its name's
    and source's lot, drawn once for each."""
    body = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)))
    links = " ".join(f"[x]({'/' + draw(st.sampled_from(NAMES))})" for _ in range(draw(st.integers(0, 2))))
    return (
        draw(st.sampled_from(("publish", "publish", "publish", "delete"))),
        draw(st.sampled_from(NAMES)),
        draw(st.sampled_from(SOURCES)),
        f"# {draw(st.sampled_from(WORDS))}\n\n{body}\n\n{links}\n",
    )


def play(lake, history, acls, *, hidden):
    """The history at its own times; without the documents of the hidden unless they are wanted."""
    published = set()
    for number, (what, name, source, text) in enumerate(history, start=1):
        acl = acls[name, source]
        if not hidden and acl in NEVER:
            continue
        lake.at(number)
        if what == "publish":
            lake.publish(name, text, source=source, acl=acl)
            published.add((name, source))
        elif (name, source) in published:
            lake.delete(name, source=source)
    lake.now = START + 3_600_000_000
    for source in SOURCES:
        lake.status(source)


def answers(lake):
    """Every method's answer on everything that could be asked, errors as their words; times of asking left out."""
    reading, found = lake.reading, {}
    asked = [(name, source) for name in (*NAMES, "no.md", "a.md!/x") for source in (None, *SOURCES, "none")]
    for name, source in asked:
        for ask in (reading.fetch, reading.outline, reading.related):
            found[ask.__name__, name, source] = answer(ask, name, reader=READER, source=source)
    for sources in (frozenset(), frozenset({"mail"})):
        found["changes", sources] = answer(reading.changes, "2020-01-01T00:00:00Z", reader=READER, sources=sources)
        for word in WORDS:
            found["search", word, sources] = answer(reading.search, word, reader=READER, sources=sources, k=20)
    found["sources"] = answer(reading.sources, reader=READER)
    return found


def answer(ask, *args, **how):
    try:
        made = msgspec.to_builtins(ask(*args, **how))
    except (NotFound, Misconfigured) as e:
        return type(e).__name__, str(e)
    del made["as_of"]
    return {name: value for name, value in made.items() if not (name == "next" and "changes" in made)}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    history=st.lists(steps(), min_size=1, max_size=10),
    acls=st.fixed_dictionaries(
        {(name, source): st.sampled_from((PUBLIC, MINE, *NEVER)) for name in NAMES for source in SOURCES}
    ),
)
def test_a_lake_with_hidden_documents_answers_as_one_without_them(history, acls):
    """Ids, links, copies, sources, counts, pages, scores: nothing differs."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        with_them, without = Library(Path(one)), Library(Path(other))
        try:
            play(with_them, history, acls, hidden=True)
            play(without, history, acls, hidden=False)
            assert answers(with_them) == answers(without)
        finally:
            with_them.close()
            without.close()
