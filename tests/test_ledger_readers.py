"""Readers: they wait for nobody, need no lock, write nothing, and read from what cannot be written (P8)."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import blobs
from samekind import DIFFERENT, SAME, Ledger, LedgerError, Session
from samekind.cli import app
from samekind.data import load
from samekind.project import make_project, open_project
from test_ledger_faults import chain, fork, sql
from test_project_files import ROWS, answer

NOBODY = 65_534

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX"),
]

HOLDS_THE_LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO meta VALUES ('unfinished', 'x')")
print("holds it", flush=True)
time.sleep(30)
"""


@contextmanager
def another_program_writing(path):
    """Have another program hold a write transaction, for 30 seconds or until this is left."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS_THE_LOCK, str(path)], stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "holds it\n"
        try:
            yield
            assert program.poll() is None  # it held the lock all the time
        finally:
            program.kill()


@pytest.fixture
def folder():
    """A folder that anybody may look into."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


@pytest.fixture
def path(folder):
    np.save(folder / "rows.npy", ROWS)
    with closing(make_project(load(folder / "rows.npy"), folder / "mine.db", random_state=0)) as p:
        answer(p, 12)
    return folder / "mine.db"


def seen_by_nobody(look):
    """Call a function in a process that owns nothing and may write nothing of ours; it must return True."""

    def work():
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        os._exit(0 if look() is True else 1)

    process = fork(work)
    process.join(60)
    return process.exitcode == 0


class TestWhileAnotherProgramWrites:
    """P8: somebody else holds the lock, and readers do not wait."""

    def test_a_project_can_be_opened_and_looked_at(self, path, folder):
        with another_program_writing(path):
            for read_only in (True, False):
                with closing(open_project(path, read_only=read_only)) as project:
                    assert project.status().questions >= 12
                    assert project.overview.all().clusters
                    project.export("clusters.csv", folder / "c.csv")

    def test_the_commands_that_read(self, path, folder, monkeypatch):
        monkeypatch.chdir(folder)
        with another_program_writing(path):
            for command in (
                ["export", "mine.db", "-o", "out"],
                ["classify", "mine.db", "rows.npy", "--predict"],
                ["check", "mine.db"],
            ):
                result = CliRunner().invoke(app, command)
                assert result.exit_code == 0, result.output

    def test_the_pages_state(self, path):
        web = pytest.importorskip("test_web_api", reason="needs the packages of the page")
        with (
            closing(open_project(path)) as project,
            web.Serving(project) as server,
            another_program_writing(path),
        ):
            for part in ("status", "next", "clusters", "answers", "map"):
                assert server.client.get(f"/api/{part}").status_code == 200

    def test_a_session_opens_without_the_lock_if_nothing_is_to_be_written(self, tmp_path):
        X, _ = blobs()
        with Session(X, ledger=tmp_path / "mine.db", random_state=0) as session:
            pending = session.pending()
        with another_program_writing(tmp_path / "mine.db"):
            ledger = Ledger(tmp_path / "mine.db", wait=0.1)
            assert (Session(X, ledger=ledger).pending() == pending).all()
            with pytest.raises(LedgerError, match="locked"):
                ledger.record([[0, 1]], [SAME])


class TestReadOnlyMedia:
    """File and folder cannot be written, and nothing can be made beside the file."""

    def lock(self, folder):
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)

    def test_a_closed_project(self, path, folder):
        self.lock(folder)

        def look():
            with closing(open_project(path, read_only=True)) as project:
                return project.status().questions >= 12

        assert seen_by_nobody(look)
        assert (
            sorted(f.name for f in folder.iterdir() if "-wal" in f.name or "-shm" in f.name) == []
        )

    def test_the_commands(self, path, folder):
        out = Path(tempfile.mkdtemp())
        out.chmod(0o777)
        self.lock(folder)

        def look():
            os.chdir(out)
            commands = (
                ["export", str(path), "-o", "out"],
                ["classify", str(path), str(folder / "rows.npy"), "--predict"],
                ["check", str(path)],
            )
            return all(CliRunner().invoke(app, command).exit_code == 0 for command in commands)

        assert seen_by_nobody(look)
        assert (out / "out" / "clusters.csv").stat().st_size
        shutil.rmtree(out)

    def test_what_was_written_last_counts_though_it_is_not_in_the_file_itself(self, folder):
        """A server was killed, then the folder became a CD: the last answers are in the -wal file."""
        path = folder / "mine.db"

        def write_and_die():
            ledger = Ledger(path)
            ledger.record([[0, 1]], [SAME])
            os._exit(0)

        fork(write_and_die).join(60)
        assert (folder / "mine.db-wal").stat().st_size
        (folder / "mine.db-shm").unlink()
        (scratch := folder / "scratch").mkdir()
        self.lock(folder)
        scratch.chmod(0o777)

        def look():
            tempfile.tempdir = str(scratch)
            with Ledger(path, read_only=True) as ledger:
                found = ledger.lookup(np.array([[1, 0]])).tolist()
            return found == [SAME] and not os.listdir(scratch)

        assert seen_by_nobody(look)

    def test_writing_is_refused_in_words(self, path):
        with Ledger(path, read_only=True) as ledger:
            before = len(ledger)
            with pytest.raises(LedgerError, match=r"mine\.db is open for reading only"):
                ledger.record([[0, 1]], [SAME])
            with pytest.raises(LedgerError, match="for reading only"), ledger.transaction():
                pass
            assert len(ledger) == before


