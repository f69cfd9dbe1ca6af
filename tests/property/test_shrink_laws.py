"""Whatever is gone from a listing: little of it passes unasked, and nobody is asked for what is decided."""

from hypothesis import given
from hypothesis import strategies as st

from upwell.records import Acl
from upwell.sources.folder.records import Held, Observed, Verdict
from upwell.sources.folder.shrink import HANDFUL, judge

NAMES = [f"{number}.md" for number in range(60)]


def observed(doc_id):
    return Observed(
        doc_id=doc_id,
        path=doc_id,
        signature=(1, 1, 1),
        observed_at=1,
        sha256="",
        version=1,
        acl_version=1,
        acl=Acl(),
    )


@st.composite
def listings(draw):
    """What is known, what of it is gone, what was decided before, what was noticed."""
    present = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=60))
    gone = draw(st.lists(st.sampled_from(present), unique=True)) if present else []
    empty = draw(st.booleans()) if gone == present else False
    verdicts = st.sampled_from([Verdict.WAITS, Verdict.PASSES, Verdict.STAYS])
    decided = draw(st.dictionaries(st.sampled_from(NAMES), verdicts, max_size=30))
    held = {doc_id: Held(doc_id=doc_id, since=1, verdict=verdict) for doc_id, verdict in decided.items()}
    evidence = draw(st.frozensets(st.sampled_from(NAMES)))
    return present, gone, held, evidence, empty


@given(listings(), st.floats(0, 1))
def test_little_passes_unasked_and_the_rest_waits(listing, limit):
    present, gone, held, evidence, empty = listing
    judgement = judge(
        [observed(doc_id) for doc_id in gone], held, evidence, present=len(present), empty=empty, limit=limit
    )
    passes = {before.doc_id for before in judgement.passes}
    waits = {before.doc_id for before in judgement.waits}
    fresh = set(gone) - held.keys()
    assert not passes & waits
    assert fresh <= passes | waits <= fresh | (held.keys() & evidence)
    assert not waits & held.keys(), "what waits already does not begin to wait"
    assert not any(held[doc_id].verdict is Verdict.STAYS for doc_id in passes & held.keys())
    assert len(passes - evidence) <= max(HANDFUL, limit * len(present))
    if empty and len(present) > 1:
        assert not passes
    if not empty and len(gone) <= HANDFUL:
        assert not waits


@given(listings(), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_limit_never_lets_fewer_pass(listing, one, other):
    present, gone, held, evidence, empty = listing
    passes = [
        {
            before.doc_id
            for before in judge(
                [observed(doc_id) for doc_id in gone], held, evidence, present=len(present), empty=empty, limit=limit
            ).passes
        }
        for limit in sorted([one, other])
    ]
    assert passes[0] <= passes[1]
