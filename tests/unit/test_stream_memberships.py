"""Memberships through the log: by their principal's key, large ones by the blob store, in force when control has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stream_lake import StreamLake
from upwell.access import Asker
from upwell.errors import Reason, Rejected
from upwell.messages import Member
from upwell.ports import Fate
from upwell.records import ENCODER, DocKey, Membership, Outcome
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import DIRECTORY, UNREAD, decode, encode
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.memberships import StreamMemberships

MEMBER = Membership(tenant="acme", principal="user:ana", version=5, member_of=frozenset({"group:eng", "group:é"}))
KEY = topics.key_of(MEMBER.key)
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@pytest.fixture
def world(tmp_path):
    made = StreamLake(tmp_path / "lake")
    yield made
    made.close()


def test_a_principals_key_is_a_json_array_of_tenant_and_principal():
    assert KEY == b'["acme","user:ana"]'


@given(
    st.builds(
        Membership,
        tenant=names,
        principal=names,
        version=st.integers(0, 2**53 - 1),
        member_of=st.frozensets(names, max_size=5),
        gone=st.booleans(),
        received_at=st.integers(0, 2**53 - 1),
    )
)
def test_a_membership_comes_back_as_it_was_sent(member):
    value, headers = encode(Member(membership=member), limit_bytes=100_000, blobs=None)
    key = topics.key_of(member.key)
    assert decode(value, headers, topics.PRINCIPALS, key=key, blobs=None) == Member(membership=member)


def test_one_that_is_too_large_for_the_log_goes_by_its_principals_own_blob(world):
    large = replace(MEMBER, member_of=frozenset(f"group:{number}" for number in range(50_000)))
    blobs = world.log.blobs
    value, headers = encode(Member(membership=large), limit_bytes=100_000, blobs=blobs)
    assert len(value) < 1000
    assert decode(value, headers, topics.PRINCIPALS, key=KEY, blobs=blobs) == Member(membership=large)
    other = DocKey(tenant=UNREAD.tenant, source=DIRECTORY, doc_id=replace(MEMBER, principal="user:eve").key.canonical)
    elsewhere = ENCODER.encode(blobs.put(other, ENCODER.encode(Member(membership=large)), 5))
    with pytest.raises(Rejected, match="not its document's"):
        decode(elsewhere, headers, topics.PRINCIPALS, key=KEY, blobs=blobs)


@pytest.mark.parametrize(
    ("member", "key", "reason"),
    [
        (MEMBER, b'["acme","user:eve"]', Reason.INVALID_EVENT),
        (MEMBER, None, Reason.INVALID_EVENT),
        (replace(MEMBER, schema=9), KEY, Reason.UNKNOWN_SCHEMA),
        (replace(MEMBER, version=2**53), KEY, Reason.INVALID_EVENT),
        (replace(MEMBER, member_of=frozenset({"group:a\0"})), KEY, Reason.INVALID_EVENT),
        (replace(MEMBER, member_of=frozenset({"g" * 256})), KEY, Reason.INVALID_EVENT),
        (replace(MEMBER, principal=""), b'["acme",""]', Reason.INVALID_EVENT),
    ],
)
def test_what_is_no_sound_membership_is_rejected(member, key, reason):
    with pytest.raises(Rejected) as refused:
        decode(ENCODER.encode(Member(membership=member)), [], topics.PRINCIPALS, key=key, blobs=None)
    assert refused.value.reason is reason
    assert "ana" not in str(refused.value)


def test_what_is_told_is_in_force_when_control_has_read_it_and_ends_no_event(world):
    sink = StreamMemberships(world.producer, world.registry.directory)
    world.producer.working = False
    sink.put(MEMBER)
    assert (sink.version("acme", "user:ana"), sink.effective(MEMBER, 0.02)) == (-1, False)
    world.work()
    assert sink.effective(MEMBER, 0)
    standing = world.registry.standing(Asker(tenant="acme", principals=frozenset({"user:ana"})))
    assert {"group:eng", "group:é"} <= standing.principals
    assert world.ledger.outcomes() == {}


def test_an_older_one_that_comes_later_changes_nothing(world):
    sink = StreamMemberships(world.producer, world.registry.directory)
    sink.put(MEMBER)
    sink.put(replace(MEMBER, version=4, gone=True, member_of=frozenset()))
    assert [told.member_of for told in world.registry.directory.members("acme")] == [MEMBER.member_of]


def test_one_that_the_directory_refuses_is_a_dead_letter_and_stops_nothing(world):
    in_a_user = replace(MEMBER, member_of=frozenset({"user:eve"}))
    world.log.send(Outgoing(topic=topics.PRINCIPALS, key=in_a_user.key, message=Member(membership=in_a_user)))
    world.work()
    (letter,) = world.log.messages(topics.DEAD)
    assert (letter.fate.reason, letter.event) == (Reason.INVALID_EVENT, None)
    assert letter.raw == ENCODER.encode(Member(membership=in_a_user))
    StreamMemberships(world.producer, world.registry.directory).put(MEMBER)
    assert world.registry.directory.version("acme", "user:ana") == MEMBER.version


def test_an_unsound_one_is_not_sent(world):
    with pytest.raises(Rejected):
        StreamMemberships(world.producer, world.registry.directory).put(replace(MEMBER, tenant=""))
    assert world.log.messages(topics.PRINCIPALS) == []


def test_what_is_given_up_says_why(world):
    fate = Fate(outcome=Outcome.DEAD, reason="attempts_exhausted", stage="upsert")
    (outgoing,) = world.handlers.control.reject(Member(membership=MEMBER), fate)
    assert (outgoing.topic, outgoing.key, outgoing.message.fate) == (topics.DEAD, MEMBER.key, fate)
