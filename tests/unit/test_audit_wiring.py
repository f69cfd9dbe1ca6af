"""How processes come by their audit: where it lies, who empties the outbox, and with which key it is sealed."""

from contextlib import closing

import pytest

from upwell import wiring
from upwell.audit.records import AuditFilter
from upwell.config import Settings
from upwell.errors import Misconfigured
from upwell.identity.own_key import LakeKey, signing_key_of
from upwell.lake.registry import SqlRegistry
from upwell.metrics import Metrics
from upwell.ports import Act, AppliedEntry
from upwell.records import DocKey, Outcome
from upwell.runtime.meter import exposed
from upwell.wiring import opening
from upwell.wiring.workers import draining


@pytest.fixture
def distributed(tmp_path):
    """A distributed lake's settings, its databases in a folder."""
    return Settings(lake=tmp_path / "lake", brokers="127.0.0.1:1")


def applied(settings, outcome=Outcome.APPLIED, detail=""):
    """Something that was published."""
    key = DocKey(tenant="t", source="s", doc_id="a")
    settings.lake.mkdir(exist_ok=True)
    with closing(SqlRegistry.at(settings.lake / "registry.sqlite")) as registry:
        registry.record(
            AppliedEntry(
                key=key, at=1, event_id="e", op="upsert", version=7, acl_version=0, outcome=outcome, detail=detail
            )
        )


def audited(settings):
    """The acts in the audit."""
    with closing(wiring.audit(settings)) as records:
        return [line.entry for line in records.lines(AuditFilter(tenant="t"))]


@pytest.mark.parametrize(
    ("outcome", "detail", "reason"),
    [
        (Outcome.APPLIED, "", None),
        (Outcome.DEAD, "corrupt", "corrupt"),
        (Outcome.DEAD, "words of the document", None),
        (Outcome.SUPERSEDED, "", None),
    ],
)
def test_the_ledgers_worker_writes_down_what_was_published_without_words(distributed, outcome, detail, reason):
    with draining(distributed):
        applied(distributed, outcome, detail)
    (entry,) = audited(distributed)
    assert (entry["act"], entry["actor"], entry["version"]) == (Act.PUBLISH, "source:s", 7)
    assert entry["document"] == {"tenant": "t", "source": "s", "doc_id": "a"}
    assert entry.get("outcome", "ok") == str(outcome)
    assert entry.get("reason") == reason


def test_what_the_audit_is_owed_is_counted_in_status_and_metrics(distributed):
    applied(distributed)
    with closing(SqlRegistry.at(distributed.lake / "registry.sqlite")) as registry:
        assert registry.outbox.length() == 1
        assert b"upwell_audit_owed 1.0" in exposed(Metrics(), list, registry.outbox.length)
        with draining(distributed):
            pass
        assert registry.outbox.length() == 0
        assert b"upwell_audit_owed 0.0" in exposed(Metrics(), list, registry.outbox.length)


def test_a_distributed_process_signs_only_with_a_key_that_it_finds(distributed):
    assert opening.audit_signer(distributed)() is None
    assert opening.audit_verifier(distributed) is None
    embedded = Settings(lake=distributed.lake)
    assert opening.audit_signer(embedded)().kid == opening.audit_signer(distributed)().kid


def test_records_are_checked_with_the_lakes_keys_older_ones_too(tmp_path):
    settings = Settings(lake=tmp_path / "lake")
    signer = opening.audit_signer(settings)()
    signature = signer.sign(b"data")
    LakeKey(signing_key_of(settings)).rotate()
    verified = opening.audit_verifier(settings)
    assert verified(signer.kid, b"data", signature) is True
    assert verified(signer.kid, b"other", signature) is False
    assert verified("stranger", b"data", signature) is None


def test_a_lake_whose_audit_is_gone_says_so(tmp_path):
    with pytest.raises(Misconfigured, match="no audit"):
        wiring.audit(Settings(lake=tmp_path))
