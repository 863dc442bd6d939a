"""`samekind forget`: somebody's answers and traces go for good, and the project goes on."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import Expert, answer, blobs
from samekind import DIFFERENT, SAME, UNSURE, Session, SqlLedger
from samekind.cli import app
from samekind.data import load
from samekind.ledger import check_file
from samekind.project import ProjectError, forget_annotator, make_project, open_project
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
        said = next(s for s in project.answers().answers if s.who == "ann")
        project.correct(said.a, said.b, "unsure", who=MALLORY)
        theirs = next(s for s in project.answers().answers[1:] if s.who == MALLORY and s.asked)
        project.correct(theirs.a, theirs.b, "unsure", who="ann")
        clusters = [found.cluster for found in project.overview().clusters]
        project.rename(clusters[0], "by ann", who="ann")
        project.rename(clusters[0], "by mallory", who=MALLORY)
        project.merge(clusters[:2], who=MALLORY)
        project.undo(who=MALLORY)
        answer_project(project, 5, "ann")
    return tmp_path / "mine.db"


class TestForget:
    def test_leaves_no_trace_and_the_project_goes_on(self, path):
        result = forget(path, "--who", MALLORY, "--yes")
        assert result.exit_code == 0, result.output
        assert f"answers and 1 name of '{MALLORY}' are erased" in result.output.replace("\n", " ")
        assert "1 answer of others" in result.output.replace("\n", " ")
        for file in path.parent.iterdir():
            assert MALLORY.encode() not in file.read_bytes(), file
            assert b"by mallory" not in file.read_bytes(), file
        assert check_file(path).is_fine
        with closing(open_project(path)) as project:
            assert {said.who for said in project.answers().answers} == {"ann"}
            assert {found.name for found in project.overview().clusters} >= {"by ann"}
            assert project.status().known_rows > 8  # what ann said counts, all of it
            answer_project(project, 5, "ann")
            answer_project(project, 5, MALLORY)  # who may come back
        with closing(open_project(path)) as project:
            assert {said.who for said in project.answers().answers} == {"ann", MALLORY}

    def test_says_how_many_and_asks_first(self, path, monkeypatch):
        answers = sql(path, f"SELECT count(*) FROM answers WHERE who = '{MALLORY}'")[0][0]
        monkeypatch.setattr("samekind.cli._forget._confirmed", lambda: False)
        result = forget(path, "--who", MALLORY)
        assert result.exit_code == 0
        assert f"{answers} answers and 1 name of" in result.output.replace("\n", " ")
        assert "Nothing was changed" in result.output
        assert sql(path, f"SELECT count(*) FROM answers WHERE who = '{MALLORY}'") == [(answers,)]

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
            assert MALLORY in {said.who for said in project.answers().answers}
            forgotten = forget_annotator(path, MALLORY)
            assert forgotten.answers
            project.status()
            assert {said.who for said in project.answers().answers} == {"ann"}
            answer_project(project, 3, "ann")
            said = next(s for s in project.answers().answers if s.asked)
            project.correct(said.a, said.b, "unsure", who="bob")
            project.undo(who="bob")
        assert check_file(path).is_fine

    def test_says_when_traces_stay_as_another_program_reads(self, path):
        reading = sqlite3.connect(path, isolation_level=None)
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM answers").fetchone()
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
        SqlLedger(other).close()
        result = forget(path, "--who", MALLORY, "--yes")
        assert "mine.new.answers.db" in result.output

    def test_is_one_transaction(self, path, monkeypatch):
        before = sql(path, "SELECT count(*) FROM answers"), sql(path, "SELECT * FROM names")

        def fail(*args):
            raise OSError("no more")

        monkeypatch.setattr("samekind.ledger.erase.begin_edition", fail)
        with pytest.raises(OSError, match="no more"):
            forget_annotator(path, MALLORY)
        now = sql(path, "SELECT count(*) FROM answers"), sql(path, "SELECT * FROM names")
        assert now == before

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the process is made by fork")
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_killed_before_the_traces_are_gone_it_can_be_run_again(self, path):
        def forget_and_die():
            with SqlLedger(path) as ledger:
                ledger.forget(MALLORY)
                os._exit(0)

        fork(forget_and_die).join(60)
        with pytest.raises(ProjectError, match="gave no answer"):
            forget_annotator(path, MALLORY)
        for file in path.parent.iterdir():
            assert MALLORY.encode() not in file.read_bytes(), file


class TestLedger:
    def test_what_theirs_replaced_stands_again(self, tmp_path):
        with SqlLedger(tmp_path / "mine.db") as ledger:
            ledger.record([[0, 1], [2, 3]], [SAME, SAME], who="ann")
            ledger.correct(0, 1, DIFFERENT, who="bob")
            ledger.correct(2, 3, DIFFERENT, who="bob")
            ledger.retract(who="bob")  # brings (2, 3) back, as a new line ...
            ledger.retract(who="ann")  # ... which ann takes back
            assert ledger.forget("bob")[:3] == (2, 0, 1)
            assert ledger.answer_by(0, 1, "ann") == SAME
            assert ledger.answer_by(2, 3, "ann") is None
            assert ledger.annotators == ["ann"]
            lines = list(ledger.lines())
        with SqlLedger(tmp_path / "mine.db") as ledger:
            assert list(ledger.lines()) == lines

    def test_what_others_put_in_place_of_theirs_stays(self, tmp_path):
        with SqlLedger(tmp_path / "mine.db") as ledger:
            ledger.record([[0, 1]], [SAME], who="ann")
            ledger.correct(0, 1, UNSURE, who="bob")
            ledger.forget("ann")
            assert ledger.answer_by(0, 1, "bob") == UNSURE
            ledger.retract(who="bob")  # there is nothing to bring back any more
            assert len(ledger) == 0

    def test_a_session_without_a_project_goes_on(self, tmp_path):
        X, y = blobs()
        with Session(X, ledger=tmp_path / "mine.db", random_state=0) as session:
            for who in ("ann", "bob"):
                for _ in range(5):
                    pairs = session.pending()
                    session.tell(pairs, Expert(y)(pairs), who=who)
        forget_annotator(tmp_path / "mine.db", "bob")
        with Session(X, ledger=tmp_path / "mine.db") as session:
            assert answer(session, Expert(y)).clusters().n_discovered_ == 3
