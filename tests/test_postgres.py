"""Projects in PostgreSQL, on a real server: several writers, restarts, and moves to SQLite and back."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from acts import ACTS, contents, open_at, prepare, write_data
from postgres import PASSWORD, running
from samekind import DIFFERENT, SAME, Ledger, LedgerError
from samekind.cli import app
from samekind.data import load
from samekind.ledger import (
    LedgerGone,
    LedgerMissing,
    ProjectURL,
    check_project,
    forget,
    move_project,
    silence,
)
from samekind.ledger.store import Transaction
from samekind.project import cache_of, make_project, open_project
from test_project_files import ROWS
from test_project_files import answer as answer_project

pytestmark = pytest.mark.xdist_group("postgres")


def fork(target, *args):
    process = multiprocessing.get_context("fork").Process(target=target, args=args)
    process.start()
    return process


def cli(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def url(postgres):
    return postgres.url()


@pytest.fixture(scope="module")
def mortal():
    """A server that tests stop, restart and kill."""
    with running() as server:
        yield server


def pairs_in(where):
    with Ledger(where, read_only=True) as ledger:
        return sorted((line.a, line.b) for line in ledger.lines())


class TestSeveralWriters:
    @staticmethod
    def write(url, first, count):
        with Ledger(url, wait=60) as ledger:
            for number in range(first, first + count):
                ledger.record([[number, 10**6]], [DIFFERENT], who=f"from {first}")

    @pytest.mark.slow
    def test_four_lose_nothing(self, url):
        """P1: four processes that write at once."""
        writers = [fork(self.write, url, 1000 * k, 200) for k in range(4)]
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0] * 4
        wanted = [(1000 * k + number, 10**6) for k in range(4) for number in range(200)]
        assert pairs_in(url) == sorted(wanted)

    @staticmethod
    def open(url, barrier):
        barrier.wait(30)
        Ledger(url).close()

    @pytest.mark.slow
    def test_six_open_it_first(self, url):
        barrier = multiprocessing.get_context("fork").Barrier(6)
        openers = [fork(self.open, url, barrier) for _ in range(6)]
        for opener in openers:
            opener.join(60)
        assert [opener.exitcode for opener in openers] == [0] * 6
        with Ledger(url) as one, Ledger(url) as two:
            assert one.settings == two.settings

    def test_see_each_others_answers(self, url):
        """P6: on a server as on a file."""
        with Ledger(url) as one, Ledger(url) as two:
            one.record([[0, 1]], [SAME], who="ann")
            assert two.refresh() is False
            assert two.answer_by(0, 1, "ann") == SAME
            two.record([[1, 2]], [SAME], who="bob")
            one.retract(who="ann")
            assert [line.who for line in one.lines() if not line.retracted] == ["bob"]
            assert two.refresh() is True

    @pytest.mark.slow
    def test_what_is_checked_within_a_transaction_holds(self, url):
        """Two that write only while there is nothing: one of them finds what the other wrote."""
        wrote = []

        def write_if_empty(name):
            with Ledger(url) as ledger:
                started.wait(10)
                with ledger.transaction():
                    if not len(ledger):
                        time.sleep(0.05)
                        ledger.record([[0, 1]], [SAME], who=name)
                        wrote.append(name)

        Ledger(url).close()
        started = threading.Barrier(4)
        threads = [threading.Thread(target=write_if_empty, args=[f"{k}"]) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(wrote) == 1
        assert pairs_in(url) == [(0, 1)]

    def test_who_reads_waits_for_nobody(self, url):
        """P8: while another one writes."""
        with Ledger(url, wait=0.2) as busy, Ledger(url, wait=0.2) as other:
            busy.record([[0, 1]], [SAME])
            with busy.transaction():
                busy.record([[2, 3]], [SAME])
                began = time.monotonic()
                assert other.refresh() is False
                assert pairs_in(url) == [(0, 1)]
                assert time.monotonic() - began < 0.2
                with pytest.raises(LedgerError, match=r"lock timeout.*Nothing was changed"):
                    other.record([[4, 5]], [SAME])
            other.record([[4, 5]], [SAME])
        assert pairs_in(url) == [(0, 1), (2, 3), (4, 5)]

    @pytest.mark.slow
    def test_answers_are_on_disk_though_the_server_would_not_wait(self, postgres, url):
        """P1: whatever the server is set to."""
        with Ledger(url) as ledger:
            postgres.execute("ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()")
            try:
                time.sleep(0.1)
                with ledger.transaction():
                    show = ledger.open_transaction.connection.exec_driver_sql(
                        "SHOW synchronous_commit"
                    )
                    assert show.scalar() == "on"
            finally:
                postgres.execute("ALTER SYSTEM RESET synchronous_commit", "SELECT pg_reload_conf()")


@pytest.mark.slow
class TestALostConnection:
    def test_the_first_write_and_read_after_a_restart(self, mortal):
        url = mortal.url()
        with Ledger(url) as ledger, Ledger(url) as reader:
            ledger.record([[0, 1]], [SAME])
            mortal.restart()
            ledger.record([[1, 2]], [SAME])
            reader.refresh()
            assert len(reader) == 2

    def test_waits_for_a_server_that_is_coming_back(self, mortal):
        with Ledger(mortal.url()) as ledger:
            mortal.stop()
            starter = threading.Timer(0.3, mortal.start)
            starter.start()
            ledger.record([[1, 2]], [SAME])
            starter.join()

    def test_a_server_that_stays_away(self, mortal):
        with Ledger(mortal.url(), wait=0.2) as ledger:
            mortal.stop()
            try:
                with pytest.raises(LedgerError, match=r"Nothing was changed.*the server") as caught:
                    ledger.record([[1, 2]], [SAME])
            finally:
                mortal.start()
            assert PASSWORD not in str(caught.value)
            assert len(ledger) == 0
            ledger.record([[1, 2]], [SAME])

    @pytest.mark.parametrize("kept", [True, False])
    def test_while_it_is_kept(self, url, monkeypatch, kept):
        """P1: the server has kept it, or has not, and cannot say so."""
        commit = psycopg.Connection.commit

        def lose(connection):
            monkeypatch.undo()
            if kept:
                commit(connection)
            connection.close()
            raise psycopg.OperationalError("the connection is lost")

        with Ledger(url) as ledger:
            monkeypatch.setattr(psycopg.Connection, "commit", lose)
            if kept:
                ledger.record([[0, 1]], [SAME])
            else:
                with pytest.raises(LedgerError, match="the connection is lost"):
                    ledger.record([[0, 1]], [SAME])
                assert len(ledger) == 0
                ledger.record([[0, 1]], [SAME])
            ledger.record([[1, 2]], [SAME])
        assert pairs_in(url) == [(0, 1), (1, 2)]

    @staticmethod
    def write_on(url, first, told, stop):
        """Write until told to stop, saying it again where nothing was changed."""
        number = first
        with Ledger(url, wait=30) as ledger, told.open("w") as file:
            while not stop.is_set():
                try:
                    ledger.record([[number, 10**6]], [DIFFERENT])
                except LedgerError:
                    continue
                file.write(f"{number}\n")
                file.flush()
                number += 1

    def kill_often(self, mortal, folder, times, seed):
        url, rng = mortal.url(), random.Random(seed)
        Ledger(url).close()
        stop = multiprocessing.get_context("fork").Event()
        told = [folder / f"told-{k}" for k in range(2)]
        writers = [fork(self.write_on, url, 10_000 * k, told[k], stop) for k in range(2)]
        while not all(path.exists() and path.stat().st_size for path in told):
            time.sleep(0.02)  # until both are under way: who cannot open it is told so, and ends
        for _ in range(times):
            time.sleep(rng.uniform(0.02, 0.3))
            mortal.kill()
            mortal.start()
        time.sleep(0.3)
        stop.set()
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0, 0]
        acknowledged = [int(line) for path in told for line in path.read_text().split()]
        assert len(acknowledged) > 5 * times
        assert pairs_in(url) == sorted((number, 10**6) for number in acknowledged)
        assert check_project(ProjectURL(url)).is_fine

    def test_a_server_that_is_killed_loses_and_doubles_nothing(self, mortal, tmp_path):
        """P1: the database is killed while two people write."""
        self.kill_often(mortal, tmp_path, 4, seed=0)

    @pytest.mark.slow
    def test_at_fifty_random_moments(self, mortal, tmp_path):
        self.kill_often(mortal, tmp_path, 50, seed=1)


@contextmanager
def frozen(server):
    """Stop all of a server's processes: its machine still takes what is sent, and nobody answers."""
    backends = server.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    pids = [server.process.pid, *(pid for (pid,) in backends)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        gc.collect()  # closes connections that were being made: the server would go on with them
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
class TestSilence:
    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch):
        monkeypatch.setattr(silence, "SILENT", 1.0)
        monkeypatch.setattr("samekind.ledger.links.WAIT", 0.2)

    @pytest.fixture
    def url(self, mortal):
        return f"{mortal.url()}&connect_timeout=2"

    def test_ends_soon_and_all_goes_on_when_it_is_over(self, mortal, url):
        with Ledger(url, wait=0.2) as ledger, Ledger(url, wait=0.2) as other:
            ledger.record([[0, 1]], [SAME])
            with frozen(mortal):
                began = time.monotonic()
                with pytest.raises(LedgerError, match=r"said nothing for 5\.2 s"):
                    ledger.refresh()
                assert 5 < time.monotonic() - began < 8
                for _ in range(10):  # who comes then does not wait for as long once more
                    with pytest.raises(LedgerError, match="did not answer a moment ago"):
                        ledger.record([[1, 2]], [SAME])
                assert time.monotonic() - began < 9
                other.close()  # does not wait either
                assert time.monotonic() - began < 9
            time.sleep(silence.FAIL_FAST)
            ledger.record([[2, 3]], [SAME])
        assert pairs_in(url) == [(0, 1), (2, 3)]

    def test_within_a_commit_nothing_is_doubled(self, mortal, url, monkeypatch):
        with Ledger(url, wait=0.2) as ledger:
            ledger.record([[0, 1]], [SAME])
            append = Transaction.append

            def freeze(transaction, events):
                append(transaction, events)
                stopped.enter_context(frozen(mortal))

            with ExitStack() as stopped:
                monkeypatch.setattr(Transaction, "append", freeze)
                with pytest.raises(LedgerError, match="be asked whether it is kept") as caught:
                    ledger.record([[1, 2]], [SAME])
                monkeypatch.undo()
            assert "not known whether it is kept. Send it again" in caught.value.public
            time.sleep(silence.FAIL_FAST)
            ledger.record([[2, 3]], [SAME])
            seen = sorted((line.a, line.b) for line in ledger.lines())
        assert pairs_in(url) == seen
        assert set(seen) - {(1, 2)} == {(0, 1), (2, 3)}

    def test_a_server_for_a_team_answers(self, mortal, url, tmp_path, monkeypatch):
        teams = pytest.importorskip("teams")
        monkeypatch.chdir(tmp_path)
        table, y = teams.make_table(tmp_path)
        places = {"there": teams.make_at(url, table), "here": teams.make_at(tmp_path / "l", table)}
        tokens = {name: teams.invite(place) for name, place in places.items()}

        def ask(name, path):
            with server.person(tokens[name], name) as person:
                began = time.monotonic()
                status = person.get(path).status_code
            return name, status, time.monotonic() - began

        with ExitStack() as stopped:
            with teams.TeamServer(places) as server:
                with server.person(tokens["there"], "there") as ann:
                    ann.answer(y)
                stopped.enter_context(frozen(mortal))
                asked = [*[("there", "/status")] * 20, ("here", "/about")]
                with ThreadPoolExecutor(len(asked)) as people:
                    replies = list(people.map(lambda one: ask(*one), asked))
                assert {reply[:2] for reply in replies} == {("there", 503), ("here", 200)}
                assert max(seconds for *_, seconds in replies) < 12
                ending = time.monotonic()
            assert time.monotonic() - ending < 10


