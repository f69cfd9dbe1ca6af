"""The installed command as a process."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "upwell"
LIMIT_S = 60
INTERRUPT, TERMINATE, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL


class Upwell:
    """The command in a folder of its own, with its lake in `.upwell` there and the hash embedder by default."""

    def __init__(self, home):
        self.home = home
        kept = {k: v for k, v in os.environ.items() if not k.startswith("UPWELL_")}
        self.env = {**kept, "UPWELL_EMBEDDER": "hash"}

    def write(self, files):
        """Write files below `docs` and return that folder; None as text removes the file."""
        docs = self.home / "docs"
        for name, text in files.items():
            path = docs / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return docs

    def __call__(self, *words, status=0, timeout=LIMIT_S, **env):
        """Run to the end, hold it to an exit status, and return its output."""
        done = subprocess.run(
            [PROGRAM, *words],
            cwd=self.home,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    def json(self, *words, **more):
        """Run with --json and return the document; standard output must hold that one document and nothing else."""
        return json.loads(self(*words, "--json", **more).stdout)

    def found(self, query, *words):
        """The ids of the documents that a search finds."""
        return {hit["doc_id"] for hit in self.json("search", query, *words)["hits"]}

    def until(self, condition, what):
        """Wait until `condition()` holds."""
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, f"waited {LIMIT_S} s: {what}"
            time.sleep(0.05)


class Running:
    """An `upwell run` in the background."""

    def __init__(self, upwell, *words):
        self.log = upwell.home / "run.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", *words, "--json"],
                cwd=upwell.home,
                env=upwell.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def ready(self):
        """The document that `run --json` prints once the first pass is done."""
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line == "}\n":
                return json.loads("".join(lines))
        raise AssertionError(f"run ended before it was ready: {self.log.read_text()}")

    def end(self, number):
        """Send a signal and return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
