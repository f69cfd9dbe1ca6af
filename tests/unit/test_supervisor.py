"""The supervisor: starts again what died, ends all together, stops for a misconfigured one, and names its lines."""

import os
import signal
import subprocess
import sys
import time

from upwell.cli.lines import tasks_of
from upwell.cli.up import all_tasks
from upwell.cli.worker import LineName, RoleName
from upwell.runtime.stream.supervisor import FLOOR_NICE
from upwell.runtime.stream.topics import Line, Role

PROGRAM = """
import sys
from upwell.runtime.stream.supervisor import Supervisor, Task
given = zip(sys.argv[2::3], sys.argv[3::3], sys.argv[4::3])
children = [Task(name=name, command=(sys.executable, "-c", code), nice=int(nice)) for name, code, nice in given]
sys.exit(Supervisor(children, drain_s=float(sys.argv[1]), say=lambda line: print(line, flush=True)).run())
"""
WAITS = "import signal, sys, os; print('up', os.getpid(), file=sys.stderr, flush=True); signal.pause()"
ORDERLY = f"import signal, sys; signal.signal(15, lambda *_: sys.exit(0)); {WAITS}"
DEAF = f"import signal; signal.signal(15, signal.SIG_IGN); {WAITS}"
WITH_OWNER = "import sys; print('up', file=sys.stderr, flush=True); sys.stdin.read(); open(sys.argv[1], 'w')"


class Running:
    """A supervisor as a process of its own, since it takes the signals of its main thread."""

    def __init__(self, *children, drain_s=5):
        words = [word for child in children for word in (*child, "0")[:3]]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(drain_s), *words], stdout=subprocess.PIPE, text=True
        )
        self.lines = []

    def until(self, text):
        """Read lines until one holds the text; returns it."""
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if text in line:
                return line.rstrip()
        raise AssertionError(f"ended before {text!r}: {self.lines}")

    def end(self, number=signal.SIGTERM):
        """Send a signal; the exit status, with the rest of the lines read."""
        self.process.send_signal(number)
        return self.status()

    def status(self):
        self.lines += [line.rstrip() for line in self.process.stdout]
        return self.process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def pid_of(line):
    return int(line.rsplit(" ", 1)[1])


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_all_end_together():
    """SIGTERM reaches each child; 0 when all ended. Their lines carry their names."""
    with Running(("parse/live", ORDERLY), ("embed/live", ORDERLY)) as running:
        first = running.until("up")
        second = running.until("up")
        assert {line.split(":")[0] for line in (first, second)} == {"parse/live", "embed/live"}
        assert running.end() == 0
        assert gone(pid_of(first))
        assert gone(pid_of(second))


def test_an_interrupt_is_status_130():
    with Running(("a", ORDERLY)) as running:
        running.until("up")
        assert running.end(signal.SIGINT) == 130


def test_what_dies_is_started_again():
    """Killed, it comes again with another pid, after a pause that is said."""
    with Running(("a", ORDERLY)) as running:
        first = pid_of(running.until("up"))
        os.kill(first, signal.SIGKILL)
        assert "SIGKILL" in running.until("again in")
        assert pid_of(running.until("up")) != first
        assert running.end() == 0


def test_a_misconfigured_child_stops_all():
    """Starting it again would not help: status 2, with its own line shown."""
    wrong = "import sys; print('upwell: setting x: wrong', file=sys.stderr); sys.exit(2)"
    with Running(("a", ORDERLY), ("b", wrong)) as running:
        assert running.status() == 2
        assert "b: upwell: setting x: wrong" in running.lines


def test_a_deaf_child_is_killed_at_the_deadline():
    """Its own deadline and a grace later."""
    with Running(("a", DEAF), drain_s=-4) as running:  # the grace is 5 s
        pid = pid_of(running.until("up"))
        assert running.end() == 0
        assert "a: killed, since it did not end" in running.lines
        assert gone(pid)


def test_children_see_their_supervisor_die(tmp_path):
    """However it dies, their standard input closes."""
    mark = tmp_path / "seen"
    code = WITH_OWNER.replace("sys.argv[1]", repr(str(mark)))
    with Running(("a", code)) as running:
        running.until("up")
        running.process.kill()
        deadline = time.monotonic() + 10
        while not mark.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_each_line_is_a_process():
    """Roles and lines as the log has them; the backfill yields, ports count up, the ledger is one."""
    tasks = tasks_of(list(Role), ["--config", "u.toml"], 9000, copies=2)
    assert len(tasks) == len({task.name for task in tasks}) == (4 * 2 + 3) * 2 + 1
    assert [task.nice for task in tasks if "backfill" in task.name] == [FLOOR_NICE] * 10
    assert {task.nice for task in tasks if "backfill" not in task.name} == {0}
    ports = [task.command[task.command.index("--port") + 1] for task in tasks]
    assert ports == [str(9000 + n) for n in range(len(tasks))]
    assert all(task.command[-2:] == ("--config", "u.toml") for task in tasks)
    assert tasks[-1].name == "ledger"
    assert {task.name for task in tasks_of([Role.UPSERT], [], 0)} == {
        "upsert/live",
        "upsert/backfill",
        "upsert/control",
    }
    assert all("0" in task.command for task in tasks_of([Role.UPSERT], [], 0))


def test_the_command_knows_the_roles_and_lines():
    """Written twice so that `--help` imports nothing; here they are held equal."""
    assert [*RoleName] == [*Role]
    assert [*LineName] == [*Line]


def test_a_nice_child_yields():
    """Its priority is what its task says."""
    code = "import os, sys; print('nice', os.nice(0), file=sys.stderr, flush=True); sys.stdin.read()"
    with Running(("a", code, "9")) as running:
        assert running.until("nice").endswith(f"nice {os.nice(0) + 9}")


def test_every_process_of_up_has_a_port_of_its_own_and_the_same_lake():
    tasks = all_tasks(9000, ["--lake", "l"], 2, "127.0.0.1:8080")
    words = [task.command for task in tasks]
    assert [command[command.index("--port") + 1] for command in words] == [str(9000 + n) for n in range(len(tasks))]
    assert all(command[-2:] == ("--lake", "l") for command in words)
    assert "gateway" in words[-1]


def test_no_process_of_up_outlives_it():
    """Killed outright, `upwell up` can tell nobody: a gateway that stayed would hold the port of the next one."""
    assert all("--owned" in task.command for task in all_tasks(0, [], 1, "127.0.0.1:8080"))


def test_up_without_a_port_or_a_gateway():
    assert "gateway" not in all_tasks(0, [], 1, None)[-1].command
    assert "0" in all_tasks(0, [], 1, "127.0.0.1:8080")[-1].command
