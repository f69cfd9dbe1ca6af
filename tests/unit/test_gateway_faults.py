"""Where the fault is the gateway's own: its log says why, whoever sends learns when to come again and nothing else."""

from contextlib import closing

import pytest

from gateways import Gate
from upwell.errors import Misconfigured, Retryable

HELLO = {"doc_id": "a.md", "op": "delete", "version": 1}


@pytest.fixture
def gate():
    with closing(Gate()) as made:
        yield made


@pytest.mark.parametrize("kind", [Retryable, Misconfigured])
def test_where_our_parts_are_is_logged_and_not_told(gate, caplog, kind):
    gate.sink.trouble = kind("the registry refuses 10.1.2.3, user upwell")
    answer = gate.post(HELLO)
    assert answer.status_code >= 500
    assert "10.1.2.3" not in answer.text
    assert any(record.values.get("why") == "the registry refuses 10.1.2.3, user upwell" for record in caplog.records)


def test_the_log_says_which_hook_was_refused_and_repeats_no_name_that_is_not_set_up(gate, caplog):
    gate.hook("bucket", b"{}", {"X-Signature-256": "wrong"})
    gate.hook("words of a stranger", b"{}", {})
    assert [record.values["source"] for record in caplog.records] == ["bucket", "unknown"]
