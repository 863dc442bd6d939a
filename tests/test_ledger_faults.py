"""What really goes wrong: killed processes, a full disk, two writers, a lock that stays (P1)."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import sqlite3
import time
from types import MappingProxyType

import numpy as np
import pytest
import sqlalchemy as sa

from conftest import Expert, answer, assert_same_clusters, blobs, keys
from samekind import DIFFERENT, SAME, Ledger, LedgerError, Session
from samekind.ledger import UNANSWERED

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are made by fork"),
]


def fork(target, *args):
    process = multiprocessing.get_context("fork").Process(target=target, args=args)
    process.start()
    return process


def sql(path, statement):
    connection = sqlite3.connect(path)
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


class TestKilled:
    """A labelling run that is killed again and again."""

    X, y = blobs((60, 50, 40, 30), seed=3)
    options = MappingProxyType({"algorithm": "basic", "random_state": 7, "budget": 400, "batch": 2})
    kills = 15

    def label(self, path, pipe):
        """Answer one question after another, and acknowledge each one once it is kept."""
        expert = Expert(self.y)
        with Session(self.X, ledger=path, **self.options) as session:
            while not session.done:
                pair = session.pending()[:1]
                session.tell(pair, expert(pair))
                a, b = pair[0].tolist()
                os.write(pipe, f"{a} {b} {int(self.y[a] == self.y[b])}\n".encode())
                time.sleep(0.001)

    def run_and_kill(self, path, after):
        """Return what was acknowledged before the kill, `after` seconds from the first answer."""
        reading, writing = os.pipe()
        process = fork(self.label, path, writing)
        os.close(writing)
        select.select([reading], [], [], 30)
        time.sleep(after)
        process.kill()
        process.join(30)
        with os.fdopen(reading, "rb") as pipe:
            lines = pipe.read().decode().splitlines(keepends=True)
        acknowledged = [tuple(map(int, line.split())) for line in lines if line.endswith("\n")]
        return acknowledged, process.exitcode

    def test_no_acknowledged_answer_is_lost_and_nothing_is_asked_twice(self, tmp_path):
        """P1, P4: killed again and again, the run ends as one that nobody killed."""
        path = tmp_path / "mine.db"
        rng = np.random.default_rng(0)
        acknowledged, killed = [], 0
        for _ in range(self.kills):
            new, exitcode = self.run_and_kill(path, after=0.03 * rng.random())
            acknowledged += new
            killed += exitcode == -signal.SIGKILL
            assert sql(path, "PRAGMA integrity_check") == [("ok",)]
            with Ledger(path) as ledger:
                said = [entry[:3] for entry in ledger.lines()]
            assert set(acknowledged) <= set(said)
            assert len(said) <= len(acknowledged) + killed  # at most one was kept, not acknowledged
        assert killed >= 10

        with Session(self.X, ledger=path, **self.options) as session:
            resumed = answer(session, Expert(self.y)).clusters()
            pairs = keys([entry[:2] for entry in session.ledger.lines()])
        assert len(set(pairs)) == len(pairs) == resumed.n_questions_
        whole = answer(Session(self.X, **self.options), Expert(self.y)).clusters()
        assert_same_clusters(resumed, whole)


class Disk:
    """Limits the pages that SQLite may use, as a full disk does."""

    def __init__(self, ledger):
        self.pages = 2**30
        sa.event.listen(ledger.store._engine, "begin", self.limit)

    def limit(self, connection):
        connection.exec_driver_sql(f"PRAGMA max_page_count = {self.pages}")

    def fill(self):
        self.pages = 1  # SQLite keeps what is there and gives no page more

    def make_room(self):
        self.pages = 2**30


def chain(start, size):
    return np.column_stack([np.arange(start, start + size), np.arange(start, start + size) + 1])


class TestFullDisk:
    def test_a_wave_is_kept_whole_or_not_at_all(self, tmp_path):
        """P1: what could not be written is not acknowledged, and not known."""
        path = tmp_path / "mine.db"
        ledger = Ledger(path)
        disk = Disk(ledger)
        ledger.record(chain(0, 10), np.ones(10, dtype=int), who="ann")
        disk.fill()
        large = chain(100, 2000)
        with pytest.raises(LedgerError, match=r"mine\.db could not .*disk is full"):
            ledger.record(large, np.ones(2000, dtype=int), who="bob")
        assert len(ledger) == len(list(ledger.lines())) == 10
        assert (ledger.lookup(large) == UNANSWERED).all()
        assert ledger.lookup(np.array([[0, 10]])).tolist() == [SAME]
        assert sql(path, "SELECT count(*), max(id) FROM events") == [(10, 10)]

        disk.make_room()
        ledger.record(large, np.ones(2000, dtype=int), who="bob")
        assert ledger.lookup(np.array([[100, 2100]])).tolist() == [SAME]
        ledger.close()
        with Ledger(path) as opened:
            assert len(opened) == 2010

    def test_a_session_goes_on_when_there_is_room(self, tmp_path):
        """P1: the same questions are open, and the run is the same."""
        X, y = blobs((2_500, 2_000))
        ledger = Ledger(tmp_path / "mine.db")
        disk = Disk(ledger)
        options = {"algorithm": "uniform", "random_state": 0, "batch": 2_000}
        session = Session(X, ledger=ledger, **options)
        pairs, said = session.pending(), Expert(y)(session.pending())
        disk.fill()
        with pytest.raises(LedgerError, match="disk is full"):
            session.tell(pairs, said)
        assert session.n_questions == 0
        assert keys(session.pending()) == keys(pairs)
        disk.make_room()
        session.tell(pairs, said)
        assert session.n_questions == len(pairs)
        after = answer(session, Expert(y)).clusters()
        assert_same_clusters(after, answer(Session(X, **options), Expert(y)).clusters())
        ledger.close()


class TestTwoWriters:
    def test_a_lock_that_stays_is_reported(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path, wait=0.1) as ledger:
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            started = time.perf_counter()
            with pytest.raises(
                LedgerError, match=r"locked.*another program that writes.*try again"
            ):
                ledger.record([[0, 1]], [SAME])
            assert time.perf_counter() - started < 5
            assert len(ledger) == 0
            other.execute("COMMIT")
            other.close()
            ledger.record([[0, 1]], [SAME])
            assert len(ledger) == 1

    def test_refresh_sees_answers_and_retractions_of_the_other(self, tmp_path):
        """P6: and its own are no news."""
        path = tmp_path / "mine.db"
        with Ledger(path) as mine, Ledger(path) as other:
            other.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="bob")
            assert mine.lookup(np.array([[0, 2]])).tolist() == [UNANSWERED]
            assert mine.refresh() is False
            assert mine.lookup(np.array([[0, 2]])).tolist() == [DIFFERENT]
            other.retract()
            assert mine.refresh() is True
            assert mine.lookup(np.array([[0, 2], [0, 1]])).tolist() == [UNANSWERED, SAME]
            assert list(mine.lines()) == list(other.lines())
            mine.retract()
            assert mine.refresh() is False  # its own retractions are no news

    def test_both_may_retract_the_same_answer(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path) as mine, Ledger(path) as other:
            mine.record([[0, 1]], [SAME])
            other.refresh()
            other.retract()
            mine.retract()
            mine.record([[0, 1]], [DIFFERENT])
            other.refresh()
            for ledger in (mine, other):
                assert len(ledger) == 1
                assert ledger.lookup(np.array([[0, 1]])).tolist() == [DIFFERENT]
