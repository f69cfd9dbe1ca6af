"""What a parser that a document has taken over can still do: each attempt is made, in a process that is confined."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from upwell.parse.confined.sandbox import sandbox_strength

pytestmark = pytest.mark.integration

ATTEMPTS = """
    import ctypes, json, os, resource, signal, socket, subprocess, sys, threading
    from pathlib import Path
    from upwell.parse.confined.confine import confine
    from upwell.parse.limits import Limits

    folder, owner = Path(sys.argv[1]), int(sys.argv[2])
    confinement = confine(Limits())
    libc = ctypes.CDLL(None, use_errno=True)

    def traced():
        if libc.ptrace(16, owner, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    def memory():
        with open(f"/proc/{owner}/mem", "rb") as file:
            file.seek(4096)
            file.read(1)

    def thread():
        ran = []
        one = threading.Thread(target=lambda: ran.append(1))
        one.start()
        one.join()
        assert ran

    ATTEMPTS = {
        "fork": lambda: os.fork() or os._exit(0),
        "run": lambda: subprocess.run(["/bin/true"], check=True),
        "socket": socket.socket,
        "unix socket": lambda: socket.socket(socket.AF_UNIX),
        "signal owner": lambda: os.kill(owner, signal.SIGCONT),
        "signal owner by descriptor": lambda: signal.pidfd_send_signal(os.pidfd_open(owner), signal.SIGCONT),
        "trace owner": traced,
        "read owner": memory,
        "limit owner": lambda: resource.prlimit(owner, resource.RLIMIT_CPU, (1, 1)),
        "read a document": lambda: (folder / "kept").read_bytes(),
        "read a folder": lambda: list(folder.iterdir()),
        "read passwords": lambda: Path("/etc/passwd").read_bytes(),
        "write": lambda: (folder / "kept").write_bytes(b"x"),
        "make": lambda: os.open(folder / "made", os.O_CREAT | os.O_WRONLY),
        "make folder": lambda: (folder / "sub").mkdir(),
        "remove": lambda: (folder / "kept").unlink(),
        "rename": lambda: (folder / "kept").rename(folder / "other"),
        "link": lambda: os.symlink("/", folder / "link"),
        "mode": lambda: (folder / "kept").chmod(0o777),
        "more memory": lambda: resource.setrlimit(resource.RLIMIT_DATA, (2**40, 2**40)),
        "import": lambda: __import__("xml.dom.minidom"),
        "thread": thread,
        "null": lambda: open(os.devnull, "w").write("x"),
    }
    results = {}
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
            results[name] = "done"
        except (OSError, ValueError) as e:
            results[name] = "refused"
    print(json.dumps(results))
"""
NEEDED = {"import", "thread", "null"}


@pytest.fixture(scope="module")
def strength():
    return sandbox_strength()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reach")
    (folder / "kept").write_bytes(b"mine")
    arguments = [sys.executable, "-c", textwrap.dedent(ATTEMPTS), str(folder), str(os.getpid())]
    ran = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    assert sorted(p.name for p in folder.iterdir()) == ["kept"]
    assert (folder / "kept").read_bytes() == b"mine"
    return json.loads(ran.stdout)


def test_a_confined_parser_reaches_nothing(results, strength):
    """No process, no socket, no signal, no trace, no file changed, no limit raised; reading, threads and imports go on."""
    if not (strength.landlock and strength.system_calls_filtered):
        pytest.skip(f"this system gives less: {strength.notes}")
    done = {name for name, result in results.items() if result == "done"}
    assert done == NEEDED


def test_doctor_is_told_what_holds(strength):
    """Each part that could not be had is explained."""
    assert strength.network is False or strength.notes
    assert strength.landlock or any("Landlock" in note for note in strength.notes)
    assert strength.system_calls_filtered or any("filtered" in note for note in strength.notes)
