"""k8s/: every worker of the code is there, scaled by its own group's lag, healthy by its own word, and allowed little."""

from ipaddress import ip_address, ip_network
from pathlib import PurePosixPath

import pytest
from sqlalchemy import make_url

import upwell
from deployment import (
    BASE,
    INSTRUCTED_UID,
    OVERLAYS,
    PORT,
    ROOT,
    VARIABLES,
    WORKERS,
    compose,
    container,
    examples,
    of_kind,
    parsed,
    quantity,
    rendered,
)
from upwell import config
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.runtime.stream.topics import Line, Role, group_of, taken_by

FOLDERS = [BASE, *OVERLAYS]
NAMES = {group_of(role, line): (role, line) for role, line in WORKERS}
EVERY = pytest.mark.parametrize("folder", FOLDERS)
WORKER = pytest.mark.parametrize("name", NAMES)


def pods(folder=BASE):
    """Everything that makes pods: Deployments and Jobs, by name."""
    return of_kind("Deployment", folder) | of_kind("Job", folder)


def labels(thing):
    """The labels of the pods that a Deployment or Job makes."""
    return thing["spec"]["template"]["metadata"]["labels"]


def chosen(selector, folder=BASE):
    """The Deployments and Jobs whose pods a selector picks."""
    wanted = selector["matchLabels"].items()
    return {name for name, thing in pods(folder).items() if wanted <= labels(thing).items()}


def environment(thing, folder=BASE):
    """Variable -> text of a container, from its ConfigMap and Secrets; base's Secrets are those of the example."""
    (settings,) = of_kind("ConfigMap", folder).values()
    made = {
        name.rpartition("-")[0]: {key: "[]" if key == "UPWELL_KEYS" else "{}" for key in secret["data"]}
        for name, secret in of_kind("Secret", folder).items()
    }
    secrets = examples()
    found = {}
    for source in container(thing)["envFrom"]:
        if "configMapRef" in source:
            assert source["configMapRef"]["name"] == settings["metadata"]["name"]
            found |= settings["data"]
        else:
            found |= secrets[without_hash(source["secretRef"]["name"], made)]
    for variable in container(thing).get("env", []):
        reference = variable["valueFrom"]["secretKeyRef"]
        found[variable["name"]] = secrets[without_hash(reference["name"], made)][reference["key"]]
    return found


def without_hash(name, made):
    """A Secret's name as written, where kustomize has added its hash."""
    return name.rpartition("-")[0] if name.rpartition("-")[0] in made else name


