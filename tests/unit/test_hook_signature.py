"""Who sent it: HMAC in all its spellings, the shown secret, and nothing else."""

import base64
import hmac
import json

import pytest

from gateways import webhooks
from upwell.sources.hooks import Delivery, genuine

SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"
DIGEST = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"  # published by GitHub for these two


def of(hook="hmac", secret=SECRET, body=BODY, header="X-Signature-256", **headers):
    named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return genuine(Delivery(headers=named, body=body), hook, secret, header)


@pytest.mark.parametrize(
    "value",
    [
        DIGEST,
        f"sha256={DIGEST}",
        f"SHA256={DIGEST.upper()}",
        base64.b64encode(bytes.fromhex(DIGEST)).decode(),
        "sha256=" + base64.b64encode(bytes.fromhex(DIGEST)).decode(),
    ],
)
def test_each_spelling_of_a_signature_is_read(value):
    assert of(X_Signature_256=value)


@pytest.mark.parametrize(
    "value", ["", "sha256=", DIGEST[:-2], DIGEST + "00", "é", "sha256=" + "g" * 64, "=" * 44, "\udcff"]
)
def test_what_is_no_signature_of_the_body_proves_nothing(value):
    assert not of(X_Signature_256=value)


def test_another_body_or_header_is_not_signed():
    assert not of(body=BODY + b"!", X_Signature_256=DIGEST)
    assert not of(header="X-Other", X_Signature_256=DIGEST)


def test_an_empty_secret_proves_nothing():
    assert not of(secret="", X_Signature_256=hmac.digest(b"", BODY, "sha256").hex())
    assert not of(hook="s3", secret="", Authorization="")


@pytest.mark.parametrize("value", [f"Bearer {SECRET}", f"bearer {SECRET}", SECRET])
@pytest.mark.parametrize("hook", ["s3", "cloudevents"])
def test_senders_that_cannot_sign_may_show_the_secret(hook, value):
    assert of(hook=hook, Authorization=value)
    assert of(hook=hook, X_Signature_256=DIGEST)


@pytest.mark.parametrize("value", ["Bearer wrong", "wrong", "Bearer ", "", f"Basic {SECRET}", "Bearer é\udcff"])
def test_a_wrong_secret_is_refused(value):
    assert not of(hook="s3", Authorization=value)


def test_a_generic_sender_must_sign():
    assert not of(hook="hmac", Authorization=f"Bearer {SECRET}")


def test_published_vectors_of_plain_hmac_senders():
    """GitHub, Notion and Atlassian sign the raw body alone: what our generic hook takes."""
    headers = {"github": "X-Hub-Signature-256", "notion": "X-Notion-Signature"}
    held = 0
    for vector in json.loads((webhooks() / "signatures" / "vectors.json").read_text()):
        scheme = vector["scheme"].split()[0]
        header = headers.get(scheme, "X-Hub-Signature" if scheme == "atlassian" else None)
        if header is None:
            continue
        named = {name.lower(): value for name, value in vector["headers"].items()}
        delivery = Delivery(headers=named, body=vector["body"].encode())
        answer = genuine(delivery, "hmac", vector["secret"], header)
        assert vector["valid"] in (answer, None), vector
        held += 1
    assert held >= 8