@pytest.mark.slow
class TestPlaces:
    def test_several_projects_in_a_database(self, postgres):
        names = ["red", "Grün", "two words", "public"]
        for number, name in enumerate(names):
            with Ledger(postgres.url(name)) as ledger:
                ledger.record([[number, 100]], [SAME])
        for number, name in enumerate(names):
            assert pairs_in(postgres.url(name)) == [(number, 100)]

    @pytest.mark.parametrize("name", ["pg_mine", 'a"b', "a%b", "n" * 64, "ü" * 32])
    def test_names_that_cannot_be(self, postgres, name):
        query = sa.make_url(postgres.url("x")).update_query_dict({"project": name})
        with pytest.raises(LedgerError, match="project must be 1 to 63 letters") as caught:
            Ledger(query.render_as_string(hide_password=False))
        assert PASSWORD not in str(caught.value)

    def test_of_another_program_are_refused_and_left_alone(self, postgres):
        postgres.execute("CREATE SCHEMA theirs", "CREATE TABLE theirs.answers (id int)")
        with pytest.raises(LedgerError, match="not a samekind project"):
            Ledger(postgres.url("theirs"))
        query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'theirs'"
        assert postgres.execute(query) == [(1,)]

    def test_who_may_only_read(self, postgres, url):
        with Ledger(url) as ledger:
            ledger.record([[0, 1]], [SAME])
        name = ProjectURL(url).name
        postgres.execute(
            "CREATE ROLE eve LOGIN PASSWORD 'eves'",
            f"GRANT USAGE ON SCHEMA {name} TO eve",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO eve",
        )
        theirs = url.replace(f"ann:{PASSWORD}", "eve:eves")
        assert pairs_in(theirs) == [(0, 1)]
        with Ledger(theirs) as ledger, pytest.raises(LedgerError, match="permission denied"):
            ledger.record([[2, 3]], [SAME])
        with pytest.raises(LedgerError, match="permission denied"):
            Ledger(theirs.replace(name, "new"))

    def test_say_no_password(self, postgres, url):
        place = ProjectURL(url)
        assert PASSWORD not in f"{place} {place!r} {vars(place) and cache_of(place)}"
        nobody = url.replace(f":{postgres.port}", ":1")
        wrong = url.replace(PASSWORD, "wrong-password-9")
        for given, secret in ((nobody, PASSWORD), (wrong, "wrong-password-9")):
            with pytest.raises(LedgerError, match="could not be opened") as caught:
                Ledger(given)
            assert secret not in str(caught.value)
            for command in ("check", "export", "label", "forget --who ann"):
                name, *more = command.split()
                result = cli(name, given, *more)
                assert result.exit_code == 2
                assert secret not in result.output


