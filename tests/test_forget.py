"""`samekind forget`: somebody's answers and traces go for good, and the project goes on (P12)."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from acts import dump
from conftest import Expert, answer, blobs
from samekind import DIFFERENT, SAME, UNSURE, Ledger, Session
from samekind.cli import app
from samekind.data import load
from samekind.ledger import check_project
from samekind.ledger import forget as erase
from samekind.ledger.store import Store
from samekind.project import make_project, open_project
from test_ledger_faults import fork, sql
from test_project_files import ROWS
from test_project_files import answer as answer_project

MALLORY = "mallory-of-the-long-name"


def forget(*arguments):
    return CliRunner().invoke(app, ["forget", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def path(tmp_path):
    """A project in which two people answered, corrected each other, named and undid."""
    np.save(tmp_path / "rows.npy", ROWS)
    items = load(tmp_path / "rows.npy")
    project = make_project(items, tmp_path / "mine.db", random_state=0, sheet=0)
    with closing(project):
        answer_project(project, 10, "ann")
        answer_project(project, 10, MALLORY)
        said = next(s for s in project.answers.page().answers if s.who == "ann")
        project.answers.correct(said.a, said.b, "unsure", who=MALLORY)
        theirs = next(s for s in project.answers.page().answers[1:] if s.who == MALLORY and s.asked)
        project.answers.correct(theirs.a, theirs.b, "unsure", who="ann")
        clusters = [found.cluster for found in project.overview.all().clusters]
        project.kinds.rename(clusters[0], "by ann", who="ann")
        project.kinds.rename(clusters[0], "by mallory", who=MALLORY)
        project.kinds.merge(clusters[:2], who=MALLORY)
        project.undo(who=MALLORY)
        answer_project(project, 5, "ann")
    return tmp_path / "mine.db"


class TestForget:
    def test_leaves_no_trace_and_the_project_goes_on(self, path):
        """P12: no byte of a name is left in any file."""
        result = forget(path, "--who", MALLORY, "--yes")
        assert result.exit_code == 0, result.output
        assert f"answers and 1 name of '{MALLORY}' are erased" in result.output.replace("\n", " ")
        assert "1 answer of others" in result.output.replace("\n", " ")
        for file in path.parent.iterdir():
            assert MALLORY.encode() not in file.read_bytes(), file
            assert b"by mallory" not in file.read_bytes(), file
        assert check_project(path).is_fine
        with closing(open_project(path)) as project:
            assert {said.who for said in project.answers.page().answers} == {"ann"}
            assert {found.name for found in project.overview.all().clusters} >= {"by ann"}
            assert project.status().known_rows > 8  # what ann said counts, all of it
            answer_project(project, 5, "ann")
            answer_project(project, 5, MALLORY)  # who may come back
        with closing(open_project(path)) as project:
            assert {said.who for said in project.answers.page().answers} == {"ann", MALLORY}

    def test_says_how_many_and_asks_first(self, path, monkeypatch):
        """P12: with the numbers, before anything is changed."""
        answers = sql(
            path,
            f"SELECT count(*) FROM events WHERE who = '{MALLORY}' AND kind IN ('answer', 'edit')",
        )[0][0]
        monkeypatch.setattr("samekind.cli._upkeep._confirmed", lambda: False)
        result = forget(path, "--who", MALLORY)
        assert result.exit_code == 0
        assert f"{answers} answers and 1 name of" in result.output.replace("\n", " ")
        assert "Nothing was changed" in result.output
        assert sql(
            path,
            f"SELECT count(*) FROM events WHERE who = '{MALLORY}' AND kind IN ('answer', 'edit')",
        ) == [(answers,)]

    def test_needs_yes_where_nobody_can_be_asked(self, path):
        result = forget(path, "--who", MALLORY)
        assert result.exit_code == 2
        assert "--yes" in result.output

    def test_of_somebody_who_gave_no_answer(self, path):
        result = forget(path, "--who", "zoe", "--yes")
        assert result.exit_code == 2
        assert f"'ann', '{MALLORY}'" in result.output.replace("\n", "")

    def test_a_server_that_has_it_open_forgets_too(self, path):
        with closing(open_project(path)) as project:
            assert MALLORY in {said.who for said in project.answers.page().answers}
            forgotten = erase(path, MALLORY)
            assert forgotten.answers
            project.status()
            assert {said.who for said in project.answers.page().answers} == {"ann"}
            answer_project(project, 3, "ann")
            said = next(s for s in project.answers.page().answers if s.asked)
            project.answers.correct(said.a, said.b, "unsure", who="bob")
            project.undo(who="bob")
        assert check_project(path).is_fine

    def test_says_when_traces_stay_as_another_program_reads(self, path):
        reading = sqlite3.connect(path, isolation_level=None)
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM events").fetchone()
        result = forget(path, "--who", MALLORY, "--yes")
        assert result.exit_code == 0
        assert "stop it and run this command again" in result.output.replace("\n", " ")
        reading.close()
        assert (
            forget(path, "--who", MALLORY, "--yes").exit_code == 2
        )  # nothing is left to be erased
        for file in path.parent.iterdir():
            assert MALLORY.encode() not in file.read_bytes(), file

    def test_names_the_files_that_may_hold_more(self, path):
        other = path.with_name("mine.new.answers.db")
        Ledger(other).close()
        result = forget(path, "--who", MALLORY, "--yes")
        assert "mine.new.answers.db" in result.output

    def test_is_one_transaction(self, path, monkeypatch):
        before = sql(path, "SELECT * FROM events"), sql(path, "SELECT * FROM links")

        def fail(*args):
            raise OSError("no more")

        monkeypatch.setattr("samekind.ledger.store.Transaction.begin_edition", fail)
        with pytest.raises(OSError, match="no more"):
            erase(path, MALLORY)
        now = sql(path, "SELECT * FROM events"), sql(path, "SELECT * FROM links")
        assert now == before

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the process is made by fork")
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_killed_before_the_traces_are_gone_it_can_be_run_again(self, path):
        def forget_and_die():
            Store.scrub = lambda store: os._exit(0)
            erase(path, MALLORY)

        fork(forget_and_die).join(60)
        with pytest.raises(ValueError, match="gave no answer"):
            erase(path, MALLORY)
        for file in path.parent.iterdir():
            assert MALLORY.encode() not in file.read_bytes(), file

    def test_a_mistyped_name_changes_nothing(self, path):
        """P12: and the names that there are are said."""
        before = dump(path)
        for _ in range(2):
            with pytest.raises(ValueError, match="'ann'"):
                erase(path, MALLORY[:-1])
        assert dump(path) == before

    def test_somebody_with_opinions_only_is_asked_about_first(self, tmp_path, monkeypatch):
        """P12: opinions are erased like answers."""
        monkeypatch.setattr("samekind.cli._upkeep._confirmed", lambda: False)
        with Ledger(tmp_path / "mine.db") as ledger:
            ledger.opine([(0, 1, SAME), (0, 2, SAME)], who="eve")
            ledger.record([[0, 1]], [SAME], who="ann")
        for options, left in (([], 2), (["--yes"], 0)):
            result = forget(tmp_path / "mine.db", "--who", "eve", *options)
            assert result.exit_code == 0
            assert "2 opinions" in result.output
            with Ledger(tmp_path / "mine.db", read_only=True) as ledger:
                assert len(ledger.log.opinions.standing()) == left
                assert len(ledger) == 1


class TestLedger:
    def test_what_theirs_replaced_stands_again(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path) as ledger:
            ledger.record([[0, 1], [2, 3]], [SAME, SAME], who="ann")
            ledger.correct(0, 1, DIFFERENT, who="bob")
            ledger.correct(2, 3, DIFFERENT, who="bob")
            ledger.retract(who="bob")  # brings (2, 3) back ...
            ledger.retract(who="ann")  # ... which ann takes back
            assert erase(path, "bob")[:4] == (2, 0, 0, 1)
            ledger.refresh()
            assert ledger.answer_by(0, 1, "ann") == SAME
            assert ledger.answer_by(2, 3, "ann") is None
            assert ledger.annotators == ["ann"]
            lines = list(ledger.lines())
        with Ledger(path) as ledger:
            assert list(ledger.lines()) == lines

    def test_what_others_put_in_place_of_theirs_stays(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path) as ledger:
            ledger.record([[0, 1]], [SAME], who="ann")
            ledger.correct(0, 1, UNSURE, who="bob")
            erase(path, "ann")
            ledger.refresh()
            assert ledger.answer_by(0, 1, "bob") == UNSURE
            ledger.retract(who="bob")  # there is nothing to bring back any more
            assert len(ledger) == 0

    def test_what_they_took_back_of_others_stays_taken_back(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path) as ledger:
            ledger.record([[0, 1], [1, 2]], [SAME, SAME], who="ann")
            ledger.record([[5, 6]], [SAME], who="bob")
            ledger.undo(2)
            ledger.record([[7, 8]], [SAME], who="bob")
            erase(path, "bob")
            ledger.refresh()
            assert len(ledger) == 0
            ledger.record([[1, 2]], [SAME], who="cy")  # with a number that nothing has taken back
            assert len(ledger) == 1

    def test_a_session_without_a_project_goes_on(self, tmp_path):
        X, y = blobs()
        with Session(X, ledger=tmp_path / "mine.db", random_state=0) as session:
            for who in ("ann", "bob"):
                for _ in range(5):
                    pairs = session.pending()
                    session.tell(pairs, Expert(y)(pairs), who=who)
        erase(tmp_path / "mine.db", "bob")
        with Session(X, ledger=tmp_path / "mine.db") as session:
            assert answer(session, Expert(y)).clusters().n_discovered_ == 3
