"""Damaged and tampered projects: refused in words, and found by `samekind check`."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import strategies as st
from typer.testing import CliRunner

from conftest import Expert, answer, blobs
from samekind import DIFFERENT, SAME, Ledger, LedgerDamaged, Session, SqlLedger
from samekind.cli import app
from samekind.data import load
from samekind.project import make_project, open_project
from test_ledger_faults import chain, sql
from test_ledger_gone import filled
from test_project_files import ROWS
from test_project_files import answer as answer_project


def tamper(path, *statements):
    """Change a project as somebody with a hex editor could: no constraint holds."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA foreign_keys = OFF")
    for statement in statements:
        connection.execute(*((statement,) if isinstance(statement, str) else statement))
    connection.close()


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project of 40 rows, as `samekind label` makes it."""
    folder = tmp_path_factory.mktemp("made")
    np.save(folder / "rows.npy", ROWS)
    items = load(folder / "rows.npy")
    project = make_project(items, folder / "mine.db", random_state=0, sheet=0)
    with closing(project):
        answer_project(project, 12)
        said = project.answers().answers[-1]
        project.correct(said.a, said.b, "unsure", who="bob")
        project.rename(project.overview().clusters[0].cluster, "first", who="ann")
        answer_project(project, 3)
        project.undo(who="ann")
    return folder


@pytest.fixture
def path(made, tmp_path):
    """A copy of that project, to be damaged."""
    shutil.copy(made / "mine.db", tmp_path)
    return tmp_path / "mine.db"


TAMPERED = {
    "a row below 0": ("UPDATE answers SET a = -1 WHERE id = 3", "answers 3: there is no row -1"),
    "a row of 10^12": ("UPDATE answers SET b = 1000000000000 WHERE id = 3", "no row 1000000000000"),
    "a row beyond the last": ("UPDATE answers SET b = 40 WHERE id = 3", "there is no row 40"),
    "half a row": ("UPDATE answers SET a = 1.5 WHERE id = 3", "there is no row 1.5"),
    "a row in words": ("UPDATE answers SET a = 'one' WHERE id = 3", "there is no row 'one'"),
    "an answer of 9": ("UPDATE answers SET answer = 9 WHERE id = 3", "the answer is 9"),
    "an answer in words": ("UPDATE answers SET answer = 'yes' WHERE id = 3", "the answer is 'yes'"),
    "a row with itself": ("UPDATE answers SET b = a WHERE id = 3", "compared with itself"),
    "asked twice": ("UPDATE answers SET asked = 2 WHERE id = 3", "whether it was asked is 2"),
    "no text for a person": ("UPDATE answers SET who = X'00FF' WHERE id = 3", "who is no text"),
    "no time": ("UPDATE answers SET at = 'noon' WHERE id = 3", "its time is 'noon'"),
    "an infinite time": ("UPDATE answers SET at = 9e999 WHERE id = 3", "its time is inf"),
    "an id below 1": ("UPDATE answers SET id = -7 WHERE id = 3", "its id is -7"),
    "a name of no row": ("UPDATE names SET row = 5000", "names 1: there is no row 5000"),
    "a retraction of nothing": (
        "INSERT INTO retractions VALUES (77, 500, 1.0)",
        "retractions 77: it is about answer 500, which is not there",
    ),
    "a correction of nothing": ("UPDATE corrections SET replaced_id = 500", "answer 500"),
    "a correction of itself": ("UPDATE corrections SET replaced_id = answer_id", "replaces itself"),
    "garbage for what was expected": (
        "UPDATE answers SET expected = X'DEAD' WHERE id = 3",
        "what was expected of it",
    ),
    "words for what was expected": (
        "UPDATE answers SET expected = 'same' WHERE id = 3",
        "what was expected of it",
    ),
    "settings that are no JSON": (
        "UPDATE meta SET value = '{\"random_state\": ' WHERE key = 'settings'",
        "meta settings: must be a JSON object",
    ),
    "items that are a list": ("UPDATE meta SET value = '[]' WHERE key = 'things'", "a JSON object"),
    "JSON of 10^5 brackets": (
        ("UPDATE meta SET value = ? WHERE key = 'settings'", ("[" * 100_000,)),
        "must be a JSON object",
    ),
    "a seed in words": ("UPDATE meta SET value = 'x' WHERE key = 'seed'", "seed: must be a whole"),
    "a shape in words": ("UPDATE meta SET value = 'big' WHERE key = 'shape'", '"rows x columns"'),
    "a fact that is no text": ("UPDATE meta SET value = X'00' WHERE key = 'title'", "a text"),
}


COLUMNS = {
    "answers": ("id", "a", "b", "answer", "who", "at", "asked", "expected"),
    "retractions": ("id", "answer_id", "at"),
    "names": ("id", "row", "name", "who", "at"),
    "corrections": ("id", "answer_id", "replaced_id"),
    "meta": ("key", "value"),
}
values = st.one_of(
    st.integers(-3, 60),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.binary(max_size=12),
    st.sampled_from(["1", "{}", "[]", "0 x 0", "2 x 2", b"\0" * 8]),
)
changes = st.lists(
    st.sampled_from([(t, c) for t, cs in COLUMNS.items() for c in cs]).flatmap(
        lambda place: st.tuples(st.just(place), st.integers(0, 30), values)
    ),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    X, y = blobs((15, 10))
    path = tmp_path_factory.mktemp("whole") / "mine.db"
    with Session(X, ledger=path, random_state=0) as session:
        answer(session, Expert(y), waves=8)
        session.change([[0, 1]], [SAME], who="ann")
        session.ledger.correct(0, 1, DIFFERENT, who="bob")
        session.ledger.name(3, "three", who="bob")
        session.ledger.retract(who="bob")
    return X, path


class TestTampered:
    @pytest.mark.parametrize(("statement", "words"), TAMPERED.values(), ids=TAMPERED)
    def test_is_refused_and_found(self, path, statement, words):
        tamper(path, statement)
        before = path.read_bytes()
        for read_only in (True, False):
            with pytest.raises(LedgerDamaged, match=r"mine\.db is damaged: .*backup") as caught:
                open_project(path, read_only=read_only).close()
            assert words in str(caught.value)
            assert "Nothing was changed" in str(caught.value)
        found = run("check", path)
        assert found.exit_code == 1
        assert words in found.output.replace("\n", "")
        assert path.read_bytes() == before

    def test_nothing_is_wrong(self, path):
        result = run("check", path)
        assert result.exit_code == 0
        assert "Nothing is wrong" in result.output


class TestTorn:
    def make(self, tmp_path, answers=3_000):
        path = tmp_path / "mine.db"
        with SqlLedger(path) as ledger:
            ledger.record(chain(0, answers), np.ones(answers, dtype=int), who="ann")
            ledger.name(5, "five", who="ann")
        return path

    @pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
    def test_cut_off(self, tmp_path, share):
        path = self.make(tmp_path)
        os.truncate(path, int(path.stat().st_size * share))
        with pytest.raises(LedgerDamaged, match="malformed"):
            SqlLedger(path)
        assert run("check", path).exit_code == 1

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "empty file"),
            (b"hello, world\n" * 500, "not a SQLite database"),
            (b"SQLite format 3\0" + b"?" * 5000, "database"),
        ],
    )
    def test_no_project_at_all(self, tmp_path, content, words):
        path = tmp_path / "mine.db"
        path.write_bytes(content)
        result = run("check", path)
        assert result.exit_code in (1, 2)
        assert words in result.output.replace("\n", " ")
        assert "Traceback" not in result.output
        assert path.read_bytes() == content

    def test_no_file(self, tmp_path):
        result = run("check", tmp_path / "mine.db")
        assert result.exit_code == 2
        assert "there is no such project" in result.output.replace("\n", " ")

    def test_of_another_program(self, tmp_path):
        path = self.make(tmp_path)
        sql(path, "PRAGMA application_id = 77")
        result = run("check", path)
        assert result.exit_code == 1
        assert "another program" in result.output


class TestGaps:
    def test_lines_deleted_by_sql(self, tmp_path):
        path = tmp_path / "mine.db"
        with filled(path) as ledger:
            said = [line[:4] for line in ledger.lines()]
        tamper(path, "DELETE FROM answers WHERE id IN (2, 3, 7)")
        with SqlLedger(path) as ledger:
            assert [line[:4] for line in ledger.lines()] == [
                line for number, line in enumerate(said, start=1) if number not in (2, 3, 7)
            ]
            ledger.record([[60, 61]], [SAME], who="ann")
            ledger.correct(60, 61, DIFFERENT, who="bob")
            ledger.retract(who="bob")
            assert ledger.answer_by(60, 61, "ann") == SAME
            lines = list(ledger.lines())
        with SqlLedger(path) as ledger:
            assert list(ledger.lines()) == lines
        assert sql(path, "PRAGMA foreign_key_check") == []

    def test_the_last_lines_deleted_while_it_is_open(self, tmp_path):
        path = tmp_path / "mine.db"
        with SqlLedger(path) as ledger:
            ledger.record(chain(0, 10), np.ones(10, dtype=int))
            before = ledger.revision
            tamper(path, "DELETE FROM answers WHERE id > 6")
            assert ledger.refresh() is True
            assert ledger.revision[:3] != before[:3]
            assert len(ledger) == 6
            ledger.record([[60, 61]], [SAME])
        assert sql(path, "SELECT max(id) FROM answers") == [(7,)]

    def test_a_session_goes_on(self, tmp_path):
        X, y = blobs()
        with Session(X, ledger=tmp_path / "mine.db", random_state=0) as session:
            answer(session, Expert(y), waves=10)
        tamper(tmp_path / "mine.db", "DELETE FROM answers WHERE id % 3 = 0")
        with Session(X, ledger=tmp_path / "mine.db") as session:
            clusters = answer(session, Expert(y)).clusters()
        assert clusters.n_discovered_ == 3

    def test_deleting_an_answer_deletes_what_refers_to_it(self, tmp_path):
        path = tmp_path / "mine.db"
        filled(path).close()
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM answers")
        for table in ("retractions", "corrections"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        connection.close()


class TestNothingIsWrittenBeforeItIsChecked:
    def test_a_change_of_a_row_that_is_not_there(self, tmp_path):
        X, y = blobs()
        with Session(X, ledger=tmp_path / "mine.db", random_state=0) as session:
            answer(session, Expert(y), waves=3)
            before = session.ledger.revision
            with pytest.raises(ValueError, match="row 80 is not in the data of 80 rows"):
                session.change([[0, 80]], [SAME])
            with pytest.raises(ValueError, match="row 80 is not in the data of 80 rows"):
                session.ledger.record([[0, 80]], [SAME])
            assert session.ledger.revision == before
        with Session(X, ledger=tmp_path / "mine.db") as session:
            assert session.ledger.revision == before

    def test_a_change_without_a_file(self):
        session = Session(blobs()[0], random_state=0)
        with pytest.raises(ValueError, match="row 80"):
            session.change([[0, 80]], [SAME])
        assert session.ledger.revision.answers == 0

    @pytest.mark.parametrize(
        "act",
        [
            lambda ledger: ledger.name(-1, "x"),
            lambda ledger: ledger.name(2**31, "x"),
            lambda ledger: ledger.name(1, None),
            lambda ledger: ledger.name(1, "\ud800"),
            lambda ledger: ledger.name(1, "x", who=3),
            lambda ledger: ledger.record([[0, 1]], [SAME], who="\ud800"),
            lambda ledger: ledger.record([[0, 1]], [9]),
            lambda ledger: ledger.correct(0, 1, 9),
            lambda ledger: ledger.correct(0, 0, SAME),
            lambda ledger: ledger.correct(0, 2**31, SAME),
            lambda ledger: ledger.correct(0, 1, SAME, who=None),
        ],
    )
    def test_by_the_ledger(self, tmp_path, act):
        for ledger in (Ledger(), SqlLedger(tmp_path / "mine.db")):
            ledger.record([[0, 1]], [SAME], who="ann")
            before = ledger.revision
            with pytest.raises((ValueError, TypeError)):
                act(ledger)
            assert ledger.revision == before
            assert ledger.lookup(np.array([[0, 1]])).tolist() == [SAME]
            ledger.close()

    @pytest.mark.parametrize(
        "statement",
        [
            "INSERT INTO answers VALUES (99, -1, 1, 1, '', 1.0, 1, NULL)",
            "INSERT INTO answers VALUES (99, 1, 1, 1, '', 1.0, 1, NULL)",
            "INSERT INTO answers VALUES (99, 1, 2147483648, 1, '', 1.0, 1, NULL)",
            "INSERT INTO answers VALUES (99, 1.5, 2, 1, '', 1.0, 1, NULL)",
            "INSERT INTO answers VALUES (99, 'x', 2, 1, '', 1.0, 1, NULL)",
            "INSERT INTO answers VALUES (99, 1, 2, 9, '', 1.0, 1, NULL)",
            "INSERT INTO answers VALUES (99, 1, 2, 1, '', 'noon', 1, NULL)",
            "INSERT INTO answers VALUES (99, 1, 2, 1, '', 1.0, 5, NULL)",
            "INSERT INTO answers VALUES (0, 1, 2, 1, '', 1.0, 1, NULL)",
            "INSERT INTO retractions VALUES (99, 500, 1.0)",
            "INSERT INTO corrections VALUES (99, 1, 1)",
            "INSERT INTO corrections VALUES (99, 1, 500)",
            "INSERT INTO names VALUES (99, -1, 'x', '', 1.0)",
            "INSERT INTO answers VALUES (99, 1, 2, 1, '', 1.0, 1, X'00')",
        ],
    )
    def test_by_the_tables(self, tmp_path, statement):
        filled(tmp_path / "mine.db").close()
        connection = sqlite3.connect(tmp_path / "mine.db", isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        connection.close()
