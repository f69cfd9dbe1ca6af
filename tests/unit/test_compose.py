"""docker-compose.yml: valid, whole, in step with the code and with k8s/, and open to this machine alone."""

import graphlib
import hashlib
import json
import re
import subprocess
import sys

import pytest
import yaml

import upwell
from deployment import (
    PORT,
    ROOT,
    VARIABLES,
    WORKERS,
    compose,
    examples,
    parsed,
    process_services,
    quantity,
    seconds,
    upwell_services,
)
from upwell import config
from upwell.parse.limits import DEFAULT_LIMITS

SERVICES = compose()["services"]
PROCESSES = process_services()
ENDING = {name: service for name, service in SERVICES.items() if service["restart"] == "on-failure"}
LASTING = {name: service for name, service in SERVICES.items() if name not in ENDING}
DEVELOPMENT = "upwell-development"
SCRAPED = yaml.safe_load((ROOT / "k8s/compose/prometheus.yml").read_text())["scrape_configs"]


def settings(service, monkeypatch):
    """The settings of a service's process."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in service["environment"].items():
        monkeypatch.setenv(name, str(value))
    return config.load()


def test_it_is_a_compose_file():
    """By the schema of the compose specification."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, "docker-compose.yml"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_one_service_a_worker_and_line():
    """Each role and line once, under its name, on the port that is asked for its health."""
    found = {}
    for name, service in PROCESSES.items():
        if service["command"][0] == "worker":
            found[name] = service["command"][1:]
    wanted = {f"{role}-{line}" if role != "ledger" else "ledger": (role, line) for role, line in WORKERS}
    assert found == {name: [role, "--lane", line, "--port", str(PORT)] for name, (role, line) in wanted.items()}


@pytest.mark.parametrize("name", upwell_services())
def test_every_command_line_parses(name):
    path, parameters = parsed(upwell_services()[name]["command"])
    if path == "upwell worker":
        assert parameters["port"] == PORT


def test_the_lake_is_made_before_its_workers_start():
    """Topics, then the lake, then everything else; and nobody waits for what cannot come."""
    assert SERVICES["topics"]["command"] == ["topics", "create"]
    assert SERVICES["init"]["command"] == ["init"]
    assert SERVICES["init"]["depends_on"]["topics"] == {"condition": "service_completed_successfully"}
    for service in PROCESSES.values():
        assert service["depends_on"]["init"] == {"condition": "service_completed_successfully"}
    for service in SERVICES.values():
        for needed, how in service.get("depends_on", {}).items():
            assert how["condition"] == ("service_completed_successfully" if needed in ENDING else "service_healthy")


def test_somebody_waits_for_each_service_that_ends():
    """`up --wait` takes the end of a service for a failure, unless another waits for it to complete."""
    waited = {needed for service in SERVICES.values() for needed in service.get("depends_on", {})}
    assert set(ENDING) <= waited


def test_nothing_waits_for_itself():
    graphlib.TopologicalSorter({name: service.get("depends_on", {}) for name, service in SERVICES.items()}).prepare()


def test_the_file_takes_nothing_from_the_environment():
    """A dollar would be replaced by Compose; what the file says is all there is."""
    assert "$" not in (ROOT / "docker-compose.yml").read_text()


@pytest.mark.parametrize("name", LASTING)
def test_every_lasting_service_has_a_health_check_and_is_started_again(name):
    assert LASTING[name]["restart"] == "unless-stopped"
    check = LASTING[name]["healthcheck"]
    assert check["test"][0] == "CMD"
    assert seconds(check["timeout"]) < seconds(check["interval"])
    if name in PROCESSES:
        assert f"http://127.0.0.1:{PORT}/readyz" in check["test"][-1]


def test_only_services_that_end_have_no_health_check():
    disabled = {name for name, service in SERVICES.items() if service.get("healthcheck") == {"disable": True}}
    assert disabled == set(ENDING) & set(upwell_services())


@pytest.mark.parametrize("name", upwell_services())
def test_settings_load_and_are_those_of_kubernetes(name, monkeypatch):
    """Every variable is a setting with a usable value; those that say where things are stand in k8s/ too."""
    found = settings(upwell_services()[name], monkeypatch)
    assert found.brokers == "kafka:9092"
    assert found.registry.get_secret_value().endswith("@postgres/upwell")
    assert found.store == "http://qdrant:6333"
    base = {line.split("=")[0] for line in (ROOT / "k8s/base/settings.env").read_text().splitlines() if line[0] != "#"}
    known = base | {variable for secret in examples().values() for variable in secret}
    assert set(upwell_services()[name]["environment"]) <= known
    assert base - set(upwell_services()[name]["environment"]) <= {"UPWELL_THREADS"}


def test_only_parse_and_the_gateway_know_the_sources_and_only_the_gateway_the_keys():
    holders = {name for name, service in upwell_services().items() if "UPWELL_SOURCES" in service["environment"]}
    assert holders == {"parse-live", "parse-backfill", "gateway"}
    assert [name for name, service in upwell_services().items() if "UPWELL_KEYS" in service["environment"]] == [
        "gateway"
    ]