class TestReadersChangeNothing:
    def test_a_reader_leaves_the_file_and_the_folder_as_they_were(self, path, folder):
        open_project(path, read_only=True).close()  # keeps features of the rows beside it
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        with closing(open_project(path, read_only=True)) as project:
            project.status()
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before

    def test_a_reader_sees_what_is_written_meanwhile(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path) as writer, Ledger(path, read_only=True) as reader:
            writer.record([[0, 1]], [DIFFERENT])
            assert len(reader) == 0
            reader.refresh()
            assert reader.lookup(np.array([[0, 1]])).tolist() == [DIFFERENT]

    def test_no_project_is_made(self, tmp_path):
        with pytest.raises(LedgerError, match="there is no such project"):
            Ledger(tmp_path / "mine.db", read_only=True)
        assert list(tmp_path.iterdir()) == []


class TestPermissions:
    def test_nobody_else_may_read_a_project(self, tmp_path):
        before = os.umask(0o022)
        try:
            with Ledger(tmp_path / "mine.db") as ledger:
                ledger.record(chain(0, 10), np.ones(10, dtype=int))
                files = sorted(tmp_path.iterdir())
                assert [file.name for file in files] == ["mine.db", "mine.db-shm", "mine.db-wal"]
                assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        finally:
            os.umask(before)

    def test_nor_what_is_kept_beside_it(self, folder, path):
        before = os.umask(0o022)
        try:
            open_project(path).close()
        finally:
            os.umask(before)
        beside = list(folder.glob("mine.features*"))
        assert beside
        assert {stat.S_IMODE(file.stat().st_mode) for file in beside} == {0o600}

    def test_a_project_that_is_shared_stays_shared(self, tmp_path):
        Ledger(tmp_path / "mine.db").close()
        (tmp_path / "mine.db").chmod(0o664)
        with Ledger(tmp_path / "mine.db") as ledger:
            ledger.record([[0, 1]], [SAME])
            modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
            assert modes == {0o664}


class TestEmptyFiles:
    def test_becomes_a_project_when_one_is_made_there(self, tmp_path):
        (tmp_path / "mine.db").touch()
        with Ledger(tmp_path / "mine.db") as ledger:
            ledger.record([[0, 1]], [SAME])
        assert sql(tmp_path / "mine.db", "SELECT count(*) FROM events") == [(1,)]

    def test_is_no_project_to_be_opened(self, tmp_path):
        (tmp_path / "mine.db").touch()
        with pytest.raises(
            LedgerError, match=r"mine\.db is an empty file \(0 bytes\).* put a copy"
        ):
            open_project(tmp_path / "mine.db")
        assert (tmp_path / "mine.db").stat().st_size == 0

    def test_is_refused_while_the_last_answers_lie_beside_it(self, tmp_path):
        path = tmp_path / "mine.db"

        def write_and_die():
            Ledger(path).record([[0, 1]], [SAME])
            os._exit(0)

        fork(write_and_die).join(60)
        os.truncate(path, 0)
        wal = (tmp_path / "mine.db-wal").read_bytes()
        for read_only in (True, False):
            with pytest.raises(LedgerError, match=r"0 bytes.*mine\.db-wal beside it is not"):
                Ledger(path, read_only=read_only)
        assert (tmp_path / "mine.db-wal").read_bytes() == wal
