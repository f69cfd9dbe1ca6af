"""What the deployment files say, as plain values, for the tests that hold them to the code and to each other."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import typer
import yaml

from needs import missing
from upwell.cli.app import app
from upwell.config import Settings
from upwell.runtime.stream.topics import Role, lines_of

ROOT = Path(__file__).parents[1]
BASE = "k8s/base"
OVERLAYS = ["k8s/overlays/development"]
WORKERS = [(role, line) for role in Role for line in lines_of(role)]
VARIABLES = {f"UPWELL_{name.upper()}" for name in Settings.model_fields}
PORT = 8080
"""Where every long-running process answers, in every file."""


INSTRUCTED_UID = int(re.search(r"^USER (\d+):", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[1])
"""Who the image runs as."""


def files():
    """Every deployment file, and the page about them."""
    k8s = sorted(path for path in (ROOT / "k8s").rglob("*") if path.is_file())
    return [ROOT / "Dockerfile", ROOT / "docker-compose.yml", *k8s, ROOT / "docs" / "deploying.md"]


@functools.cache
def compose():
    """docker-compose.yml."""
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def upwell_services():
    """The services of Upwell's own image, by name: long-running ones and those that end."""
    return {name: service for name, service in compose()["services"].items() if service["image"].startswith("upwell:")}


def process_services():
    """Those that run for good."""
    return {name: service for name, service in upwell_services().items() if service["restart"] != "on-failure"}


@functools.cache
def rendered(folder=BASE):
    """The objects of a kustomization. Skips without kubectl, which is a failure in CI."""
    if shutil.which("kubectl") is None:
        missing("kubectl, which renders k8s/ (any version since 1.28)")
    done = subprocess.run(["kubectl", "kustomize", folder], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(kind, folder=BASE):
    """The objects of one kind, by name."""
    return {found["metadata"]["name"]: found for found in rendered(folder) if found["kind"] == kind}


def container(thing):
    """The one container of a Deployment or Job."""
    (only,) = thing["spec"]["template"]["spec"]["containers"]
    return only


def examples():
    """The Secrets of secrets.example.yaml: name -> variable -> text."""
    documents = yaml.safe_load_all((ROOT / BASE / "secrets.example.yaml").read_text())
    return {secret["metadata"]["name"]: secret["stringData"] for secret in documents}


def parsed(words):
    """The path and the parameters of a command line of `upwell`; a wrong word or option raises."""
    command, path, words = typer.main.get_command(app), "upwell", list(words)
    while getattr(command, "commands", None):
        path = f"{path} {words[0]}"
        command = command.commands[words.pop(0)]
    return path, command.make_context(path, words).params


def seconds(text):
    """`45s` in seconds."""
    return int(re.fullmatch(r"(\d+)s", text)[1])


def quantity(text):
    """A Kubernetes quantity: `250m`, `2`, `3Gi`, `512Mi`."""
    number, unit = re.fullmatch(r"(\d+)(m|Mi|Gi|)", str(text)).groups()
    return int(number) * {"m": 0.001, "": 1, "Mi": 2**20, "Gi": 2**30}[unit]
