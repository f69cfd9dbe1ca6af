"""KEDA's and the Prometheus operator's objects are valid by the definitions that those projects publish as modules."""

import functools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import jsonschema
import pytest
import yaml

from deployment import of_kind
from needs import missing

pytestmark = pytest.mark.integration

KEDA = "github.com/kedacore/keda/v2@v2.18.0"
OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.88.0"
DEFINITIONS = {
    "ScaledObject": (KEDA, "config/crd/bases/keda.sh_scaledobjects.yaml"),
    "PodMonitor": (OPERATOR, "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"),
    "ServiceMonitor": (OPERATOR, "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"),
}


@functools.cache
def module(name):
    """The folder of a Go module, fetched once into Go's own cache."""
    if shutil.which("go") is None:
        missing("Go, which fetches the definitions of custom resources")
    with tempfile.TemporaryDirectory() as empty:
        command = ["go", "mod", "download", "-json", name]
        done = subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        missing(f"the Go module {name}: {done.stdout.strip()} {done.stderr.strip()}")
    return Path(json.loads(done.stdout)["Dir"])


def schema(kind, api_version):
    """The schema of one version of a kind, closed: a field that it does not name is an error."""
    name, path = DEFINITIONS[kind]
    definition = yaml.safe_load((module(name) / path).read_text())["spec"]
    group, version = api_version.split("/")
    assert definition["group"] == group
    (found,) = (v["schema"]["openAPIV3Schema"] for v in definition["versions"] if v["name"] == version)
    found["properties"]["metadata"]["x-kubernetes-preserve-unknown-fields"] = True
    return closed(found)


def closed(part):
    """The schema with `additionalProperties: false` wherever fields are listed, as an API server prunes."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    inner = {name: closed(value) for name, value in part.items()}
    listed = part.get("type") == "object" and "properties" in part
    if listed and "additionalProperties" not in part and not part.get("x-kubernetes-preserve-unknown-fields"):
        inner["additionalProperties"] = False
    return inner


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_objects_are_valid(kind):
    objects = of_kind(kind)
    assert objects
    for found in objects.values():
        jsonschema.validate(found, schema(kind, found["apiVersion"]))


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_a_field_that_does_not_exist_is_refused(kind):
    """The schema is asked in earnest."""
    found = next(iter(of_kind(kind).values()))
    wrong = {**found, "spec": {**found["spec"], "intervall": "15s"}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema(kind, found["apiVersion"]))


def test_keda_reads_every_field_of_the_kafka_triggers():
    """A trigger's fields are free text in the definition: only the scaler's source says which it reads."""
    source = (module(KEDA) / "pkg/scalers/kafka_scaler.go").read_text()
    constants = dict(re.findall(r'(\w+MetricName)\s*=\s*"(\w+)"', source))
    read = {constants.get(name, name) for name in re.findall(r'TriggerMetadata\["?(\w+)"?\]', source)}
    assert {"topic", "consumerGroup", "lagThreshold"} <= read
    for found in of_kind("ScaledObject").values():
        for trigger in found["spec"]["triggers"]:
            assert set(trigger["metadata"]) <= read
