"""Damaged and tampered projects: refused in words, and found by `samekind check` (P10)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import Expert, answer, blobs
from samekind import SAME, Ledger, LedgerError, Session
from samekind.cli import app
from samekind.data import load
from samekind.ledger import LedgerDamaged, check_project
from samekind.project import make_project, open_project
from test_ledger_faults import chain
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
        said = project.answers.page().answers[-1]
        project.answers.correct(said.a, said.b, "unsure", who="bob")
        project.kinds.rename(project.overview.all().clusters[0].cluster, "first", who="ann")
        answer_project(project, 3)
        project.undo(who="ann")
    return folder


@pytest.fixture
def path(made, tmp_path):
    """A copy of that project, to be damaged."""
    shutil.copy(made / "mine.db", tmp_path)
    return tmp_path / "mine.db"


TAMPERED = {
    "an item below 0": "UPDATE events SET a = -1 WHERE id = (SELECT {answer})",
    "an item beyond the last": "UPDATE events SET b = 40 WHERE id = (SELECT {answer})",
    "an item in words": "UPDATE events SET a = 'one' WHERE id = (SELECT {answer})",
    "an answer of 9": "UPDATE events SET answer = 9 WHERE id = (SELECT {answer})",
    "no UTF-8": "UPDATE events SET who = CAST(X'C328' AS TEXT) WHERE id = (SELECT {answer})",
    "an unknown kind": "UPDATE events SET kind = 'guess' WHERE id = (SELECT {answer})",
    "a name that is no text": "UPDATE events SET payload = X'00' WHERE kind = 'name'",
    "a retraction of no act": "UPDATE events SET ref = NULL WHERE kind = 'retract'",
    "garbage for what was expected": "UPDATE events SET expected = X'DEAD' WHERE id = (SELECT {answer})",
    "settings that are no JSON": "UPDATE events SET payload = '{{' WHERE kind = 'settings'",
    "a fact that is no text": "UPDATE events SET payload = '{{\"title\": 5}}' WHERE kind = 'settings'",
    "things that are a list": 'UPDATE events SET payload = \'{{"things": "[]"}}\' '
    "WHERE payload LIKE '%things%'",
    "rows of no data": "UPDATE items SET rows = X'0500000000000000'",
    "digests that are cut off": "UPDATE items SET digests = X'05'",
}
ANSWER = "min(id) FROM events WHERE kind = 'answer' AND id > 8"


class TestTampered:
    @pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED)
    def test_is_refused_and_found(self, path, statement):
        """P10: a row that no program of ours wrote."""
        tamper(path, statement.format(answer=ANSWER))
        before = path.read_bytes()
        for read_only in (True, False):
            with pytest.raises(LedgerDamaged, match=r"mine\.db is damaged: .*backup"):
                open_project(path, read_only=read_only).close()
        found = run("check", path)
        assert found.exit_code == 1
        assert "damaged" in found.output
        assert path.read_bytes() == before

    def test_nothing_is_wrong(self, path):
        result = run("check", path)
        assert result.exit_code == 0
        assert "Nothing is wrong" in result.output

    def test_flipped_bytes_are_refused_or_change_nothing_that_counts(self, path, tmp_path):
        """P10: Whatever a disk does to a file: it opens, or a LedgerError says what is wrong."""
        rng, whole = np.random.default_rng(0), path.read_bytes()
        for number in range(60):
            content = bytearray(whole)
            for place in rng.integers(100, len(content), 40):
                content[place] = rng.integers(256)
            torn = tmp_path / f"torn-{number}.db"
            torn.write_bytes(content)
            try:
                Ledger(torn, read_only=True).close()
            except LedgerError:
                assert not check_fine(torn)


def check_fine(path):
    try:
        return check_project(path).is_fine
    except LedgerError:
        return False


class TestTorn:
    def make(self, tmp_path, answers=3_000):
        path = tmp_path / "mine.db"
        with Ledger(path) as ledger:
            ledger.record(chain(0, answers), np.ones(answers, dtype=int), who="ann")
            ledger.name(5, "five", who="ann")
        return path

    @pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
    def test_cut_off(self, tmp_path, share):
        """P10: at any place."""
        path = self.make(tmp_path)
        os.truncate(path, int(path.stat().st_size * share))
        with pytest.raises(LedgerDamaged, match="malformed"):
            Ledger(path)
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

    @pytest.mark.parametrize(
        "act",
        [
            lambda ledger: ledger.name(-1, "x"),
            lambda ledger: ledger.name(1, None),
            lambda ledger: ledger.name(1, "\ud800"),
            lambda ledger: ledger.record([[0, 1]], [SAME], who="\ud800"),
            lambda ledger: ledger.record([[0, 1]], [9]),
            lambda ledger: ledger.correct(0, 0, SAME),
            lambda ledger: ledger.correct(0, 1, SAME, who=None),
        ],
    )
    def test_by_the_ledger(self, tmp_path, act):
        for ledger in (Ledger(), Ledger(tmp_path / "mine.db")):
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
            "INSERT INTO events VALUES (99, 99, 'answer', '', 1.0, 1, 1, 1, 0, NULL, NULL, NULL)",
            "INSERT INTO events VALUES (99, 99, 'answer', '', 1.0, 1, 2, 9, 0, NULL, NULL, NULL)",
            "INSERT INTO events VALUES (99, 99, 'answer', '', 1.0, 1, 2, 1, 0, NULL, NULL, X'00')",
            "INSERT INTO events VALUES (99, 99, 'guess', '', 1.0, 1, 2, 1, 0, NULL, NULL, NULL)",
            "INSERT INTO events VALUES (99, 100, 'answer', '', 1.0, 1, 2, 1, 0, NULL, NULL, NULL)",
            "INSERT INTO events VALUES (99, 99, 'retract', '', 1.0, NULL, NULL, NULL, 0, 500, NULL, NULL)",
        ],
    )
    def test_by_the_tables(self, tmp_path, statement):
        filled(tmp_path / "mine.db").close()
        connection = sqlite3.connect(tmp_path / "mine.db", isolation_level=None)
        connection.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        connection.close()
