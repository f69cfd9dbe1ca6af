#!/bin/sh
# Makes .venv from a lock file with Python's own venv and pip: tools/setup.sh requirements.lock
# Does nothing when the lock and pyproject.toml are those it last installed. Ends in one line and status 1 when it cannot.
set -eu

lock=$1
venv=.venv
stamp=$venv/.installed-$(basename "$lock")
place=$venv/.made-in  # a moved .venv holds scripts that point to where it was
unset PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_HASHES PIP_CONSTRAINT

fail() {
    echo "setup: $1" >&2
    exit 1
}

# Says why a Python will not do; says nothing when it will. Runs in any Python 3.
check='
import platform, struct, sys, sysconfig
if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED") or struct.calcsize("P") != 8:
    print("is not the usual 64-bit CPython")
elif not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print("is %d.%d, and 3.11, 3.12 or 3.13 is needed" % sys.version_info[:2])
elif sys.platform == "darwin" and platform.machine() != "arm64":
    print("is for Intel, and Apple silicon is needed (an arm64 Python, not under Rosetta)")
elif sys.platform == "darwin" and int((platform.mac_ver()[0] or "0").split(".")[0]) < 14:
    print("runs on macOS %s, and macOS 14 or newer is needed" % platform.mac_ver()[0])
elif sys.platform.startswith("linux") and platform.machine() not in ("x86_64", "aarch64", "arm64"):
    print("runs on %s, and x86_64 or arm64 is needed" % platform.machine())
elif sys.platform.startswith("linux") and (
    platform.libc_ver()[0] != "glibc" or tuple(map(int, platform.libc_ver()[1].split(".")[:2])) < (2, 28)
):
    print("runs on a Linux without glibc 2.28 or newer (Debian 10, Ubuntu 18.10, RHEL 8 or later have it)")
elif sys.platform != "darwin" and not sys.platform.startswith("linux"):
    print("runs on %s, and Linux or macOS is needed" % sys.platform)
else:
    try:
        import ensurepip, venv
    except ImportError:
        print("lacks venv (on Debian and Ubuntu: apt-get install python%d.%d-venv)" % sys.version_info[:2])
'

# The newest Python that will do, as `python`; `reason` keeps what was wrong with the others.
find_python() {
    reason=""
    for python in python3.13 python3.12 python3.11 python3; do
        "$python" -c "pass" >/dev/null 2>&1 || continue
        problem=$("$python" -c "$check" 2>&1 | tail -n 1)
        [ -z "$problem" ] && return 0
        [ -z "$reason" ] && reason=" ($python $problem)"
    done
    return 1
}

[ -f "$lock" ] || fail "$lock is missing"
wanted=$(cat "$lock" pyproject.toml | cksum)

if [ -x "$venv/bin/python" ] && [ "$(cat "$place" 2>/dev/null || pwd)" = "$(pwd)" ] &&
    [ -z "$("$venv/bin/python" -c "$check" 2>&1)" ]; then
    [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && exit 0
else
    find_python || fail "install Python 3.11, 3.12 or 3.13 with venv$reason"
    echo "setup: making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv" || fail "$python could not make $venv; is the disk full, or the folder read-only?"
    pwd >"$place"
fi

"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >/dev/null ||
    fail "$venv has no pip; remove $venv and try again"
pip() {
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install --no-input "$@"
}
echo "setup: installing $(grep -c '^[a-z]' "$lock") packages of $lock into $venv"
pip --require-hashes --no-deps -r "$lock" || fail "the packages of $lock could not be installed; is the network there?"
pip --no-deps --no-build-isolation -e . || fail "Upwell itself could not be installed into $venv"
echo "$wanted" >"$stamp"
echo "setup: done; the command is $venv/bin/upwell"
