"""Takes rights away from the process it runs in, as far as the system lets an ordinary user: for the parsers' child.

Called before anything hostile is read and before any thread is started (a user namespace needs a single thread).
"""

import ctypes
import os
import resource
import signal
import sys
import threading
import time

from upwell.parse.confined.landlock import restrict
from upwell.parse.confined.seccomp import filter_calls
from upwell.parse.limits import Limits
from upwell.records import Record

CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE = 38, 4
WATCH_S = 0.05
OVER_MEMORY_STATUS = 77
# What libraries read, on Linux: themselves, fonts and time zones, the machine's processors. No document is among it.
READ = (
    *(
        "/lib",
        "/lib32",
        "/lib64",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/libexec",
        "/usr/share",
        "/nix/store",
        "/usr/local/lib",
    ),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/fonts"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)


class Confinement(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What holds in a parser's child on this system; `notes` says what could not be had, and why.

    `network` False means that there is none. `landlock` is the version of that interface which holds (1: no file but
    those of Python and its libraries, 4: no TCP, 6: no signals to others), 0 for none. `system_calls_filtered`: no new
    process, no socket, no change to any file.
    """

    platform: str
    memory: str
    network: bool
    no_new_privileges: bool
    no_file_writes: bool
    landlock: int = 0
    system_calls_filtered: bool = False
    notes: tuple[str, ...] = ()


def confine(limits: Limits) -> Confinement:
    """Take the rights away, for good."""
    notes: list[str] = []
    closed: list[str] = []
    left = _leave_network(closed)
    statm = _statm()
    privileges = _no_new_privileges(notes)
    landlock = restrict((os.devnull,), (*READ, *_of_python()), notes) if privileges else 0
    memory = _limit_memory(limits, statm, notes)
    writes = _limit(resource.RLIMIT_FSIZE, 0, notes, "file writes")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _limit(resource.RLIMIT_CORE, 0, notes, "core dumps")
    _limit(resource.RLIMIT_NOFILE, limits.open_files, notes, "open files")
    filtered = privileges and filter_calls(notes)
    if not (left or filtered):
        notes.extend(closed)
    return Confinement(
        platform=sys.platform,
        memory=memory,
        network=not (left or filtered),
        no_new_privileges=privileges,
        no_file_writes=writes,
        landlock=landlock,
        system_calls_filtered=filtered,
        notes=tuple(notes),
    )


def _of_python() -> tuple[str, ...]:
    """Where modules are imported from, lazily too."""
    return (sys.prefix, sys.base_prefix, sys.exec_prefix, *(path for path in sys.path if path))


def allow_cpu(seconds: float) -> None:
    """Let the process use this much more processor time; beyond it the system ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def give_memory_back() -> None:
    """Return to the system what the C library keeps for later: some milliseconds, and nothing where it knows no way."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
        if trim is not None:
            trim(0)


def _leave_network(notes: list[str]) -> bool:
    """A network namespace of its own, without even a loopback that is up."""
    if sys.platform != "linux":
        notes.append("the network cannot be closed on this platform")
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    for flags in (CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC, CLONE_NEWNET | CLONE_NEWIPC):
        if libc.unshare(flags) == 0:
            return True
    notes.append(f"the network stays open: {os.strerror(ctypes.get_errno())} (unprivileged user namespaces are off)")
    return False


def _no_new_privileges(notes: list[str]) -> bool:
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        return True
    notes.append(f"set-user-id programs stay usable: {os.strerror(ctypes.get_errno())}")
    return False


def _limit_memory(limits: Limits, statm: int | None, notes: list[str]) -> str:
    """Private memory by rlimit where the kernel counts it (Linux), and by a thread that looks and ends the process.

    Both, because a C library that gets no memory aborts, which looks like a fault of its own; the thread sees it coming
    and says what it was. Python code gets a MemoryError from the rlimit, should it be faster than the thread.
    """
    limited = sys.platform == "linux" and _limit(resource.RLIMIT_DATA, limits.memory_bytes, notes, "memory")
    most = limits.memory_bytes - limits.memory_bytes // 16
    threading.Thread(target=_watch_memory, args=(most, statm), daemon=True).start()
    return "rlimit" if limited else "watched"


def _watch_memory(most_bytes: int, statm: int | None) -> None:
    while True:
        if (_resident_at_most() if statm is None else _private_or_resident(statm)) > most_bytes:
            os._exit(OVER_MEMORY_STATUS)
        time.sleep(WATCH_S)


def _statm() -> int | None:
    """The kernel's count of this process's pages, opened while it may be."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _private_or_resident(statm: int) -> int:
    """What the rlimit counts (untouched pages too), or what lies in memory: the larger."""
    # Not ru_maxrss, which a process begins with the highest that its parent ever had.
    pages = os.pread(statm, 200, 0).split()
    return max(int(pages[1]), int(pages[5])) * resource.getpagesize()


def _resident_at_most() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _limit(what: int, value: int, notes: list[str], name: str) -> bool:
    try:
        _, hard = resource.getrlimit(what)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))
    except (OSError, ValueError) as e:
        notes.append(f"no limit on {name}: {e}")
        return False
    return True
