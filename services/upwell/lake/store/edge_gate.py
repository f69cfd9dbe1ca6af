"""All that a governed filter asks of a point, in one indexed keyword list.

An index costs Edge two dozen file syncs a flush, so seven of them made two thirds of its time. Here each value carries
the mark of its field (`0|group:eng`, `n|1`), and the alternatives of the filter become one match each.
"""

from upwell.lake.store.filters import Condition, Either, Match, PointFilter
from upwell.lake.store.points import Fields
from upwell.records import DocKey

GATE = "gate"
MARKS = {"tenant": "t", "source": "s", "acl_n": "n", "allow_0": "0", "allow_1": "1", "allow_2": "2", "deny": "-"}


def gate_of(key: DocKey, fields: Fields) -> list[str]:
    """The list for a point of this document with these copied fields. Missing permissions give no mark: nobody."""
    marked = [_marked("tenant", key.tenant), _marked("source", key.source)]
    for field in ("acl_n", "allow_0", "allow_1", "allow_2", "deny"):
        value = fields.get(field)
        marked += [_marked(field, one) for one in (value if isinstance(value, list) else [value]) if one is not None]
    return marked


def gated(condition: PointFilter) -> PointFilter:
    """The same filter, asked of the list. Raises ValueError for an alternative that the list does not hold."""
    return PointFilter(must=tuple(_one(c) for c in condition.must), must_not=tuple(_one(c) for c in condition.must_not))


def _one(condition: Condition) -> Condition:
    if isinstance(condition, Match) and condition.field in MARKS:
        return _match([condition])
    if isinstance(condition, Either):
        if any(match.field not in MARKS for match in condition.matches):
            raise ValueError(condition)
        return _match(list(condition.matches))
    return condition


def _match(alternatives: list[Match]) -> Match:
    return Match(field=GATE, values=tuple(_marked(m.field, value) for m in alternatives for value in m.values))


def _marked(field: str, value: str | int) -> str:
    return f"{MARKS[field]}|{value}"
