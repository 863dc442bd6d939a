"""The ledger in memory and on disk: the same tests for both, before and after opening it again."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import POSTGRES
from samekind import DIFFERENT, SAME, UNSURE, Ledger, LedgerError
from samekind.ledger import UNANSWERED, open_ledger


class Shelf:
    """Makes ledgers of one sort; `again` closes and opens them where that is possible."""

    def __init__(self, path):
        self.path = path

    def new(self, **options):
        self.options = options
        self.ledger = Ledger(**options) if self.path is None else Ledger(self.path, **options)
        return self.ledger

    def again(self):
        if self.path is not None:
            self.ledger.close()
            self.new(**self.options)
        return self.ledger


@pytest.fixture(params=["memory", "sql", POSTGRES])
def shelf(request, tmp_path):
    places = {
        "memory": lambda: None,
        "sql": lambda: tmp_path / "mine.db",
        "postgres": lambda: request.getfixturevalue("postgres").url(),
    }
    shelf = Shelf(places[request.param]())
    yield shelf
    shelf.ledger.close()


def both(shelf):
    """Yield the ledger as it is, and once more after it was closed and opened."""
    yield shelf.ledger
    yield shelf.again()


def look(ledger, *pairs):
    return ledger.lookup(np.array(pairs)).tolist()


class TestAnswers:
    def test_belong_to_the_unordered_pair(self, shelf):
        shelf.new().record([[3, 1], [1, 7]], [SAME, DIFFERENT])
        for ledger in both(shelf):
            assert look(ledger, (3, 1), (1, 3), (1, 7), (7, 1), (1, 2)) == [1, 1, 0, 0, UNANSWERED]
            assert len(ledger) == 2

    def test_imply_others(self, shelf):
        """P4: what follows from other answers is known, and so not asked."""
        shelf.new().record([[0, 1], [1, 2], [2, 3]], [SAME, SAME, DIFFERENT])
        for ledger in both(shelf):
            assert look(ledger, (0, 2), (0, 3), (3, 4)) == [SAME, DIFFERENT, UNANSWERED]

    def test_imply_nothing_without_infer(self, shelf):
        shelf.new(infer=False).record([[0, 1], [1, 2]], [SAME, SAME])
        for ledger in both(shelf):
            assert look(ledger, (0, 1), (0, 2)) == [SAME, UNANSWERED]

    def test_unsure_is_an_answer_until_somebody_knows(self, shelf):
        """P4: "not sure" is an answer."""
        shelf.new().record([[0, 1]], [UNSURE], who="ann")
        for ledger in both(shelf):
            assert look(ledger, (0, 1)) == [UNSURE]
        shelf.ledger.record([[1, 0]], [SAME], who="bob")
        for ledger in both(shelf):
            assert look(ledger, (0, 1)) == [SAME]
        shelf.ledger.record([[1, 0]], [UNSURE], who="cy")
        for ledger in both(shelf):
            assert look(ledger, (0, 1)) == [SAME]
            assert ledger.contradictions == []

    def test_entries_keep_who_when_and_asked(self, shelf):
        before = time.time()
        shelf.new().record([[0, 1]], [SAME], who="ann")
        shelf.ledger.record([[2, 1]], [UNSURE], who="Bøb 🙂", asked=False)
        after = time.time()
        written = list(shelf.ledger.lines())
        for ledger in both(shelf):
            one, two = ledger.lines()
            assert (one, two) == tuple(written)
            assert one._replace(when=0) == (0, 1, SAME, "ann", 0, True, False)
            assert two._replace(when=0) == (2, 1, UNSURE, "Bøb 🙂", 0, False, False)
            assert before <= one.when <= two.when <= after
            assert len(ledger.log.asked_pairs()) == 1

    @pytest.mark.parametrize(
        ("pairs", "answers", "message"),
        [
            ([[0, 1, 2]], [SAME], r"\(m, 2\) array of row numbers, got int64 \(1, 3\)"),
            ([[0.0, 1.0]], [SAME], r"\(m, 2\) array of row numbers, got float64"),
            ([[0, -1]], [SAME], r"in \[0, 2\^31\), got -1 to 0"),
            ([[0, 1], [4, 4]], [SAME, SAME], r"compared with itself, got the pair \(4, 4\)"),
            ([[0, 1]], [SAME, SAME], "1 pairs need as many answers"),
            ([[0, 1]], [2], "SAME .*, DIFFERENT .* or UNSURE .*, got 2"),
            ([[0, 1]], [0.5], r"got 0\.5"),
        ],
    )
    def test_what_is_not_an_answer_is_refused(self, pairs, answers, message):
        ledger = Ledger()
        with pytest.raises(ValueError, match=message):
            ledger.record(pairs, answers)
        assert len(ledger) == 0


class TestContradictions:
    def test_of_another_person_are_kept_with_the_pairs(self, shelf):
        """P4: contradictions are shown with the pairs involved."""
        shelf.new().record([[0, 1]], [SAME], who="ann")
        shelf.ledger.record([[1, 0]], [DIFFERENT], who="bob")
        for ledger in both(shelf):
            (found,) = ledger.contradictions
            assert found.pairs == ((0, 1), (1, 0))
            assert str(found) == "0 = 1 (ann), 1 ≠ 0 (bob)"
            assert len(ledger) == 2
        shelf.ledger.retract(2)
        for ledger in both(shelf):
            assert ledger.contradictions == []
            assert len(ledger) == 0

    def test_the_same_person_may_correct_an_answer(self, shelf):
        shelf.new().record([[0, 1]], [SAME], who="ann")
        shelf.ledger.record([[1, 0]], [DIFFERENT], who="ann")
        for ledger in both(shelf):
            assert ledger.contradictions == []
            assert look(ledger, (0, 1)) == [DIFFERENT]
            assert [entry.retracted for entry in ledger.lines()] == [True, False]
            assert len(ledger) == 1

    @pytest.mark.parametrize("infer", [True, False])
    def test_with_what_follows(self, shelf, infer):
        """P4: also where one follows from several answers."""
        ledger = shelf.new(infer=infer)
        ledger.record([[0, 1], [1, 2], [0, 2], [5, 6]], [SAME, SAME, DIFFERENT, SAME], who="ann")
        for ledger in both(shelf):
            (found,) = ledger.contradictions
            assert sorted(map(sorted, found.pairs)) == [[0, 1], [0, 2], [1, 2]]
            assert look(ledger, (0, 2)) == [DIFFERENT]  # what was said of the pair itself
        shelf.ledger.correct(1, 2, DIFFERENT, who="ann")
        for ledger in both(shelf):
            assert ledger.contradictions == []


class TestRetract:
    def fill(self, shelf):
        ledger = shelf.new()
        ledger.record([[0, 1], [1, 2], [3, 4]], [SAME, DIFFERENT, SAME], who="ann")
        return ledger

    def test_the_latest_first(self, shelf):
        ledger = self.fill(shelf)
        assert [entry[:3] for entry in ledger.retract(2)] == [(3, 4, SAME), (1, 2, DIFFERENT)]
        for ledger in both(shelf):
            assert look(ledger, (0, 1), (1, 2), (0, 2), (3, 4)) == [SAME, *[UNANSWERED] * 3]
            assert [entry.retracted for entry in ledger.lines()] == [False, True, True]
            assert len(ledger) == 1

    def test_together_what_was_recorded_at_once(self, shelf):
        self.fill(shelf).record([[5, 6], [5, 7]], [SAME, DIFFERENT], who="ann", asked=False)
        shelf.ledger.record([[8, 9]], [SAME], who="bob")
        taken = shelf.again().undo(2)
        assert [[(e.a, e.b) for e in act] for act in taken] == [[(8, 9)], [(5, 7), (5, 6)]]
        assert shelf.ledger.undo(who="bob") == []
        assert [len(act) for act in shelf.ledger.undo(9)] == [3]
        assert shelf.ledger.undo() == []


rows = st.integers(0, 5)
waves = st.lists(
    st.tuples(rows, rows, st.sampled_from([SAME, DIFFERENT, UNSURE])).filter(
        lambda p: p[0] != p[1]
    ),
    min_size=1,
    max_size=5,
)
people = st.sampled_from(["ann", "bob"])
deeds = st.lists(
    st.tuples(st.just("record"), waves, people)
    | st.tuples(st.just("retract"), st.integers(1, 3))
    | st.tuples(st.just("undo"), st.integers(1, 3))
    | st.tuples(st.just("edit"), waves, people),
    max_size=8,
)


@settings(max_examples=40)
@given(deeds, st.booleans())
def test_disk_and_memory_agree_after_any_history(history, infer):
    """P2, P6: a ledger in memory, one on disk and one opened again agree."""
    everything = np.argwhere(~np.eye(6, dtype=bool))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.db"
        memory, disk = Ledger(infer=infer), Ledger(path, infer=infer)
        for deed, *what in history:
            for ledger in (memory, disk):
                if deed in ("record", "edit"):
                    said = np.array(what[0])
                    getattr(ledger, deed)(said[:, :2], said[:, 2], who=what[1])
                else:
                    getattr(ledger, deed)(*what)
        disk.close()
        with Ledger(path, infer=infer) as opened:
            for ledger in (disk, opened):
                assert ledger.lookup(everything).tolist() == memory.lookup(everything).tolist()
                assert ledger.contradictions == memory.contradictions
                lines = [entry._replace(when=0) for entry in ledger.lines()]
                assert lines == [entry._replace(when=0) for entry in memory.lines()]
                assert len(ledger) == len(memory)


class TestOpening:
    def test_by_path_url_and_nothing(self, tmp_path):
        url = f"sqlite:///{tmp_path / 'mine.db'}"
        with Ledger(url) as ledger:
            ledger.record([[0, 1]], [SAME])
        for where in (str(tmp_path / "mine.db"), tmp_path / "mine.db", url):
            with open_ledger(where) as ledger:
                assert look(ledger, (1, 0)) == [SAME]
                assert open_ledger(ledger) is ledger
        assert type(open_ledger(None)) is Ledger
        with pytest.raises(TypeError, match=r"a path, a URL, a Ledger or None, got 5\."):
            open_ledger(5)

    def test_a_closed_project_is_one_file(self, tmp_path):
        with Ledger(tmp_path / "mine.db") as ledger:
            ledger.record([[0, 1]], [SAME])
        assert [file.name for file in tmp_path.iterdir()] == ["mine.db"]

    def make(self, path, script):
        with sqlite3.connect(path) as connection:
            connection.executescript(script)
        connection.close()
        return path

    @pytest.mark.parametrize(
        "script",
        [
            "CREATE TABLE songs (title TEXT)",
            "CREATE TABLE meta (colour TEXT)",
            "CREATE TABLE meta (key TEXT, value TEXT); INSERT INTO meta VALUES ('version', '21');"
            "CREATE TABLE songs (title TEXT)",
        ],
        ids=["songs", "another meta", "a meta as ours"],
    )
    def test_the_database_of_another_program_is_refused_and_left_alone(self, tmp_path, script):
        """P10: whatever its tables are called."""
        path = self.make(tmp_path / "other.db", script)

        def tables():
            connection = sqlite3.connect(path)
            names = connection.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
            connection.close()
            return names

        before = tables()
        with pytest.raises(LedgerError, match=r"other\.db.*samekind project"):
            Ledger(path)
        assert tables() == before

    @pytest.mark.parametrize("version", ["2", "99"])
    def test_of_another_version_is_refused(self, tmp_path, version):
        """P10: neither an older nor a newer version is opened."""
        Ledger(tmp_path / "mine.db").close()
        update = f"UPDATE meta SET value = {version} WHERE key = 'schema_version'"
        self.make(tmp_path / "mine.db", update)
        for read_only in (True, False):
            with pytest.raises(LedgerError, match=rf"schema {version}"):
                Ledger(tmp_path / "mine.db", read_only=read_only)

    @pytest.mark.parametrize(
        "content", [b"hello, world\n" * 500, b"SQLite format 3\0" + b"?" * 5000]
    )
    def test_not_a_database(self, tmp_path, content):
        """P10: a file that is no project at all."""
        path = tmp_path / "letter.txt"
        path.write_bytes(content)
        with pytest.raises(LedgerError, match=r"letter\.txt is not a SQLite database"):
            Ledger(path)
        assert path.read_bytes() == content

    def test_a_missing_folder(self, tmp_path):
        with pytest.raises(LedgerError, match=r"there is no such folder\. Make it first"):
            Ledger(tmp_path / "nowhere" / "mine.db")
        with pytest.raises(LedgerError, match=r"there is no such folder\. Make it first"):
            Ledger(f"sqlite:///{tmp_path}/nowhere/mine.db")

    @pytest.mark.parametrize("url", ["nosuch://host/db", "://", "sqlite://host:port/db"])
    def test_a_url_that_means_nothing(self, url):
        with pytest.raises(LedgerError, match="cannot use this database"):
            Ledger(url)


def test_an_answer_that_is_replaced_twice_is_paid_once(tmp_path):
    """What was paid for passes on to the answer that stands, in memory as on disk."""
    path = tmp_path / "mine.db"
    with Ledger(path) as ledger:
        ledger.record([[0, 1]], [DIFFERENT], who="ann")
        ledger.record([[0, 1]], [SAME], who="ann", asked=False)
        ledger.record([[0, 1]], [DIFFERENT], who="ann", asked=False)
        asked = [line.asked for line in ledger.lines()]
        with Ledger(path) as other:
            assert [line.asked for line in other.lines()] == asked == [True, False, True]


def test_what_a_failed_transaction_wrote_never_comes_back():
    """P2: a failed act leaves nothing, in memory too."""

    def fail(ledger):
        with ledger.transaction():
            ledger.record([[4, 5], [6, 7]], [SAME, SAME], who="zoe")
            ledger.retract()
            ledger.name(4, "four")
            raise RuntimeError("the disk is full")

    ledger = Ledger()
    ledger.record([[0, 1], [2, 3]], [SAME, DIFFERENT])
    before = ledger.revision, list(ledger.lines()), ledger.annotators
    with pytest.raises(RuntimeError, match="full"):
        fail(ledger)
    assert (ledger.revision, list(ledger.lines()), ledger.annotators) == before
    assert ledger.log.names == {}
    ledger.record([[8, 9]], [DIFFERENT])
    assert ledger.active()["a"].tolist() == [0, 2, 8]
    pairs = np.array([[4, 5], [8, 9]])
    assert ledger.lookup(pairs).tolist() == [UNANSWERED, DIFFERENT]
