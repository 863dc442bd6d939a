"""A server for a team at work: keys (P3), crashes, two servers on one project, backups, commands."""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import threading
import time
from contextlib import ExitStack, closing

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "schemathesis"):
        pytest.importorskip(package)

import httpx
import schemathesis
from hypothesis import HealthCheck, settings
from typer.testing import CliRunner

from samekind.cli import app
from samekind.ledger import Ledger, Links, ProjectURL, back_up_project, check_project
from samekind.project import open_project
from serving import app_of
from teams import (
    API,
    Person,
    TeamServer,
    fork,
    invite,
    make_at,
    make_table,
    process,
    truth,
    wait_for,
)

SCHEMA = schemathesis.openapi.from_dict(app_of(None).openapi())
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.status_code_conformance,
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return make_table(tmp_path_factory.mktemp("table"))


@pytest.fixture
def place(table, tmp_path):
    return make_at(tmp_path / "rows.db", table[0])


@pytest.fixture
def server(place):
    with TeamServer({"rows": place}) as server:
        yield server


@pytest.fixture
def own(server, place):
    with server.person(invite(place, "olga", "own")) as own:
        yield own


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def n_answers(place):
    """Return how many answers the project itself has, taken back or not."""
    with Ledger(place, read_only=True) as ledger:
        return ledger.revision.answers


