"""A filter on system calls (seccomp) for the parsers' child: no other process, no socket, no change to any file.

A list of what is forbidden, not of what is allowed: parsers bring many C libraries, which must go on working. The
numbers are the kernel's (asm/unistd.h); https://docs.kernel.org/userspace-api/seccomp_filter.html.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

from upwell.records import Record

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; arguments are little-endian here
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
SET_MODE_FILTER, ALL_THREADS = 1, 1
CLONE_THREAD = 0x10000
OTHER_ABI = 0x40000000  # x32 numbers on x86-64


class Numbers(Record, frozen=True, kw_only=True):
    """System calls of one architecture: `refused` whatever their arguments, the others by their first argument."""

    architecture: int
    seccomp: int
    clone: int
    tgkill: int
    prlimit: int
    refused: tuple[int, ...]


# Everywhere: pidfd_send_signal, io_uring (three), pidfd_open, pidfd_getfd, fchmodat2, setxattrat, removexattrat
COMMON = (424, 425, 426, 427, 434, 438, 452, 463, 466)
CLONE3 = 435
MACHINES = {
    "x86_64": Numbers(
        architecture=0xC000003E,
        seccomp=317,
        clone=56,
        tgkill=234,
        prlimit=302,
        refused=(
            *COMMON,
            *(29, 41, 42, 43, 49, 50, 288),  # shmget, socket, connect, accept, bind, listen, accept4
            *(57, 58, 59, 322),  # fork, vfork, execve, execveat
            *(62, 200, 129, 297, 101, 310, 311, 312),  # kill, tkill, sigqueue (two), ptrace, process_vm (two), kcmp
            *(155, 161, 165, 166, 272, 308, 304, 319),  # roots and mounts, unshare, setns, open_by_handle, memfd
            *(175, 313, 176, 246, 320, 248, 249, 250, 298, 321, 323),  # modules, kexec, keys, perf, bpf, userfaultfd
            *(76, 77, 285, 82, 83, 84, 86, 87, 88, 133),  # truncate … mknod
            *(258, 259, 263, 264, 265, 266, 316),  # mkdirat, mknodat, unlinkat, renameat, linkat, symlinkat, renameat2
            *(90, 91, 92, 93, 94, 268, 260, 132, 235, 261, 280),  # modes, owners, times
            *(188, 189, 190, 197, 198, 199),  # attributes
        ),
    ),
    "aarch64": Numbers(
        architecture=0xC00000B7,
        seccomp=277,
        clone=220,
        tgkill=131,
        prlimit=261,
        refused=(
            *COMMON,
            *(194, 198, 203, 202, 200, 201, 242),
            *(221, 281),
            *(129, 130, 138, 240, 117, 270, 271, 272),
            *(41, 51, 40, 39, 97, 268, 265, 279),
            *(105, 273, 106, 104, 294, 217, 218, 219, 241, 280, 282),
            *(45, 46, 47),
            *(34, 33, 35, 38, 37, 36, 276),
            *(52, 53, 55, 54, 88),
            *(5, 6, 7, 14, 15, 16),
        ),
    ),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_calls(notes: list[str]) -> bool:
    """Refuse the calls for good, in every thread; False (with a note) where that cannot be had.

    Needs `no_new_privs`. A refused call fails with EPERM: the parser goes on, or fails like any that lacks a right.
    """
    numbers = MACHINES.get(platform.machine()) if sys.platform == "linux" else None
    if numbers is None:
        notes.append(f"system calls are not filtered on {sys.platform} {platform.machine()}")
        return False
    program = _program(numbers, os.getpid())
    libc = ctypes.CDLL(None, use_errno=True)
    made = _Program(len(program) // 8, program)
    if libc.syscall(numbers.seccomp, SET_MODE_FILTER, ALL_THREADS, ctypes.byref(made)) == 0:
        return True
    notes.append(f"system calls are not filtered: {os.strerror(ctypes.get_errno())}")
    return False


def _program(numbers: Numbers, own_pid: int) -> bytes:
    """BPF, 8 bytes an instruction: code, where to jump if true, if false (instructions to skip), operand."""
    refuse, allow = REFUSE | errno.EPERM, ALLOW
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, numbers.architecture),
        (RETURN, 0, 0, refuse),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, OTHER_ABI),
        (RETURN, 0, 0, refuse),
        (EQUAL, 0, 1, CLONE3),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),  # its flags lie in memory; libc then takes clone
    ]
    for number in numbers.refused:
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, refuse)]
    for number, test, operand in (
        (numbers.clone, ANY_BIT, CLONE_THREAD),
        (numbers.tgkill, EQUAL, own_pid),  # abort() signals itself
        (numbers.prlimit, EQUAL, 0),  # its own limits alone
    ):
        steps += [
            (EQUAL, 0, 4, number),
            (LOAD, 0, 0, FIRST_ARGUMENT),
            (test, 0, 1, operand),
            (RETURN, 0, 0, allow),
            (RETURN, 0, 0, refuse),
        ]
    steps.append((RETURN, 0, 0, allow))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