def test_the_bucket_of_documents_reaches_the_gateway_and_the_parsers(monkeypatch):
    """MinIO's webhook names a source whose hook it is, with its secret; parse may fetch from that bucket."""
    found = settings(SERVICES["gateway"], monkeypatch)
    minio = SERVICES["minio"]["environment"]
    path = minio["MINIO_NOTIFY_WEBHOOK_ENDPOINT_UPWELL"]
    source = found.sources[re.fullmatch(rf"http://gateway:{PORT}/v1/hooks/(\w+)", path)[1]]
    assert source.hook == "s3"
    assert source.secret.get_secret_value() == minio["MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_UPWELL"]
    assert source.options["endpoint_url"] == found.blob_options["endpoint_url"] == "http://minio:9000"
    (root,) = source.roots
    made = SERVICES["buckets"]["command"][0].split()
    assert {f"lake/{root.removeprefix('s3://').rstrip('/')}", found.blobs.replace("s3://", "lake/")} <= set(made)
    assert " lake/documents arn:minio:sqs::UPWELL:webhook" in SERVICES["notifications"]["command"][0]


def test_the_gateways_key_is_the_one_that_the_file_tells(monkeypatch):
    (key,) = settings(SERVICES["gateway"], monkeypatch).keys
    assert key.sha256 == hashlib.sha256(DEVELOPMENT.encode()).hexdigest()
    assert f"(bearer key: {DEVELOPMENT})" in (ROOT / "docker-compose.yml").read_text()


def test_the_only_secret_is_the_public_one():
    """Whatever stands where a secret stands is the one word that nobody takes for a secret."""
    text = (ROOT / "docker-compose.yml").read_text()
    secrets = re.findall(r"(?:PASSWORD|TOKEN_UPWELL): (\S+)|\"(?:secret|key)\": \"([^\"]+)\"|://[\w-]+:([^@/]+)@", text)
    assert {next(filter(None, found)) for found in secrets} == {DEVELOPMENT}


def test_nothing_listens_beyond_this_machine():
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert f"127.0.0.1:{PORT}:{PORT}" in published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert len({port.split(":")[1] for port in published}) == len(published)


def test_images_are_pinned_short_names():
    """A version that says something, no `latest`; the versions are those that this code is tested with."""
    images = {service["image"] for service in SERVICES.values()}
    for image in images:
        assert re.fullmatch(r"(?:[a-z-]+/)?[a-z-]+:[\w.-]*\d[\w.-]*", image), image
    assert f"upwell:{upwell.__version__}" in images
    pom = (ROOT / "tools/kafka/pom.xml").read_text()
    kafka = re.search(r"<artifactId>kafka_2.13</artifactId>\s*<version>([\d.]+)</version>", pom)[1]
    assert f"apache/kafka:{kafka}" in images
    (qdrant,) = (image for image in images if image.startswith("qdrant/"))
    assert tuple(map(int, qdrant.partition(":v")[2].split("."))) >= (1, 19)


def test_one_service_builds_the_image_of_all():
    assert [name for name, service in SERVICES.items() if "build" in service] == ["topics"]


@pytest.mark.parametrize("name", upwell_services())
def test_upwells_containers_may_do_little(name, monkeypatch):
    """A read-only root with the two folders that are written, no capability, no new privilege."""
    service = upwell_services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    written = {entry.split(":")[0] for entry in service["tmpfs"]}
    assert written == {"/tmp", str(settings(service, monkeypatch).lake)}


@pytest.mark.parametrize("name", PROCESSES)
def test_there_is_time_to_finish_and_memory_to_work(name, monkeypatch):
    service, found = PROCESSES[name], settings(PROCESSES[name], monkeypatch)
    assert seconds(service["stop_grace_period"]) >= found.drain_s + 15
    wanted = 512 * 2**20 + (DEFAULT_LIMITS.memory_bytes if name.startswith("parse-") else 0)
    assert quantity(service["mem_limit"].replace("g", "Gi")) >= wanted


def test_backfill_has_an_eighth_of_lives_share():
    """The engine's default is 1024 shares."""
    shares = {name: service.get("cpu_shares", 1024) for name, service in PROCESSES.items()}
    assert {name for name, share in shares.items() if share == 1024 // 8} == {n for n in shares if "backfill" in n}
    assert set(shares.values()) == {128, 1024}


def test_volumes_are_named_and_used():
    used = {v.split(":")[0] for service in SERVICES.values() for v in service.get("volumes", []) if v[0] != "."}
    assert used == set(compose()["volumes"])


def test_prometheus_reads_every_process():
    """All of Upwell's by name and port, from the file that is mounted."""
    mounted = SERVICES["prometheus"]["volumes"][0].split(":")
    assert mounted == ["./k8s/compose/prometheus.yml", "/etc/prometheus/prometheus.yml", "ro"]
    jobs = {job["job_name"]: job["dns_sd_configs"][0] for job in SCRAPED if "dns_sd_configs" in job}
    workers, network = jobs["upwell"], jobs["upwell-network"]
    assert (workers["port"], network["port"]) == (PORT, SERVICES["serve"]["environment"]["UPWELL_PORT"])
    assert sorted(network["names"]) == ["gateway", "serve"]
    assert sorted(workers["names"] + network["names"]) == sorted(PROCESSES)
    others = [target for job in SCRAPED for static in job.get("static_configs", []) for target in static["targets"]]
    assert {target.split(":")[0] for target in others} <= set(SERVICES)


def test_kafka_is_where_its_clients_look_and_is_as_replicated_as_one_node_can_be(monkeypatch):
    kafka = SERVICES["kafka"]["environment"]
    found = settings(SERVICES["topics"], monkeypatch)
    assert kafka["KAFKA_ADVERTISED_LISTENERS"] == f"PLAINTEXT://{found.brokers}"
    assert found.replication == 1
    assert all(value == 1 for name, value in kafka.items() if name.endswith(("_REPLICATION_FACTOR", "_MIN_ISR")))
    assert json.dumps(kafka["KAFKA_AUTO_CREATE_TOPICS_ENABLE"]) == '"false"'
