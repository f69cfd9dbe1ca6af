"""Neutral filters in Qdrant Edge's words."""

from typing import cast

import qdrant_edge as edge

from upwell.lake.store.filters import AtMost, Condition, Ids, Match, PointFilter


def rendered(condition: PointFilter) -> edge.Filter:
    """The filter as the shard takes it."""
    return edge.Filter(must=[_one(c) for c in condition.must], must_not=[_one(c) for c in condition.must_not])


def _one(condition: Condition) -> edge.FieldCondition | edge.HasIdCondition | edge.Filter:
    if isinstance(condition, Match):
        values = cast("list[str] | list[int]", list(condition.values))
        return edge.FieldCondition(condition.field, match=edge.MatchAny(values))
    if isinstance(condition, AtMost):
        return edge.FieldCondition(condition.field, range=edge.RangeFloat(lte=condition.limit))
    if isinstance(condition, Ids):
        return edge.HasIdCondition(set(condition.point_ids))
    return edge.Filter(should=[_one(match) for match in condition.matches])
