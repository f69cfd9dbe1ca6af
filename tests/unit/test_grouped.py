"""Writes of several threads in one transaction."""

import threading
from contextlib import contextmanager, nullcontext

import pytest

from upwell.database import transaction
from upwell.errors import Retryable
from upwell.grouped import MOST_TOGETHER, GroupedWrites
from upwell.sqlite import open_sqlite

WAIT_S = 30


class Desk:
    """A table that is written to through `grouped`; the first write of a `crowd` holds the transaction until all the
    others wait."""

    def __init__(self, engine):
        self._engine = engine
        self.grouped = GroupedWrites(self._transaction)
        self.transactions = 0
        with transaction(engine, "test") as connection:
            connection.exec_driver_sql("CREATE TABLE t (word TEXT)")

    @contextmanager
    def _transaction(self):
        self.transactions += 1
        with transaction(self._engine, "test") as connection:
            yield connection

    def words(self):
        with transaction(self._engine, "test", read_only=True) as connection:
            return sorted(connection.exec_driver_sql("SELECT word FROM t").scalars())

    def crowd(self, *writes):
        """What each of the writes came to, made by as many threads that wait at the same time."""
        held, came = threading.Event(), [None] * len(writes)

        def first(_connection):
            assert held.wait(WAIT_S)

        def ask(n, write):
            try:
                came[n] = self.grouped(write)
            except BaseException as error:  # noqa: BLE001 compared by the test
                came[n] = error

        threads = [threading.Thread(target=self.grouped, args=(first,))]
        threads += [threading.Thread(target=ask, args=(n, write)) for n, write in enumerate(writes)]
        for n, thread in enumerate(threads):
            thread.start()
            self.until(lambda n=n: self.transactions and len(self.grouped._waiting) == n)
        held.set()
        for thread in threads:
            thread.join(WAIT_S)
        return came

    def until(self, condition):
        for _ in range(WAIT_S * 1000):
            if condition():
                return
            threading.Event().wait(0.001)
        pytest.fail("waited in vain")


@pytest.fixture
def desk(tmp_path):
    engine = open_sqlite(tmp_path / "a.sqlite", "OFF")
    yield Desk(engine)
    engine.dispose()


def put(word, error=None):
    def write(connection):
        connection.exec_driver_sql("INSERT INTO t VALUES (?)", (word,))
        if error is not None:
            raise error
        return word.upper()

    return write


def test_writes_that_wait_share_one_transaction(desk):
    """And each gets what its own write gave."""
    assert desk.crowd(put("a"), put("b"), put("c")) == ["A", "B", "C"]
    assert desk.words() == ["a", "b", "c"]
    assert desk.transactions == 2


def test_more_than_a_few_are_several_transactions(desk):
    """Whoever wants the writer's place besides waits for a few of them."""
    words = [f"{n:02}" for n in range(MOST_TOGETHER + 3)]
    assert desk.crowd(*map(put, words)) == words
    assert desk.words() == words
    assert desk.transactions == 3


def test_a_write_that_fails_fails_alone_and_leaves_nothing(desk):
    """What it had written is gone; what the others wrote is there, once."""
    wrong = ZeroDivisionError()
    assert desk.crowd(put("a"), put("b", wrong), put("c")) == ["A", wrong, "C"]
    assert desk.words() == ["a", "c"]


def test_what_fails_alone_raises_and_the_next_write_is_made(desk):
    with pytest.raises(ZeroDivisionError):
        desk.grouped(put("a", ZeroDivisionError()))
    assert desk.grouped(put("b")) == "B"
    assert desk.words() == ["b"]


def test_nobody_hears_of_a_success_that_was_not_committed(desk):
    """A transaction that ends badly has kept nothing: each write is made again, and raises if that fails too."""
    broken = OSError("disk full")

    @contextmanager
    def failing():
        with desk._transaction() as connection:
            yield connection
            if desk.transactions > 1:
                raise broken

    desk.grouped._transaction = failing
    assert desk.crowd(put("a"), put("b")) == [broken, broken]
    assert desk.words() == []
    assert desk.transactions == 4


def test_who_shared_an_interrupted_transaction_tries_again_later(desk):
    """The interrupt is one thread's own; nothing is kept, and nobody waits for ever."""
    interrupt = KeyboardInterrupt()
    came = desk.crowd(put("a", interrupt), put("b"))
    assert came[0] is interrupt
    assert isinstance(came[1], Retryable)
    assert desk.words() == []
    assert desk.grouped(put("c")) == "C"


def test_a_write_that_its_thread_has_given_up_is_never_made(desk):
    """An interrupt fell while it waited."""

    class Interrupted:
        def __enter__(self):
            raise KeyboardInterrupt

        def __exit__(self, *_):
            pass

    turn, desk.grouped._turn = desk.grouped._turn, Interrupted()
    with pytest.raises(KeyboardInterrupt):
        desk.grouped(put("a"))
    desk.grouped._turn = turn
    desk.grouped(put("b"))
    assert desk.words() == ["b"]


def test_many_threads_write_at_once_and_each_is_told_the_truth(desk):
    """Every third write fails; in whatever groups they come, the table holds the others and no more."""
    told = {}

    def work(thread):
        for n in range(30):
            word = f"{thread}-{n:02}"
            with nullcontext() if n % 3 else pytest.raises(ZeroDivisionError):
                told[word] = desk.grouped(put(word, None if n % 3 else ZeroDivisionError()))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert desk.words() == sorted(told)
    assert len(told) == 8 * 20
