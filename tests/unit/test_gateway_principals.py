"""The gateway's directory: who may feed it, what it takes, which version counts, and waiting until it is in force."""

import json
import threading
from contextlib import closing

import pytest
from pydantic import ValidationError

from gateways import DIRECTORY_KEY, KEY, NOW, Gate
from leaving import leaving
from upwell.config import KeySettings
from upwell.errors import Overloaded, Retryable
from upwell.records import Membership
from upwell.runtime.gateway.principals import BODY_BYTES
from upwell.sources.memberships import MOST_GROUPS

STAFF = {"member_of": ["group:staff", "group:eng"]}


@pytest.fixture
def gate():
    with leaving(Gate()) as made:
        yield made


def test_a_membership_is_taken_for_the_keys_own_tenant(gate):
    answer = gate.tell("user:ana", STAFF)
    assert (answer.status_code, answer.json()) == (
        202,
        {"principal": "user:ana", "version": NOW, "effective": None},
    )
    assert gate.memberships.told == [
        Membership(
            tenant="acme",
            principal="user:ana",
            version=NOW,
            member_of=frozenset({"group:staff", "group:eng"}),
            received_at=NOW,
        )
    ]


def test_versions_that_are_left_out_grow_while_the_clock_stands(gate):
    versions = [gate.tell("user:ana", STAFF).json()["version"] for _ in range(3)]
    assert versions == [NOW, NOW + 1, NOW + 2]


def test_a_version_that_is_left_out_is_above_the_known_one(gate):
    gate.tell("user:ana", {**STAFF, "version": NOW + 500})
    assert gate.tell("user:ana", {"member_of": []}).json()["version"] == NOW + 501
    assert gate.tell("user:ana").json()["version"] == NOW + 502


def test_delete_and_gone_say_the_same(gate):
    assert gate.tell("user:ana").status_code == gate.tell("user:bob", {"gone": True}).status_code == 202
    assert [(told.principal, told.gone, told.member_of) for told in gate.memberships.told] == [
        ("user:ana", True, frozenset()),
        ("user:bob", True, frozenset()),
    ]


def test_a_name_with_a_slash_or_a_blank_is_one_name(gate):
    gate.tell("group:eng/core team", {})
    assert gate.memberships.told[0].principal == "group:eng/core team"


@pytest.mark.parametrize(("key", "status"), [(None, 401), ("wrong", 401), (KEY, 403), ("astray", 403)])
def test_only_a_directorys_key_may_feed_it(gate, key, status):
    assert gate.tell("user:ana", STAFF, key=key).status_code == status
    assert gate.tell("user:ana", key=key).status_code == status
    assert gate.memberships.told == []


def test_a_directorys_key_brings_no_events(gate):
    body = {"doc_id": "a.md", "op": "delete"}
    assert gate.post(body, key=DIRECTORY_KEY).status_code == 403
    assert gate.sink.events == {}


def test_a_key_that_may_nothing_is_misconfigured():
    with pytest.raises(ValidationError, match="names its source"):
        KeySettings(sha256="0" * 64)


@pytest.mark.parametrize(
    ("principal", "body"),
    [
        ("ana", STAFF),
        ("everyone", STAFF),
        ("user:", STAFF),
        ("user: ana", STAFF),
        ("user:an\x1ba", STAFF),
        ("user:" + "a" * 196, STAFF),
        ("team:eng", STAFF),
        ("user:ana", {"member_of": ["user:eve"]}),
        ("user:ana", {"member_of": ["everyone"]}),
        ("user:ana", {"member_of": ["group:a\x00b"]}),
        ("user:ana", {"member_of": ["group:\u202eb"]}),
        ("user:ana", {"member_of": "group:eng"}),
        ("user:ana", {"member_of": ["group:eng"], "gone": True}),
        ("user:ana", {"version": -1}),
        ("user:ana", {"version": 2**53}),
        ("user:ana", {"tenant": "other"}),
        ("user:ana", {"groups": ["group:eng"]}),
        ("user:ana", b"{"),
        ("user:ana", b'{"member_of": ["group:\xff"]}'),
        ("user:ana", b"[]"),
        ("user:ana", b"[" * 100_000),
    ],
)
def test_what_is_no_membership_is_422_and_nothing_is_taken(gate, principal, body):
    answer = gate.tell(principal, body)
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_event")
    assert gate.memberships.told == []


def test_a_hundred_thousand_groups_are_taken_and_not_one_more(gate):
    groups = [f"group:{number}" for number in range(MOST_GROUPS + 1)]
    assert gate.tell("user:ana", {"member_of": groups}).status_code == 422
    assert gate.tell("user:ana", {"member_of": groups[:-1]}).status_code == 202
    assert len(gate.memberships.told[0].member_of) == MOST_GROUPS


def test_a_body_over_the_limit_is_413(gate):
    assert gate.tell("user:ana", b" " * (BODY_BYTES + 1)).status_code == 413


def test_waiting_answers_when_it_is_in_force_or_when_time_is_up(gate):
    gate.memberships.late = True
    pending = gate.tell("user:ana", STAFF, query="?wait=applied&timeout_s=0")
    assert (pending.status_code, pending.json()["effective"]) == (202, False)
    threading.Timer(0.05, gate.memberships.catch_up).start()
    answer = gate.tell("user:ana", query="?wait=applied")
    assert (answer.status_code, answer.json()["effective"]) == (200, True)


def test_something_newer_in_force_ends_the_wait(gate):
    gate.tell("user:ana", {**STAFF, "version": 7})
    answer = gate.tell("user:ana", {"version": 5}, query="?wait=applied")
    assert (answer.status_code, answer.json()) == (200, {"principal": "user:ana", "version": 5, "effective": True})


def test_who_waits_is_answered_when_the_gateway_closes():
    answers = []
    with closing(Gate()) as gate:
        gate.memberships.late = True
        ask = threading.Thread(
            target=lambda: answers.append(gate.tell("user:ana", STAFF, query="?wait=applied&timeout_s=60"))
        )
        ask.start()
        while not gate.memberships.told:
            ask.join(0.01)
        gate.end()
        ask.join(10)
    assert [(answer.status_code, answer.json()["effective"]) for answer in answers] == [(202, False)]


@pytest.mark.parametrize(("trouble", "status"), [(Overloaded("full", 2.0), 429), (Retryable("away"), 503)])
def test_trouble_behind_it_says_when_to_come_again(gate, trouble, status):
    gate.memberships.trouble = trouble
    answer = gate.tell("user:ana", STAFF)
    assert (answer.status_code, "Retry-After" in answer.headers) == (status, True)


def test_the_routes_are_in_the_documentation(gate):
    paths = json.loads(gate.http.get("/openapi.json").content)["paths"]
    assert set(paths["/v1/principals/{principal}"]) == {"put", "delete"}
