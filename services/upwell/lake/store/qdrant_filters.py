"""Neutral filters in qdrant-client's words."""

from typing import cast

from qdrant_client import models

from upwell.lake.store.filters import AtMost, Condition, Ids, Match, PointFilter


def rendered(condition: PointFilter) -> models.Filter:
    """The filter as the client takes it."""
    return models.Filter(must=[_one(c) for c in condition.must], must_not=[_one(c) for c in condition.must_not])


def _one(condition: Condition) -> models.Condition:
    if isinstance(condition, Match):
        return models.FieldCondition(
            key=condition.field, match=models.MatchAny(any=cast("list[str] | list[int]", list(condition.values)))
        )
    if isinstance(condition, AtMost):
        return models.FieldCondition(key=condition.field, range=models.Range(lte=condition.limit))
    if isinstance(condition, Ids):
        return models.HasIdCondition(has_id=list(condition.point_ids))
    return models.Filter(should=[_one(match) for match in condition.matches])
