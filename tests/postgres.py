"""A real PostgreSQL for tests: its own binaries, a free port, a temporary folder; fsync stays on."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

import needs

BINARIES = Path("/usr/lib/postgresql/15/bin")
USER, PASSWORD = "upwell", "correct-horse"
START_S = 30
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "on",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "jit": "off",
}


def binaries() -> Path:
    """Where initdb and postgres are, on the path or where Debian puts version 15."""
    found = shutil.which("postgres")
    folder = Path(found).resolve().parent if found else BINARIES
    if not (folder / "initdb").exists():
        needs.missing(f"PostgreSQL: no initdb on the path or in {BINARIES} (apt-get install postgresql-15)")
    return folder


def unprivileged() -> list[str]:
    """What puts a command under another user than root, whom PostgreSQL refuses, and ends it with the tests."""
    if os.getuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--pdeathsig=KILL", "--"]


class PostgresServer:
    """One server. `url()` makes a fresh, empty database; it can be paused, killed and started again on its folder."""

    def __init__(self) -> None:
        self._binaries = binaries()
        self._folder = Path(tempfile.mkdtemp(prefix="upwell-postgres-"))
        self._log = (self._folder / "log").open("wb")
        self.port = free_port()
        self._databases = 0
        try:
            if os.getuid() == 0:
                shutil.chown(self._folder, "nobody", "nogroup")
            self._initialize()
            self.start()
        except BaseException:
            self.close()
            raise

    def url(self, database: str | None = None, user: str = USER, password: str = PASSWORD) -> str:
        """The URL of a database: a new one unless it is named."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database or self.create()}"

    def create(self, *, encoding: str = "UTF8") -> str:
        """A new database's name. It sorts by the rules of English: what must be bytewise has to say so itself."""
        self._databases += 1
        name = f"test_{self._databases}"
        locale = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'" if encoding == "UTF8" else "LOCALE 'C'"
        self.run(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' {locale}")
        return name

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run one statement as the superuser; its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def start(self) -> None:
        """Start on the folder, and wait until it answers."""
        settings = [f"--{name}={value}" for name, value in {**SETTINGS, "port": self.port}.items()]
        command = [*unprivileged(), str(self._binaries / "postgres"), "-D", str(self._folder / "data"), *settings]
        self._process = subprocess.Popen(command, stdout=self._log, stderr=self._log, process_group=0)
        deadline = time.monotonic() + START_S
        while True:
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError((self._folder / "log").read_text()) from None
                time.sleep(0.02)
            else:
                return

    def pause(self) -> None:
        """Stop every process of the server, as a frozen machine would."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the server without warning (kill -9)."""
        family = self._signal(signal.SIGKILL)
        self._process.wait()
        psutil.wait_procs(family, 10)

    def stop(self) -> None:
        """Shut down at once, ending every connection (`fast`)."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(START_S)

    def close(self) -> None:
        if hasattr(self, "_process") and self._process.poll() is None:
            self.kill()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _initialize(self) -> None:
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        if os.getuid() == 0:
            shutil.chown(secret, "nobody", "nogroup")
        options = ["--auth=scram-sha-256", f"--pwfile={secret}", f"--username={USER}", "--locale=C.UTF-8", "--no-sync"]
        command = [*unprivileged(), str(self._binaries / "initdb"), "-D", str(self._folder / "data"), *options]
        subprocess.run(command, stdout=self._log, stderr=self._log, check=True, timeout=START_S)

    def _signal(self, number: signal.Signals) -> list[psutil.Process]:
        """Send it to every process of the server; which those are.

        The postmaster is stopped first: whoever it forked after its children were counted would live on, and hold the
        memory that a server started again on the folder asks for. A backend may still end by itself before its turn.
        """
        postmaster = psutil.Process(self._process.pid)
        postmaster.suspend()
        family = [postmaster, *postmaster.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        return family


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def postgres():
    """The server, for as long as the tests run."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres):
    """A fresh, empty database."""
    return postgres.url()
