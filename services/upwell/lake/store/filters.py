"""The store's filters in one neutral form that each adapter renders in its vendor's own words.

The shape is flat on purpose: conjunctions of field matches, and alternatives of field matches. Booleans, `IsEmpty` and
nested conditions are left out because Qdrant Edge answers them wrongly or slowly; a filter that cannot be written here
should be a counted integer in the payload instead.
"""

from collections.abc import Set as AbstractSet

from upwell.ports import StoreQuery
from upwell.records import DocKey, Record


class Match(Record, frozen=True, kw_only=True, tag="match"):
    """The field holds one of these values (a list field: shares one of them)."""

    field: str
    values: tuple[str | int, ...]


class AtMost(Record, frozen=True, kw_only=True, tag="at_most"):
    """The integer field is there and not above `limit`."""

    field: str
    limit: int


class Ids(Record, frozen=True, kw_only=True, tag="ids"):
    """The point is one of these."""

    point_ids: tuple[str, ...]


class Either(Record, frozen=True, kw_only=True, tag="either"):
    """One of the matches holds."""

    matches: tuple[Match, ...]


Condition = Match | AtMost | Ids | Either


class PointFilter(Record, frozen=True, kw_only=True):
    """All of `must` hold and none of `must_not`."""

    must: tuple[Condition, ...]
    must_not: tuple[Condition, ...] = ()


def governed(query: StoreQuery) -> PointFilter:
    """What this reader may see of this tenant, less what the re-check has refused.

    The ACL part is the filter of `access.payload_of`. A point without ACL fields matches no reader, and a
    reader without principals matches no point.
    """
    admitted = readable(query)
    must, must_not = list(admitted.must), list(admitted.must_not)
    if query.sources:
        must.append(Match(field="source", values=tuple(sorted(query.sources))))
    if query.exclude_points:
        must_not.append(Ids(point_ids=tuple(sorted(query.exclude_points))))
    if query.exclude_documents:
        must_not.append(Match(field="doc", values=tuple(sorted(key.digest for key in query.exclude_documents))))
    return PointFilter(must=tuple(must), must_not=tuple(must_not))


def readable(query: StoreQuery) -> PointFilter:
    """All that this reader may see of this tenant: the population of their term statistics.

    Of anything more, the scores of what they see would tell how often a word stands in what they do not.
    """
    principals = tuple(sorted(query.reader))
    return PointFilter(
        must=(
            Match(field="tenant", values=(query.tenant,)),
            Match(field="allow_0", values=principals),
            Either(matches=(Match(field="acl_n", values=(1,)), Match(field="allow_1", values=principals))),
            Either(matches=(Match(field="acl_n", values=(1, 2)), Match(field="allow_2", values=principals))),
        ),
        must_not=(Match(field="deny", values=principals),),
    )


def of_document(key: DocKey) -> PointFilter:
    """Every point of the document."""
    return PointFilter(must=(Match(field="doc", values=(key.digest,)),))


def older_than_row(key: DocKey, rev: int) -> PointFilter:
    """The document's points whose copied fields come from a row revision below `rev`."""
    return PointFilter(must=(*of_document(key).must, AtMost(field="rev", limit=rev - 1)))


def superseded(key: DocKey, generation: int, live: AbstractSet[str]) -> PointFilter:
    """The document's points born by `generation` that are not `live`."""
    must = (*of_document(key).must, AtMost(field="born", limit=generation))
    return PointFilter(must=must, must_not=(Ids(point_ids=tuple(sorted(live))),) if live else ())
