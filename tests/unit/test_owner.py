"""One lake, one owner: the second comer learns who holds it."""

import os
import stat
from pathlib import Path

import pytest

from upwell.errors import Misconfigured
from upwell.runtime.owner.lock import OwnerInfo, Ownership, acquire, acquire_within, reachable


def test_the_second_learns_who_owns_the_lake(tmp_path):
    with acquire(tmp_path / "lake", "run") as first:
        second = acquire(tmp_path / "lake", "search")
        assert second == first.info == OwnerInfo(pid=os.getpid(), role="run", socket=first.info.socket)
        assert reachable(second)


def test_the_socket_is_for_this_user_alone_and_short(tmp_path):
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    with acquire(deep, "run") as owner:
        path = Path(owner.info.socket)
        assert len(str(path)) < 100
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_lake_given_back_can_be_owned_again_and_its_socket_is_gone(tmp_path):
    first = acquire(tmp_path, "search")
    first.close()
    assert not Path(first.info.socket).exists()
    second = acquire(tmp_path, "search")
    assert isinstance(second, Ownership)
    second.close()


def test_an_owner_that_does_not_answer_is_named(tmp_path):
    with acquire(tmp_path, "run") as owner:
        owner.listener.close()
        with pytest.raises(Misconfigured, match=rf"process {os.getpid()} \(run\) holds this lake"):
            acquire_within(tmp_path, "search", wait_s=0.1)


def test_a_folder_that_cannot_be_a_lake_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be made a lake"):
        acquire(tmp_path / "file" / "lake", "run")
