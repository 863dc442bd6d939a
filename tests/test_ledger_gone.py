"""A project's file that is deleted, moved or replaced under the program that has it open."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import closing

import numpy as np
import pytest

from conftest import Expert, answer, blobs
from samekind import DIFFERENT, SAME, Ledger, LedgerError, Session
from samekind.data import load
from samekind.ledger import LedgerGone
from samekind.measures import adjusted_rand_index
from samekind.project import make_project, open_project
from test_ledger_changes import written
from test_ledger_faults import chain, sql
from test_project_files import ROWS
from test_project_files import answer as answer_project


def delete(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("elsewhere.db"))


def replace_by_another(path):
    other = path.with_name("other.db")
    with Ledger(other) as ledger:
        ledger.record([[7, 8]], [SAME], who="somebody else")
    os.replace(other, path)


def replace_by_a_text(path):
    path.with_name("letter").write_text("hello")
    os.replace(path.with_name("letter"), path)


def delete_the_folder(path):
    shutil.rmtree(path.parent)


FATES = [delete, move, replace_by_another, replace_by_a_text]


def filled(path):
    ledger = Ledger(path)
    ledger.record(chain(0, 20), np.ones(20, dtype=int), who="ann")
    ledger.record([[3, 40]], [DIFFERENT], who="bob", asked=False)
    ledger.correct(0, 1, DIFFERENT, who="bob")
    ledger.retract(who="ann")
    ledger.name(4, "größe", who="ann")
    expected = np.array([[0.5, 0.25]], dtype=np.float32)
    ledger.record([[60, 70]], [SAME], who="ann", expected=expected)
    ledger.set("colour", "green")
    return ledger


class TestWriting:
    @pytest.mark.parametrize("happens", FATES)
    def test_stops_and_all_of_it_is_kept(self, tmp_path, happens):
        """P1, P10: nothing more is acknowledged, and what was is kept in a file beside it."""
        path = tmp_path / "mine.db"
        ledger = filled(path)
        before = written(ledger)
        happens(path)
        there = path.read_bytes() if path.exists() else None
        with pytest.raises(LedgerGone, match=r"mine\.db was .*rescue.*samekind label") as caught:
            ledger.record([[50, 51]], [SAME], who="ann")
        assert written(ledger) == before  # what was refused does not count
        rescue = caught.value.rescue
        assert rescue.startswith(str(tmp_path / "mine.rescue-"))
        assert stat.S_IMODE(os.stat(rescue).st_mode) == 0o600
        assert sql(rescue, "PRAGMA integrity_check") == [("ok",)]
        with Ledger(rescue) as kept:
            now = written(kept)
            assert now[0] == before[0]
            assert now[1][4][:2] == ("größe", "ann")
            assert now[2:4] == before[2:4]
            kept.retract(who="bob")  # what bob had replaced is back
            assert kept.answer_by(0, 1, "ann") == SAME
        assert (path.read_bytes() if path.exists() else None) == there
        ledger.close()
        assert (path.read_bytes() if path.exists() else None) == there

    def test_and_goes_on_stopping(self, tmp_path):
        path = tmp_path / "mine.db"
        ledger = filled(path)
        delete(path)
        for act in (
            lambda: ledger.name(1, "x"),
            lambda: ledger.record([[50, 51]], [SAME]),
            lambda: ledger.retract(),
            lambda: ledger.refresh(),
            lambda: ledger.set("a", "b"),
        ):
            with pytest.raises(LedgerGone, match=r"mine\.rescue-"):
                act()
        assert len(list(tmp_path.glob("mine.rescue-*.db"))) == 1
        ledger.close()

    def test_in_the_middle_of_an_act(self, tmp_path):
        path = tmp_path / "mine.db"
        ledger = filled(path)
        before = written(ledger)

        def act():
            with ledger.transaction():
                ledger.record([[50, 51]], [SAME], who="ann")
                replace_by_another(path)
                ledger.name(50, "new")

        with pytest.raises(LedgerGone) as caught:
            act()
        assert written(ledger) == before
        with Ledger(caught.value.rescue) as kept:
            assert written(kept)[0] == before[0]

    def test_the_other_project_is_whole(self, tmp_path):
        """P10: What SQLite kept beside the old file must not be taken for a part of the new one."""
        path = tmp_path / "mine.db"
        ledger = filled(path)
        assert (tmp_path / "mine.db-wal").stat().st_size
        replace_by_another(path)
        with pytest.raises(LedgerGone):
            ledger.record([[50, 51]], [SAME])
        ledger.close()
        with Ledger(path) as other:
            assert [line[:4] for line in other.lines()] == [(7, 8, SAME, "somebody else")]
        assert sql(path, "PRAGMA integrity_check") == [("ok",)]

    def test_a_moved_project_has_all_answers_where_it_is_now(self, tmp_path):
        ledger = filled(tmp_path / "mine.db")
        before = written(ledger)
        move(tmp_path / "mine.db")
        with pytest.raises(LedgerGone):
            ledger.record([[50, 51]], [SAME])
        ledger.close()
        with Ledger(tmp_path / "elsewhere.db") as moved:
            assert written(moved) == before

    def test_with_its_folder(self, tmp_path, monkeypatch):
        (tmp_path / "deep").mkdir()
        ledger = filled(tmp_path / "deep" / "mine.db")
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        delete_the_folder(tmp_path / "deep" / "mine.db")
        with pytest.raises(LedgerGone) as caught:
            ledger.record([[50, 51]], [SAME])
        assert caught.value.rescue.startswith(str(tmp_path / "mine.rescue-"))
        with Ledger(caught.value.rescue) as kept:
            assert len(kept) == len(ledger)

    def test_where_no_copy_can_be_written(self, tmp_path, monkeypatch):
        (tmp_path / "deep").mkdir()
        ledger = filled(tmp_path / "deep" / "mine.db")
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
        delete_the_folder(tmp_path / "deep" / "mine.db")
        with pytest.raises(LedgerGone, match="could not be written") as caught:
            ledger.record([[50, 51]], [SAME])
        assert caught.value.rescue is None


class TestIdentity:
    def test_another_programs_database_is_refused(self, tmp_path):
        Ledger(tmp_path / "mine.db").close()
        sql(tmp_path / "mine.db", "PRAGMA application_id = 77")
        with pytest.raises(LedgerError, match=r"another program \(application id 77\)"):
            Ledger(tmp_path / "mine.db")


class TestSessions:
    def test_go_on_from_the_rescue(self, tmp_path):
        X, y = blobs()
        session = Session(X, ledger=tmp_path / "mine.db", random_state=3)
        answer(session, Expert(y), waves=10)
        delete(tmp_path / "mine.db")
        pending = session.pending()
        with pytest.raises(LedgerGone) as caught:
            session.tell(pending, Expert(y)(pending))
        assert (session.pending() == pending).all()
        with Session(X, ledger=caught.value.rescue) as resumed:
            assert sorted(resumed.known_clusters()) == sorted(session.known_clusters())
            rescued = answer(resumed, Expert(y)).clusters()
        assert adjusted_rand_index(y, rescued.labels_) == 1

    def test_the_page_says_so_and_acknowledges_nothing(self, tmp_path):
        web = pytest.importorskip("test_web_api", reason="needs the packages of the page")
        np.save(tmp_path / "rows.npy", ROWS)
        project = make_project(load(tmp_path / "rows.npy"), tmp_path / "mine.db", random_state=0)
        with closing(project), web.Serving(project) as server:
            answer_project(project, 5)
            question = project.next("ann", lineup=False)[0]
            delete(tmp_path / "mine.db")
            body = {"id": question.id, "answer": "same"}
            for _ in range(2):
                reply = server.client.post("/api/answers", json=body)
                assert reply.status_code == 503
                assert "deleted or moved" in reply.json()["error"]
                assert "mine.rescue-" in reply.json()["error"]
                assert str(tmp_path) not in reply.json()["error"]
            assert server.client.get("/api/status").status_code == 503
        [rescue] = tmp_path.glob("mine.rescue-*.db")
        with closing(open_project(rescue)) as kept:
            assert kept.status().presses == 5
            answer_project(kept, 3)