def settings(thing, monkeypatch, folder=BASE):
    """The settings of a container."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment(thing, folder).items():
        monkeypatch.setenv(name, value)
    return config.load()


@EVERY
def test_there_is_one_deployment_a_role_and_line(folder):
    """Named as its consumer group, with the command of its role and line, and labels that say so."""
    found = {name: thing for name, thing in of_kind("Deployment", folder).items() if name in NAMES}
    assert set(of_kind("Deployment", folder)) - set(found) == {"upwell-gateway", "upwell-serve"}
    assert set(found) == set(NAMES)
    for name, thing in found.items():
        role, line = NAMES[name]
        assert container(thing)["args"] == ["worker", role, "--lane", line, "--port", str(PORT)]
        assert {"role": role, "line": line, "app.kubernetes.io/component": "worker"}.items() <= labels(thing).items()


@EVERY
def test_every_command_line_parses(folder):
    for thing in pods(folder).values():
        parsed(container(thing)["args"])
    for name in ("gateway", "serve"):
        found = of_kind("Deployment", folder)[f"upwell-{name}"]
        assert container(found)["args"] == [name, "--listen", f"0.0.0.0:{PORT}"]
    jobs = of_kind("Job", folder)
    assert {name: container(job)["args"] for name, job in jobs.items()} == {
        "upwell-topics": ["topics", "create"],
        "upwell-init": ["init"],
    }


@EVERY
def test_every_variable_is_a_setting_with_a_usable_value(folder, monkeypatch):
    for thing in pods(folder).values():
        found = settings(thing, monkeypatch, folder)
        assert found.brokers
        assert found.store
        assert found.blobs
        assert found.registry


@EVERY
def test_only_parse_and_the_gateway_know_the_sources_and_only_the_gateway_the_keys(folder):
    holders = {name for name, thing in pods(folder).items() if "UPWELL_SOURCES" in environment(thing, folder)}
    assert holders == {"upwell-parse-live", "upwell-parse-backfill", "upwell-gateway"}
    keys = {name for name, thing in pods(folder).items() if "UPWELL_KEYS" in environment(thing, folder)}
    assert keys == {"upwell-gateway"}
    issuers = {name for name, thing in pods(folder).items() if "UPWELL_ISSUERS" in environment(thing, folder)}
    assert issuers == {"upwell-serve"}


def test_no_secret_is_in_the_base_and_no_value_of_the_example_is_one():
    assert of_kind("Secret") == {}
    texts = [text for secret in examples().values() for text in secret.values()]
    assert all("CHANGE-ME" in text or "0" * 64 in text for text in texts)


@EVERY
def test_selectors_pick_their_own_pods(folder):
    for name, thing in of_kind("Deployment", folder).items():
        assert chosen(thing["spec"]["selector"], folder) == {name}
    for name, budget in of_kind("PodDisruptionBudget", folder).items():
        assert chosen(budget["spec"]["selector"], folder) == {name}
    for name, service in of_kind("Service", folder).items():
        assert chosen({"matchLabels": service["spec"]["selector"]}, folder) == {name}


def test_what_must_not_wait_has_a_disruption_budget():
    wanted = {name for name, (_, line) in NAMES.items() if line is not Line.BACKFILL} - {"upwell-ledger"}
    assert set(of_kind("PodDisruptionBudget")) == wanted | {"upwell-gateway", "upwell-serve"}


@EVERY
def test_networks_are_closed_but_for_what_answers_the_network(folder):
    """Every pod of Upwell takes nothing but what its policies name, by ports that exist."""
    policies = of_kind("NetworkPolicy", folder)
    assert chosen(policies["upwell"]["spec"]["podSelector"], folder) == set(pods(folder))
    for name in ("upwell-gateway", "upwell-serve"):
        assert chosen(policies[name]["spec"]["podSelector"], folder) == {name}
    parsers = chosen(policies["upwell-parse"]["spec"]["podSelector"], folder)
    assert parsers == {"upwell-parse-live", "upwell-parse-backfill"}


def reached(address, folder):
    """The ports of an address that parsers may ask, None for all of them."""
    at = ip_address(address)
    rules = of_kind("NetworkPolicy", folder)["upwell-parse"]["spec"]["egress"]
    for rule in rules:
        for block in (to["ipBlock"] for to in rule["to"]):
            outside = [ip_network(block["cidr"]), *map(ip_network, block.get("except", ()))]
            if [at in network for network in outside] == [True] + [False] * (len(outside) - 1):
                yield {(port["protocol"], port["port"]) for port in rule["ports"]} if "ports" in rule else None


@EVERY
def test_parsers_reach_sources_and_names_and_no_address_that_hands_out_credentials(folder):
    """Those of the clouds' own documentation; NodeLocal DNSCache answers at a link-local address."""
    for address in ("10.1.2.3", "93.184.216.34", "2001:db8::1"):
        assert list(reached(address, folder)) == [None]
    aws_gcp_azure_openstack, aws_tasks, azure, alibaba = (
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
    )
    oracle, aws_6, gcp_6 = "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"
    for address in (aws_gcp_azure_openstack, aws_tasks, azure, alibaba, oracle, aws_6, gcp_6):
        assert list(reached(address, folder)) == []
    assert list(reached("169.254.20.10", folder)) == [{("UDP", 53), ("TCP", 53)}]


