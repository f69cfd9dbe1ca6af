"""A lake whose owner leaves is asked again through the next owner; one that stays silent is named."""

import socket
import threading
from pathlib import Path

import pytest

from upwell.answers import StatusAnswer
from upwell.errors import Misconfigured, NotFound
from upwell.runtime.owner.handover import MOST_OWNERS, HandedOverLake, OwnerGone
from upwell.runtime.owner.lock import acquire
from upwell.runtime.owner.remote import RemoteLake


class Owner:
    """A lake that answers `status`, unless it leaves first."""

    def __init__(self, *, leaves: bool, name: str = "here") -> None:
        self.leaves = leaves
        self.name = name
        self.closed = False

    def status(self) -> StatusAnswer:
        if self.leaves:
            raise OwnerGone("gone")
        return StatusAnswer(lake="lake", embedder="hash", pipeline="", owner=self.name, sources=())

    def show(self, doc: str, **_which: object) -> None:
        raise NotFound(doc)

    def close(self) -> None:
        self.closed = True


def handed(owners):
    """A lake over these owners, each the next one's predecessor."""
    left = iter(owners)
    return HandedOverLake(lambda: next(left))


def test_what_an_owner_left_unanswered_is_asked_of_the_next():
    owners = [Owner(leaves=True), Owner(leaves=True), Owner(leaves=False, name="third")]
    assert handed(owners).status().owner == "third"
    assert [owner.closed for owner in owners] == [True, True, False]


def test_an_owner_that_leaves_while_it_is_greeted_is_passed_over():
    tries = []

    def connect():
        tries.append(1)
        if len(tries) < 3:
            raise OwnerGone("gone")
        return Owner(leaves=False)

    assert HandedOverLake(connect).status().owner == "here"


def test_owners_that_never_stay_are_given_up():
    with pytest.raises(OwnerGone):
        handed(Owner(leaves=True) for _ in range(MOST_OWNERS + 2)).status()


def test_the_lake_s_own_errors_are_not_asked_again():
    with pytest.raises(NotFound):
        handed([Owner(leaves=False)]).show("missing.md")


def test_an_owner_that_takes_connections_and_never_answers_is_silent(tmp_path):
    with acquire(tmp_path, "run") as owner:
        assert RemoteLake(owner.info.socket).greet(0.1) is False


def test_a_stopped_owner_is_named_by_a_command(tmp_path):
    from upwell import config, wiring

    settings = config.Settings(lake=tmp_path, owner_wait_s=0.2)
    with acquire(tmp_path, "run"), pytest.raises(Misconfigured, match=r"\(run\) holds this lake and does not answer"):
        wiring.connect(settings)


def test_an_owner_that_hangs_up_has_gone(tmp_path):
    path = str(Path(tmp_path) / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def hang_up():
            connection, _ = listener.accept()
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(OwnerGone):
            RemoteLake(path).greet(5)
        thread.join()
