"""The same laws with the registry in PostgreSQL: fewer histories, each place of a publish, and real threads."""

import pytest
import test_laws_histories
from test_laws_cost import (  # noqa: F401
    test_a_delete_leaves_no_point_and_the_way_back_is_new_points,
    test_a_move_embeds_nothing_and_leaves_no_point,
    test_a_sweep_finishes_what_a_crash_left,
    test_an_edit_embeds_only_what_is_new,
    test_erased_words_leave_the_registry,
    test_every_hit_knows_where_it_comes_from,
    test_what_a_crash_left_is_not_embedded_again,
)
from test_laws_histories import test_a_storm_of_histories_leaks_loses_and_mixes_nothing  # noqa: F401
from test_laws_passages import (  # noqa: F401
    passages,
    test_a_publish_that_ends_inside_a_search_is_seen_whole,
    test_a_rival_at_any_passage_of_an_edit,
)
from test_laws_threads import test_threads_that_race_end_in_the_same_lake  # noqa: F401
from world import tick

from upwell.lake.registry import SqlRegistry

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def registry(postgres):
    """One registry for a module; each example has a tenant of its own."""
    found = SqlRegistry.at(postgres.url(), tick)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(test_laws_histories, "SEARCHES_A_RUN", 500)
