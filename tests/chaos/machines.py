"""Everything that runs in a chaos run: broker, database, store and the workers' processes, and who starts them again."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import qdrant_servers
import stagehand
from broker import LIBS, Broker, wait_for
from needs import missing
from postgres import PostgresServer
from shared_edge import SERVER
from upwell.config import Settings
from upwell.embed.hashed import DIM
from upwell.runtime.stream import topics
from upwell.runtime.stream.supervisor import FLOOR_NICE
from upwell.runtime.stream.topics import Line, Role
from upwell.wiring import distributed
from upwell.wiring import topics as wiring_topics

STAGEHAND = stagehand.__file__
LINES = [(role, line) for role in Role for line in topics.lines_of(role)]
FIRST_PAUSE_S, LAST_PAUSE_S = 0.2, 3.0
STEADY_S = 10.0
END_S = 15.0
PER_LINE = 2
SESSION_S = 4.0


class Machine:
    """One process that is always started again. `status` is how it last ended."""

    def __init__(self, name: str, command: list[str], log: Path, env: dict[str, str]) -> None:
        self.name = name
        self._command, self._log, self._env = command, log, env
        self.process: subprocess.Popen | None = None
        self.ends: list[int] = []
        self._started = 0.0
        self._again_at = 0.0
        self._pause_s = FIRST_PAUSE_S

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        with self._log.open("ab") as out:
            self.process = subprocess.Popen(
                self._command, stdout=out, stderr=out, stdin=subprocess.PIPE, env=self._env, process_group=0
            )
        self._started = time.monotonic()

    def signal(self, number: int) -> None:
        """To the process alone, not to its children: they have to end by themselves."""
        with suppress(ProcessLookupError):
            if self.alive:
                os.kill(self.process.pid, number)

    def look(self) -> None:
        """Start it again if it has ended, later each time that it does so soon."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            self.ends.append(self.process.returncode)
            self.process.stdin.close()
            self._pause_s = FIRST_PAUSE_S if now - self._started > STEADY_S else min(LAST_PAUSE_S, 2 * self._pause_s)
            self._again_at = now + self._pause_s
            self.process = None
        if self.process is None and now >= self._again_at:
            self.start()

    def end(self) -> None:
        if self.alive:
            self.signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        if self.process is not None:
            self.process.stdin.close()

    def tail(self, characters: int = 2000) -> str:
        return self._log.read_text(errors="replace")[-characters:] if self._log.exists() else ""


def names_of(lines: list[tuple[Role, Line]], per_line: int) -> list[str]:
    """What the workers of these lines are called: `parse-live-0`."""
    seen: Counter[tuple[Role, Line]] = Counter()
    names = []
    for place in [line for line in lines for _ in range(per_line)]:
        names.append(f"{place[0]}-{place[1]}-{seen[place]}")
        seen[place] += 1
    return names


def priority_of(line: Line) -> list[str]:
    """What starts a worker with the priority that the supervisor gives it."""
    return ["nice", "-n", str(FLOOR_NICE)] if line is Line.BACKFILL else []


class Fleet:
    """The machines of a run in one folder, their settings, and the thread that keeps them going."""

    def __init__(
        self,
        folder: Path,
        *,
        per_line: int = PER_LINE,
        lines: list[tuple[Role, Line]] | None = None,
        settings: dict[str, str] | None = None,
    ) -> None:
        lines = lines or LINES
        if shutil.which("java") is None or not LIBS.is_dir():
            missing("Kafka: Java 17, and its jars by make kafka")
        self.folder = folder
        self.broker = Broker(folder / "kafka")
        self.postgres = PostgresServer()
        self.socket = folder / "s"
        self.settings = {
            "lake": str(folder / "lake"),
            "brokers": self.broker.address,
            "registry": self.postgres.url(),
            "store": qdrant_servers.URL or stagehand.url_of(self.socket),
            **({"store_api_key": qdrant_servers.KEY} if qdrant_servers.KEY else {}),
            "embedder": "hash",
            "partitions": "4",
            "replication": "1",
            "session_timeout_s": str(SESSION_S),
            "drain_s": "4",
            "retry_limit_s": "1",
            **(settings or {}),
        }
        os.environ[stagehand.COLLECTION] = f"upwell_test_{uuid.uuid4().hex[:12]}"  # on a server others have theirs
        self.env = {**os.environ, **{f"UPWELL_{name.upper()}": value for name, value in self.settings.items()}}
        server = [sys.executable, str(SERVER), str(self.socket), str(folder / "points"), str(DIM)]
        self.store = None if qdrant_servers.URL else Machine("store", server, folder / "store.log", dict(os.environ))
        self.workers = [
            Machine(
                name,
                [*priority_of(line), sys.executable, STAGEHAND, "worker", str(role), "--lane", str(line), "--owned"],
                folder / f"{name}.log",
                self.env,
            )
            for (role, line), name in zip(
                [line for line in lines for _ in range(per_line)], names_of(lines, per_line), strict=True
            )
        ]
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    @property
    def machines(self) -> list[Machine]:
        return [*([self.store] if self.store else []), *self.workers]

    def prepare(self) -> None:
        """The broker and the store are up, and the lake is made: topics, tables, identity."""
        (self.folder / "lake").mkdir(parents=True, exist_ok=True)
        self.broker.start()
        if self.store is not None:
            self.store.start()
            wait_for(self.socket.exists, 30, "the store starts")
        stagehand.set_up()
        settings = Settings(**self.settings)
        with closing(wiring_topics.topic_admin(settings)) as admin:
            admin.create()
            assert not admin.check()
        distributed.init(settings)

    def start(self) -> None:
        self._keeper.start()

    def close(self) -> None:
        """End everything, as it stands."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self.quiet()
        if self.store is not None:
            self.store.end()
        else:
            qdrant_servers.forget(os.environ[stagehand.COLLECTION])
        self.broker.stop(kill=True)
        self.postgres.close()

    def quiet(self) -> None:
        """End the workers; what they hold stays in the log."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        for worker in self.workers:
            worker.signal(signal.SIGTERM)
        deadline = time.monotonic() + END_S
        while any(worker.alive for worker in self.workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        for worker in self.workers:
            worker.end()

    def _keep(self) -> None:
        while not self._stopping.wait(0.05):
            for machine in self.machines:
                machine.look()
