"""Which dead letters are meant, and that nobody means all of them by accident."""

import msgspec
import pytest
import typer

from upwell.answers import DeadFilter
from upwell.cli.dead_filter import meant
from upwell.cli.moments import moment_us
from upwell.errors import Misconfigured, NotFound
from upwell.ports import DeadLetter
from upwell.runtime.dead_letters import matching

FIRST = DeadLetter(
    id=1, tenant="t", source="docs", doc_id="a/b.pdf", stage="parse", reason="corrupt", detail="", attempts=1, at=100
)
SECOND = msgspec.structs.replace(FIRST, id=2, source="mail", doc_id="b.pdf", reason="encrypted", at=200)
THIRD = msgspec.structs.replace(FIRST, id=3, tenant="u", doc_id="c.docx", stage="embed", at=300)
LETTERS = [THIRD, FIRST, SECOND]
DAY_US = 86_400_000_000


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        (DeadFilter(), [1, 2, 3]),
        (DeadFilter(ids=(3, 1)), [1, 3]),
        (DeadFilter(tenant="t"), [1, 2]),
        (DeadFilter(source="docs"), [1, 3]),
        (DeadFilter(doc="*.pdf"), [1, 2]),
        (DeadFilter(doc="B.pdf"), []),
        (DeadFilter(stage="embed"), [3]),
        (DeadFilter(reason="corrupt"), [1, 3]),
        (DeadFilter(since=200), [2, 3]),
        (DeadFilter(before=200), [1]),
        (DeadFilter(limit=2), [1, 2]),
        (DeadFilter(limit=0), []),
        (DeadFilter(source="docs", tenant="t", reason="corrupt", before=101, limit=5), [1]),
        (DeadFilter(ids=(1,), source="mail"), []),
    ],
)
def test_every_criterion_narrows_and_the_oldest_come_first(which, ids):
    assert [letter.id for letter in matching(LETTERS, which)] == ids


def test_an_id_that_there_is_not_is_named():
    with pytest.raises(NotFound, match="no dead letter 9"):
        matching(LETTERS, DeadFilter(ids=(1, 9)))


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("90m", 10 * DAY_US - 5_400_000_000),
        ("2w", -4 * DAY_US),
        ("1970-01-03", 2 * DAY_US),
        ("1970-01-03T00:00:01Z", 2 * DAY_US + 1_000_000),
        ("1970-01-03T01:00:00+01:00", 2 * DAY_US),
    ],
)
def test_a_moment_is_a_length_of_time_ago_or_a_date(text, us):
    assert moment_us(text, 10 * DAY_US) == us


@pytest.mark.parametrize("text", ["", "7", "7 days", "-1d", "tomorrow", "1d1h"])
def test_another_word_is_no_moment(text):
    with pytest.raises(typer.BadParameter, match="length of time"):
        moment_us(text, 0)


def test_discarding_wants_a_choice_and_a_limit_is_none():
    for which in (DeadFilter(), DeadFilter(limit=3)):
        with pytest.raises(Misconfigured, match="say which"):
            meant(which, None, everything=False, command="discard")
    assert meant(DeadFilter(), [7], everything=False, command="discard") == DeadFilter(ids=(7,))
    assert meant(DeadFilter(limit=3), None, everything=True, command="discard") == DeadFilter(limit=3)


def test_all_and_some_exclude_each_other():
    with pytest.raises(Misconfigured, match="--all"):
        meant(DeadFilter(source="docs"), None, everything=True, command="discard")
    with pytest.raises(Misconfigured, match="--all"):
        meant(DeadFilter(), [1], everything=True, command="replay", default_all=True)


def test_replaying_without_a_choice_is_all():
    assert meant(DeadFilter(), None, everything=False, command="replay", default_all=True) == DeadFilter()