@pytest.mark.slow
class TestUpkeep:
    def test_the_tables_refuse_what_cannot_be_right(self, postgres, url):
        Ledger(url).close()
        name = ProjectURL(url).name
        with pytest.raises(psycopg.errors.CheckViolation):
            postgres.execute(
                f"INSERT INTO {name}.events VALUES (1, 1, 'answer', 'ann', 5, 0, 1, 7, true)"
            )
        assert check_project(ProjectURL(url)).is_fine
        postgres.execute(f"INSERT INTO {name}.items VALUES (1, 'x', 'y')")
        assert not check_project(ProjectURL(url)).is_fine

    @staticmethod
    def update(ledger, statement):
        with ledger.transaction():
            ledger.open_transaction.connection.exec_driver_sql(statement)

    def test_no_values_of_rows_are_in_errors(self, url):
        with Ledger(url) as ledger:
            ledger.record([[0, 1]], [SAME], who="a-rare-name")
            for number, state in (
                (7, "CheckViolation (SQLSTATE 23514): new row"),
                (10**9, "22003"),
            ):
                with pytest.raises(LedgerError, match=re.escape(state)) as caught:
                    self.update(ledger, f"UPDATE events SET answer = {number}")
                assert "a-rare-name" not in str(caught.value)
                assert str(10**9) not in str(caught.value)

    def test_deleted_under_a_ledger(self, postgres, url, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with Ledger(url) as ledger:
            ledger.record([[0, 1]], [SAME], who="ann")
            postgres.execute(f"DROP SCHEMA {ProjectURL(url).name} CASCADE")
            for _ in range(2):
                with pytest.raises(LedgerGone, match="deleted from its database") as caught:
                    ledger.record([[1, 2]], [SAME])
        assert Path(caught.value.rescue).parent == tmp_path
        assert pairs_in(caught.value.rescue) == [(0, 1)]

    def test_somebody_is_forgotten(self, postgres, url):
        with Ledger(url) as ledger, Ledger(url) as other:
            ledger.record([[0, 1], [1, 2]], [SAME, SAME], who="mallory")
            ledger.record([[3, 4]], [SAME], who="ann")
            gone = forget(ProjectURL(url), "mallory")
            assert (gone.answers, gone.traceless) == (2, True)
            other.refresh()
            assert [line.who for line in other.lines()] == ["ann"]
        with pytest.raises(LedgerError, match="could not be opened"):
            Ledger(url.replace("postgres?", "nowhere?"))


def answered_project(folder, where):
    """Make a project about a table in a folder, in which much was done."""
    np.save(folder / "rows.npy", ROWS)
    with closing(
        make_project(load(folder / "rows.npy"), where, random_state=0, sheet=0)
    ) as project:
        answer_project(project, 12, "ann")
        answer_project(project, 8, "bøb 🙂")
        said = next(s for s in project.answers.page().answers if s.who == "ann")
        project.answers.correct(said.a, said.b, "unsure", who="bøb 🙂")
        clusters = [found.cluster for found in project.overview.all().clusters]
        project.kinds.rename(clusters[0], "it's a “name”", who="ann")
        project.kinds.merge(clusters[:2], who="ann")
        project.undo(who="ann")
        project.standing.set_criterion("They look alike.")


FILES = ("answers.csv", "clusters.csv", "clusters.json", "clusters.parquet")


def exports(where, folder):
    folder.mkdir()
    with closing(open_project(where, read_only=True)) as project:
        for name in FILES:
            project.export(name, folder / name)
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.slow
class TestMove:
    def test_there_and_back_is_the_same_to_the_byte(self, url, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        here, there, back = Path("mine.db"), ProjectURL(url), Path("back.db")
        answered_project(tmp_path, here)
        wanted = exports(here, tmp_path / "one")
        result = cli("move", here, url)
        assert result.exit_code == 0, result.output
        assert PASSWORD not in result.output
        assert exports(there, tmp_path / "two") == wanted
        assert cli("move", url, back).exit_code == 0
        assert exports(back, tmp_path / "three") == wanted
        assert exports(here, tmp_path / "four") == wanted  # it can be read as before
        with closing(open_project(back)) as project:
            answer_project(project, 3, "ann")  # and goes on

    def test_whoever_goes_on_where_it_was_is_told(self, url, tmp_path):
        """P11: neither the file nor the server can be written at the old place."""
        here = tmp_path / "mine.db"
        with Ledger(here) as ledger:
            ledger.record([[0, 1]], [SAME])
            assert move_project(here, ProjectURL(url)) == 1
            with pytest.raises(
                LedgerError, match=r"was moved to postgresql.*go on there"
            ) as caught:
                ledger.record([[1, 2]], [SAME])
            assert PASSWORD not in str(caught.value)
        with pytest.raises(LedgerError, match="was moved to"):
            Ledger(here)
        with Ledger(url) as ledger:
            ledger.record([[1, 2]], [SAME])
            move_project(ProjectURL(url), tmp_path / "back.db")
            with pytest.raises(LedgerError, match=r"was moved to .*back\.db"):
                ledger.record([[2, 3]], [SAME])
        assert pairs_in(tmp_path / "back.db") == [(0, 1), (1, 2)]

    def test_not_to_where_something_is(self, postgres, url, tmp_path):
        here = tmp_path / "mine.db"
        for place in (here, tmp_path / "other.db", url):
            with Ledger(place) as ledger:
                ledger.record([[0, 1]], [SAME])
        for target in (tmp_path / "other.db", ProjectURL(url)):
            with pytest.raises(LedgerError, match="already"):
                move_project(here, target)
        with Ledger(here) as ledger:
            ledger.record([[1, 2]], [SAME])
        assert pairs_in(url) == [(0, 1)]

    def test_what_does_not_arrive_is_not_moved(self, url, tmp_path):
        here = tmp_path / "mine.db"
        with Ledger(here) as ledger:
            ledger.record([[0, 1]], [SAME], who="a\0b")  # which PostgreSQL cannot keep
        with pytest.raises(LedgerError, match="NUL") as caught:
            move_project(here, ProjectURL(url))
        assert PASSWORD not in str(caught.value)
        with Ledger(here) as ledger:
            ledger.record([[1, 2]], [SAME])
        with pytest.raises(LedgerMissing):
            Ledger(url, read_only=True)


@pytest.mark.slow
class TestProjects:
    def test_every_act_does_what_it_does_in_a_file(self, postgres, tmp_path):
        """The two differ in nothing but the times."""
        found = []
        for name in ("file", "server"):
            folder = tmp_path / name
            folder.mkdir()
            write_data(folder)
            if name == "server":
                (folder / "address").write_text(postgres.url())
            with closing(open_at(folder)) as project:
                prepare(project)
                for act in ACTS.values():
                    act(project)
            with closing(open_at(folder)) as project:
                found.append(without_times(contents(project)))
        assert found[0] == found[1]

    def test_the_commands(self, postgres, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "200")
        url = postgres.url("commands")
        rows = "\n".join(f"{5 * (x % 3) + x / 40},{x % 3}" for x in range(30))
        Path("rows.csv").write_text(f"x,y\n{rows}\n")

        def run(*arguments, keys=None):
            result = CliRunner().invoke(app, list(arguments), input=keys)
            assert result.exit_code == 0, result.output
            assert PASSWORD not in result.output
            return result.output

        said = run(
            "label", "rows.csv", "--project", url, "--terminal", "--who", "eve", keys="d\n1\n1\nq\n"
        )
        assert "Answers are kept in postgresql+psycopg://ann:***@127.0.0.1" in said
        assert "3 answers from before" in run("label", url, "--terminal", keys="q\n")
        assert "3 answers" in run("check", url)
        run("export", url, "-o", "results")
        assert len(Path("results/answers.csv").read_text().splitlines()) == 4
        Path("more.csv").write_text("a,b,answer\n7,8,same\n")
        run("import", url, "more.csv", "--who", "bob")
        run("classify", url, "rows.csv", "--predict", "-o", "kinds.csv")
        assert len(Path("kinds.csv").read_text().splitlines()) == 31
        run("forget", url, "--who", "eve", "--yes")
        with Ledger(url, read_only=True) as ledger:
            assert {line.who for line in ledger.lines()} == {"bob"}
        run("run", "rows.csv", "--labels", "y", "--project", postgres.url("run"), "--budget", "60")
        assert len(pairs_in(postgres.url("run"))) > 10
        assert {path.name for path in tmp_path.glob("*postgresql*")} == set()


def without_times(found):
    found["lines"] = [line._replace(when=0) for line in found["lines"]]
    found["names"] = {row: timeless(name) for row, name in found["names"].items()}
    return found


def timeless(name):
    return name._replace(at=0)