@EVERY
@pytest.mark.parametrize("name", ["upwell-gateway", "upwell-serve"])
def test_what_the_network_reaches_is_on_more_than_one_node(folder, name):
    """As far as there are nodes; by its own pods of the same version."""
    thing = of_kind("Deployment", folder)[name]
    (spread,) = thing["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert chosen(spread["labelSelector"], folder) == {name}
    assert spread["matchLabelKeys"] == ["pod-template-hash"]
    assert (spread["topologyKey"], spread["maxSkew"]) == ("kubernetes.io/hostname", 1)
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway"


@EVERY
def test_every_pod_may_do_little(folder):
    """As the namespace's `restricted` standard asks, and a root that is read-only but for two folders."""
    (namespace,) = of_kind("Namespace", folder).values()
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for thing in pods(folder).values():
        pod, inner = thing["spec"]["template"]["spec"], container(thing)
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == INSTRUCTED_UID
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert inner["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        mounts = {mount["name"]: mount["mountPath"] for mount in inner["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert set(mounts) == set(volumes)
        mounts.pop("signing-key", None)
        assert set(mounts.values()) == {"/tmp", environment(thing, folder)["UPWELL_LAKE"]}
        kept = [volume for volume in volumes.values() if "secret" not in volume]
        assert all("sizeLimit" in volume["emptyDir"] for volume in kept)


@EVERY
def test_only_serve_and_the_ledger_hold_the_lakes_key(folder):
    """Where the setting says that it is, in a form that the key's own check lets pass."""
    for name, thing in pods(folder).items():
        volumes = {volume["name"]: volume for volume in thing["spec"]["template"]["spec"]["volumes"]}
        assert ("signing-key" in volumes) == (name in {"upwell-serve", "upwell-ledger"})
        if "signing-key" not in volumes:
            continue
        (mount,) = (one for one in container(thing)["volumeMounts"] if one["name"] == "signing-key")
        where = PurePosixPath(environment(thing, folder)["UPWELL_SIGNING_KEY"])
        assert mount["mountPath"] == str(where.parent)
        if folder == BASE:
            assert mount["readOnly"] is True
            assert volumes["signing-key"]["secret"] == {"secretName": "upwell-signing-key", "defaultMode": 0o440}
            assert where.name in examples()["upwell-signing-key"]


def test_each_process_has_the_registry_by_the_role_that_it_needs():
    """`init` alone by the owner's, and serve by one that reads and appends to the audit (k8s/roles)."""
    roles = {name: make_url(environment(thing)["UPWELL_REGISTRY"]).username for name, thing in pods().items()}
    others = {name: role for name, role in roles.items() if name not in {"upwell-init", "upwell-serve"}}
    assert (roles["upwell-init"], roles["upwell-serve"]) == ("lake_owner", "lake_readers")
    assert set(others.values()) == {"lake_workers"}


@EVERY
def test_every_process_is_asked_for_its_health_where_it_answers(folder):
    for thing in of_kind("Deployment", folder).values():
        inner = container(thing)
        assert {"name": "http", "containerPort": PORT} in inner["ports"]
        asked = {probe: inner[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness", "readiness")}
        assert asked == {
            "startup": {"path": "/healthz", "port": "http"},
            "liveness": {"path": "/healthz", "port": "http"},
            "readiness": {"path": "/readyz", "port": "http"},
        }


@pytest.mark.parametrize("served", ["runtime/stream/health.py", "runtime/operating.py"])
def test_paths_that_are_asked_are_served(served):
    """By the workers, and by what serves the network."""
    source = (ROOT / "services/upwell" / served).read_text()
    assert [path for path in ("/healthz", "/readyz", "/metrics") if f'("{path}"' not in source] == []


@EVERY
def test_there_is_time_to_finish(folder, monkeypatch):
    """SIGTERM waits drain_s for what is in hand; the pod outlives that, and the gateway its sleep before it too."""
    for thing in of_kind("Deployment", folder).values():
        asleep = container(thing).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        grace = thing["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert grace >= settings(thing, monkeypatch, folder).drain_s + asleep + 15


@EVERY
def test_every_container_has_requests_and_limits(folder):
    for thing in pods(folder).values():
        resources = container(thing)["resources"]
        for what in ("cpu", "memory"):
            assert 0 < quantity(resources["requests"][what]) <= quantity(resources["limits"][what])


@EVERY
def test_resources_fit_what_the_settings_allow(folder, monkeypatch):
    """A parser may take its limit without the pod being killed; the model has a processor for each of its threads."""
    for name, (role, _) in NAMES.items():
        thing = of_kind("Deployment", folder)[name]
        found, limits = settings(thing, monkeypatch, folder), container(thing)["resources"]["limits"]
        parser = DEFAULT_LIMITS.memory_bytes if role is Role.PARSE else 0
        assert quantity(limits["memory"]) >= parser + 512 * 2**20
        if role is Role.EMBED:
            assert quantity(limits["cpu"]) >= found.threads


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.LEDGER])
def test_backfill_asks_for_an_eighth_of_lives_processor(role):
    found = of_kind("Deployment")
    cpu = {
        line: quantity(container(found[group_of(role, line)])["resources"]["requests"]["cpu"])
        for line in (Line.LIVE, Line.BACKFILL)
    }
    assert cpu[Line.BACKFILL] * 8 == pytest.approx(cpu[Line.LIVE])


@WORKER
def test_workers_are_scaled_by_the_lag_of_their_own_group(name, monkeypatch):
    """The group and topic are those that the worker takes; live never goes to none, backfill may; never more workers
    than partitions. The ledger is one.
    """
    role, line = NAMES[name]
    thing = of_kind("Deployment")[name]
    if role is Role.LEDGER:
        assert name not in of_kind("ScaledObject")
        assert thing["spec"]["replicas"] == 1
        return
    assert "replicas" not in thing["spec"], "an apply would undo what KEDA has decided"
    scaled = of_kind("ScaledObject")[name]["spec"]
    assert scaled["scaleTargetRef"] == {"name": name}
    triggers = scaled["triggers"]
    assert tuple(trigger["metadata"]["topic"] for trigger in triggers) == taken_by(role, line)
    for trigger in triggers:
        assert trigger["type"] == "kafka"
        assert trigger["metadata"]["consumerGroup"] == name == group_of(role, line)
        assert trigger["metadata"]["offsetResetPolicy"] == "earliest"
        assert int(trigger["metadata"]["lagThreshold"]) > 0
        assert trigger["metadata"]["bootstrapServersFromEnv"] in environment(thing)
    assert scaled["minReplicaCount"] == (0 if line is Line.BACKFILL else 1)
    assert scaled["minReplicaCount"] < scaled["maxReplicaCount"] <= settings(thing, monkeypatch).partitions


def test_nothing_else_is_scaled():
    """By lag, that is; what answers readers grows with its work."""
    assert set(of_kind("ScaledObject")) == set(NAMES) - {"upwell-ledger"}
    (scaled,) = of_kind("HorizontalPodAutoscaler").values()
    assert scaled["spec"]["scaleTargetRef"]["name"] == "upwell-serve"
    assert 1 < scaled["spec"]["minReplicas"] < scaled["spec"]["maxReplicas"]
    assert "replicas" not in of_kind("Deployment")["upwell-serve"]["spec"], "an apply would undo what it has decided"


def test_prometheus_reads_every_process():
    """The monitors pick all workers and each Service, at a port that they have."""
    (workers,) = of_kind("PodMonitor").values()
    assert chosen(workers["spec"]["selector"]) == set(NAMES)
    assert workers["spec"]["podTargetLabels"] == ["role", "line"]
    monitors, services = of_kind("ServiceMonitor"), of_kind("Service")
    assert set(monitors) == set(services) == {"upwell-gateway", "upwell-serve"}
    ends = list(workers["spec"]["podMetricsEndpoints"])
    for name, service in services.items():
        monitor = monitors[name]["spec"]
        assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        assert service["spec"]["ports"] == [
            {"name": "http", "port": 80, "targetPort": "http"},
            {"name": "metrics", "port": 9090, "targetPort": "metrics"},
        ]
        assert environment(of_kind("Deployment")[name])["UPWELL_PORT"] == "9090"
        assert {"name": "metrics", "containerPort": 9090} in container(of_kind("Deployment")[name])["ports"]
        assert {(end["port"], end["path"]) for end in monitor["endpoints"]} == {("metrics", "/metrics")}
    assert {(end["port"], end["path"]) for end in ends} == {("http", "/metrics")}


def test_only_prometheus_reaches_the_metrics_of_what_the_network_reaches():
    """They name every tenant's sources, and count what is refused and hidden."""
    policies = of_kind("NetworkPolicy")
    for name in ("upwell-gateway", "upwell-serve"):
        (open_to_all,) = policies[name]["spec"]["ingress"]
        assert open_to_all == {"ports": [{"port": "http"}]}
    (monitored,) = policies["upwell"]["spec"]["ingress"]
    assert {"port": "metrics"} in monitored["ports"]
    assert [set(one) for one in monitored["from"]] == [{"namespaceSelector"}]


@EVERY
def test_the_image_is_this_version_and_that_of_compose(folder):
    images = {container(thing)["image"] for thing in pods(folder).values()}
    assert images == {f"upwell:{upwell.__version__}"} == {compose()["services"]["gateway"]["image"]}


@EVERY
def test_every_object_is_in_the_namespace_and_bears_the_name(folder):
    for found in rendered(folder):
        assert found["metadata"]["labels"]["app.kubernetes.io/name"] == "upwell"
        if found["kind"] != "Namespace":
            assert found["metadata"]["namespace"] == "upwell"


@pytest.mark.parametrize("folder", OVERLAYS)
def test_an_overlay_for_development_needs_no_operator(folder):
    """One pod of each, and no object whose kind a bare cluster does not know."""
    assert {found["apiVersion"] for found in rendered(folder)} <= {"v1", "apps/v1", "batch/v1", "networking.k8s.io/v1"}
    assert {thing["spec"].get("replicas", 1) for thing in of_kind("Deployment", folder).values()} == {1}
    assert next(iter(of_kind("ConfigMap", folder).values()))["data"]["UPWELL_REPLICATION"] == "1"