class TestKeys:
    """P3: the same idempotency key acts once and gets the same reply."""

    def test_a_press_with_a_key_counts_once(self, own, table, place):
        """P3: however often it is sent."""
        question = own.get("/next").json()["questions"][0]
        said = {"id": question["id"], "answer": truth(question, table[1])}
        key = {"Idempotency-Key": "one"}
        replies = [own.post("/answers", json=said, headers=key) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 200]
        assert n_answers(place) == 1
        assert own.post("/answers", json=said).status_code == 409  # without it, it is closed

    def test_after_a_restart_too(self, table, place):
        token = invite(place)
        key = {"Idempotency-Key": "one"}
        with TeamServer({"rows": place}) as first, first.person(token) as ann:
            question = ann.get("/next").json()["questions"][0]
            said = {"id": question["id"], "answer": truth(question, table[1])}
            assert ann.status("/answers", "POST", json=said, headers=key) == 200
        with TeamServer({"rows": place}) as second, second.person(token) as ann:
            assert ann.status("/answers", "POST", json=said, headers=key) == 200
        assert n_answers(place) == 1

    def test_what_was_undone_is_told_again_and_not_undone_twice(self, own, table):
        own.answer(table[1], 3)
        key = {"Idempotency-Key": "back"}
        first, again = (own.post("/undo", json={}, headers=key).json() for _ in range(2))
        assert first["undone"] == again["undone"]
        assert len(first["undone"]) == 1
        assert own.get("/status").json()["presses"] == 2

    def test_belongs_to_one_request_of_one_person(self, own, server, place, table):
        key = {"Idempotency-Key": "mine"}
        assert own.status("/undo", "POST", json={"count": 1}, headers=key) == 200
        other = own.post("/undo", json={"count": 2}, headers=key)
        assert other.status_code == 422
        assert other.json()["error"] == (
            "This Idempotency-Key was used for another request before. Take a new one for each."
        )
        with server.person(invite(place, "bob")) as bob:
            assert bob.status("/undo", "POST", json={"count": 2}, headers=key) == 200
        assert own.status("/undo", "POST", json={}, headers={"Idempotency-Key": "x" * 201}) == 422

    def test_settings_that_come_late_change_nothing(self, own):
        own.get("/next")
        for path, first, then, field in (
            ("/sheets", {"sheets": False}, {"sheets": True}, "sheets"),
            ("/criterion", {"criterion": "one"}, {"criterion": "two"}, "criterion"),
        ):
            key = {"Idempotency-Key": path}
            assert own.put(path, json=first, headers=key).json()["status"][field] == first[field]
            assert own.put(path, json=then).json()["status"][field] == then[field]
            late = own.put(path, json=first, headers=key)
            assert (late.status_code, late.json()["status"][field]) == (200, then[field])
            assert own.status(path, "PUT", json=then, headers=key) == 422
        keys = [{"Idempotency-Key": name} for name in ("finish", "resume", "later")]
        assert own.post("/finish", headers=keys[0]).json()["status"]["done"]
        assert not own.post("/resume", headers=keys[1]).json()["status"]["done"]
        assert own.get("/next").json()["questions"]
        assert not own.post("/finish", headers=keys[0]).json()["status"]["done"]
        assert own.post("/finish", headers=keys[2]).json()["status"]["done"]
        assert own.post("/resume", headers=keys[1]).json()["status"]["done"]

    def test_a_link_is_made_once_and_its_token_told_once(self, own, server, place):
        key, who = {"Idempotency-Key": "link"}, {"who": "lea", "role": "review"}
        assert own.status("/links", "POST", json={"who": "\n"}, headers=key) == 422  # made nothing
        made = own.post("/links", json=who, headers=key)
        assert made.status_code == 200
        number, token = made.json()["link"]["id"], made.json()["token"]
        again = own.post("/links", json=who, headers=key)
        assert again.status_code == 409
        assert f"revoke link {number} and make another one" in again.json()["error"]
        assert own.status("/links", "POST", json={"who": "eve"}, headers=key) == 422
        listed = own.get("/links").json()["links"]
        assert [link["who"] for link in listed] == ["olga", "lea"]
        with server.person(token) as lea:
            assert lea.status() == 200
        off = {"Idempotency-Key": "off"}
        ended = [own.post(f"/links/{number}/revoke", headers=off).json() for _ in range(2)]
        assert ended[0] == ended[1]
        assert ended[0]["revoked"] is not None
        assert own.status("/links/1/revoke", "POST", headers=off) == 422
        assert own.status() == 200
        kept = b"".join(path.read_bytes() for path in place.parent.iterdir() if path.is_file())
        assert token.encode() not in kept

    def test_sent_by_many_at_once_it_is_done_once(self, own, server, place):
        token = invite(place, "eve", "review")
        csv = {"rows": [3, 4], "name": "of two"}
        made = []

        def send():
            with server.person(token) as eve:
                made.append(
                    eve.status("/rows/new", "POST", json=csv, headers={"Idempotency-Key": "k"})
                )

        threads = [threading.Thread(target=send) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [200] * 8
        with Ledger(place, read_only=True) as ledger:
            acts = {line.when for line in ledger.lines()}
            assert len(acts) == 1

    def test_an_import_is_told_the_same_again(self, own):
        key = {"Idempotency-Key": "file", "Content-Type": "text/csv"}
        csv = "a,b,answer\n0,1,same\n2,3,different\n"
        counts = [own.post("/answers/import", content=csv, headers=key).json() for _ in range(2)]
        assert [reply["imported"] for reply in counts] == [2, 2]
        changed = own.post("/answers/import", content=csv.replace("same", "different"), headers=key)
        assert changed.status_code == 422

    def test_what_fails_is_not_kept(self, own, table, place):
        key = {"Idempotency-Key": "late"}
        assert (
            own.status("/answers", "POST", json={"id": "p-0-59", "answer": "same"}, headers=key)
            == 409
        )
        assert (
            own.status("/answers", "POST", json={"id": "p-0-59", "answer": "same"}, headers=key)
            == 409
        )
        assert n_answers(place) == 0


def answer_stubbornly(url, token, y, presses, seed, kept):
    """Answer with a key for each press, sent again until the server says what became of it."""
    rng = random.Random(seed)
    with Person(url, "rows", token) as ann:
        while len(kept) < presses:
            try:
                questions = ann.get("/next").json().get("questions")
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            if not questions:
                time.sleep(0.02)
                continue
            said = {"id": questions[0]["id"], "answer": truth(questions[0], y)}
            headers = {"Idempotency-Key": f"{seed}-{rng.random()}"}
            while True:
                try:
                    reply = ann.post("/answers", json=said, headers=headers)
                except httpx.TransportError:
                    time.sleep(0.02)
                    continue
                if reply.status_code == 200:
                    kept.append(said["id"])
                if reply.status_code < 500:
                    break
                time.sleep(0.02)


def press_times(place, who):
    with Ledger(place, read_only=True) as ledger:
        return len({line.when for line in ledger.lines() if line.who == who})


class TestCrashes:
    def test_killed_in_the_middle_nothing_is_lost_or_doubled(self, table, place):
        """P1: with a person who sends again what was not acknowledged."""
        self.kill(table, place, times=1, presses=12)

    @pytest.mark.slow
    def test_killed_at_fifty_moments(self, tmp_path):
        table = make_table(tmp_path, n=3000, kinds=40)
        self.kill(table, make_at(tmp_path / "rows.db", table[0]), times=50, presses=1000)

    @pytest.mark.slow
    def test_killed_at_moments_of_postgresql(self, tmp_path, postgres):
        table = make_table(tmp_path, n=3000, kinds=40)
        self.kill(table, make_at(postgres.url(), table[0]), times=20, presses=400)

    def kill(self, table, place, times, presses):
        """Kill servers one after the other while somebody answers."""
        token, kept, rng = invite(place), [], random.Random(0)
        where = place.reveal() if isinstance(place, ProjectURL) else str(place)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        arguments = (f"http://127.0.0.1:{port}", token, table[1], presses, 1, kept)
        person = threading.Thread(target=answer_stubbornly, args=arguments, daemon=True)
        person.start()
        for _ in range(times):
            with fork(where, port) as running:
                before = len(kept)
                wait_for(lambda before=before: len(kept) > before or not person.is_alive())
                time.sleep(rng.random() * 0.3)
                running.kill()
        with TeamServer({"rows": place}, port=port):
            person.join(300)
        assert len(kept) == presses
        assert press_times(place, "ann") == presses  # each press once, and none besides
        assert check_project(place).is_fine

    @pytest.mark.slow
    def test_told_to_end_it_answers_those_who_wait(self, table, place):
        token, kept = invite(place), []
        with process(place) as (running, url), Person(url, "rows", token) as ann:
            ann.answer(table[1], 2)
            before = n_answers(place)
            question = ann.get("/next").json()["questions"][0]
            said = {"id": question["id"], "answer": truth(question, table[1])}
            lock = sqlite3.connect(place, isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")  # so that the answer has to wait
            sent = threading.Thread(target=lambda: kept.append(ann.post("/answers", json=said)))
            sent.start()
            time.sleep(0.5)
            running.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            lock.execute("ROLLBACK")
            lock.close()
            sent.join(30)
            running.wait(30)
        assert kept[0].status_code == 200
        assert n_answers(place) > before


class TestTwoServers:
    def test_on_one_file(self, table, place):
        """P6: two servers on one SQLite file."""
        self.work(table, place, presses=40)

    @pytest.mark.slow
    def test_on_postgresql(self, table, postgres):
        """P6: two servers on one PostgreSQL project."""
        self.work(table, make_at(postgres.url(), table[0]), presses=40)

    def work(self, table, place, presses):
        """Answer, name, merge and undo at two servers at once; both come to the same."""
        errors = []
        with ExitStack() as stack:
            servers = [stack.enter_context(TeamServer({"rows": place})) for _ in range(2)]
            tokens = {who: invite(place, who, "own") for who in ("ann", "bob", "cat", "dan")}
            people = [
                stack.enter_context(servers[k % 2].person(token))
                for k, token in enumerate(tokens.values())
            ]

            def act(person, seed):
                rng = random.Random(seed)
                try:
                    for _ in range(presses // 4):
                        person.answer(table[1])
                        found = person.get("/clusters?members=1").json()["clusters"]
                        picked = [cluster["cluster"] for cluster in found]
                        what = rng.random()
                        if what < 0.3 and picked:
                            name = {"name": f"kind {rng.random():.3f}"}
                            assert person.status(
                                f"/clusters/{rng.choice(picked)}/name", "PUT", json=name
                            ) in (200, 400)
                        elif what < 0.45 and len(picked) > 2:
                            merged = {"clusters": rng.sample(picked, 2)}
                            got = person.status("/clusters/merge", "POST", json=merged)
                            assert got in (200, 400)  # somebody else may have merged it
                        elif what < 0.7:
                            assert person.status("/undo", "POST", json={}) == 200
                except BaseException as error:
                    errors.append(error)

            threads = [threading.Thread(target=act, args=(p, k)) for k, p in enumerate(people)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert errors == []
            views = [people[k].get("/clusters?members=50").json() for k in range(2)]
            states = [people[k].get("/status").json() for k in range(2)]
            exports = [people[k].get("/export/clusters.csv").content for k in range(2)]
        assert states[0]["presses"] == states[1]["presses"]
        assert states[0]["revision"] == states[1]["revision"]
        assert views[0]["clusters"] == views[1]["clusters"]
        assert exports[0] == exports[1]
        assert check_project(place).is_fine


@pytest.fixture(scope="module")
def fuzzed(table, tmp_path_factory):
    """A project that may be broken by any request, and all roles."""
    place = make_at(tmp_path_factory.mktemp("fuzzed") / "rows.db", table[0])
    token = invite(place, "olga", "own")
    with TeamServer({"rows": place}) as server:
        yield server, token


def call_any(case, fuzzed):
    server, token = fuzzed
    case.path_parameters = {**(case.path_parameters or {}), "project": "rows"}
    if case.path == f"{API}/links/{{link}}/revoke":
        case.path_parameters["link"] = 999_999
    headers = {"Authorization": f"Bearer {token}"}
    case.call_and_validate(base_url=server.url, headers=headers, checks=CHECKS, timeout=60)


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
def test_no_request_is_a_fault_of_the_server(case, fuzzed):
    call_any(case, fuzzed)


class TestBackups:
    def test_while_somebody_answers(self, server, own, table, place, tmp_path):
        """P10: every copy is whole."""
        ended = threading.Event()

        def answer():
            while not ended.is_set():
                own.answer(table[1], 2)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            for k in range(3):
                copy = tmp_path / f"copy-{k}.db"
                assert back_up_project(place, copy) <= n_answers(place)
                assert check_project(copy).is_fine
                assert copy.stat().st_mode & 0o077 == 0
        finally:
            ended.set()
            thread.join()
        own.answer(table[1], 1)

    @pytest.mark.parametrize("where", ["file", pytest.param("server", marks=pytest.mark.slow)])
    def test_is_the_same_project(self, where, table, tmp_path, request):
        """P10: with its links."""
        target = (
            tmp_path / "rows.db" if where == "file" else request.getfixturevalue("postgres").url()
        )
        place = make_at(target, table[0])
        token = invite(place, "ann", "own")
        with TeamServer({"rows": place}) as server, server.person(token) as ann:
            ann.answer(table[1], 12)
            copy = tmp_path / "copy.db"
            result = run("backup", target, copy)
            assert result.exit_code == 0, result.output
            told = ann.get("/export/answers.csv").content
        with TeamServer({"rows": copy}) as server, server.person(token) as ann:  # links are in it
            assert ann.get("/export/answers.csv").content == told
            ann.answer(table[1], 1)
        assert run("backup", target, copy).exit_code == 2  # it is there already

    def test_leaves_nothing_where_there_is_no_project(self, tmp_path):
        result = run("backup", tmp_path / "none.db", tmp_path / "copy.db")
        assert result.exit_code == 2
        assert list(tmp_path.iterdir()) == []


class TestCommands:
    def test_links_are_made_listed_and_revoked(self, place):
        """P32: by commands."""
        made = run(
            "links",
            "add",
            place,
            "ann",
            "--role",
            "review",
            "--expires",
            "30d",
            "--url",
            "https://kinds.example/",
        )
        assert made.exit_code == 0, made.output
        link = made.output.splitlines()[-1]
        assert link.startswith("https://kinds.example/p/rows/#token=")
        with Links(place) as links:
            found = links.find(link.partition("#token=")[2])
            assert (found.who, found.role) == ("ann", "review")
            assert 29 * 86_400 < found.expires - time.time() < 31 * 86_400
        listed = run("links", "list", place).output
        assert "ann" in listed
        assert "holds" in listed
        assert run("links", "revoke", place, "ann").exit_code == 0
        assert "revoked" in run("links", "list", place).output
        again = run("links", "revoke", place, "ann")
        assert again.exit_code == 2
        assert "no link of 'ann' holds. Those who have one: nobody." in " ".join(
            again.output.split()
        )

    def test_serve_says_what_is_wrong(self, place, table, tmp_path):
        for arguments, words in (
            ([tmp_path / "none.db"], "there is no such project"),
            ([table[0]], "is no project"),
            ([place, place], "both called"),
            ([place, "--key", place], "belong together"),
            ([place, "--key", place, "--certificate", place], "cannot be used"),
            ([place, "--overlap", "0"], "must be a share such as 0.1, or a number of people"),
        ):
            result = run("serve", *arguments)
            assert result.exit_code == 2
            assert words in " ".join(result.output.split())

    @pytest.mark.slow
    def test_serve_keeps_how_many_are_to_answer_each_question(self, place):
        with process(place, overlap=2):
            pass
        with closing(open_project(place, overlap=None)) as project:
            assert project.team.overlap == 2  # it is kept

    def test_somebody_who_is_forgotten_has_no_link(self, own, table, place):
        """P12, P32: nor are requests of theirs kept."""
        own.answer(table[1], 2)
        key = {"Idempotency-Key": "k"}
        own.post("/undo", json={}, headers=key)
        assert run("forget", place, "--who", "olga", "--yes").exit_code == 0
        assert own.status() == 401
        assert b"olga" not in place.read_bytes()

    def test_check_finds_links_that_cannot_be(self, place):
        invite(place)
        connection = sqlite3.connect(place)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        with connection:
            connection.execute("UPDATE links SET role = 'king'")
        connection.close()
        result = run("check", place)
        assert result.exit_code == 1
        assert "its role is 'king'" in " ".join(result.output.split())

    def test_a_project_moves_with_its_links(self, place, tmp_path):
        token = invite(place, "ann", "review")
        assert run("move", place, tmp_path / "moved.db").exit_code == 0
        with Links(tmp_path / "moved.db") as links:
            assert links.find(token).role == "review"
        open_project(tmp_path / "moved.db").close()
        there = run("links", "add", place, "bob")
        assert there.exit_code == 2
        assert "was moved to" in there.output
