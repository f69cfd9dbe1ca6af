"""Every object of k8s/ that a bare cluster knows is valid by the API's own schema, unknown fields included."""

import kubernetes_validate
import pytest

from deployment import BASE, OVERLAYS, rendered
from needs import missing

NEWEST = kubernetes_validate.latest_version()
OLDEST = "1.30"
"""The first version whose clusters let a container sleep before it stops."""


def core(folder):
    """The objects that are no custom resources."""
    return [found for found in rendered(folder) if found["apiVersion"].split("/")[0] in CORE]


CORE = {"v1", "apps", "batch", "autoscaling", "policy", "networking.k8s.io"}


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("folder", [BASE, *OVERLAYS])
def test_objects_are_valid(folder, version):
    try:
        for found in core(folder):
            kubernetes_validate.validate(found, version, strict=True)
    except kubernetes_validate.SchemaNotFoundError as e:
        missing(f"the schemas of Kubernetes {version} in kubernetes-validate: {e}")


def test_a_field_that_does_not_exist_is_refused():
    """The schema is asked in earnest."""
    (found,) = (o for o in core(BASE) if o["metadata"]["name"] == "upwell-gateway" and o["kind"] == "Deployment")
    wrong = {**found, "spec": {**found["spec"], "replica": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, NEWEST, strict=True)


def test_what_is_left_out_here_is_validated_elsewhere():
    left = {found["kind"] for folder in (BASE, *OVERLAYS) for found in rendered(folder) if found not in core(folder)}
    assert left == {"ScaledObject", "PodMonitor", "ServiceMonitor"}
