"""Two servers of one project under load, while either, or PostgreSQL, is killed at any moment (P1, P6).

Several people answer, name, merge and undo at once; each request has a key and is sent again until a server
says what became of it. In the end every act that was acknowledged is there, once.
"""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)

import httpx

from benchmarks.team_proof import events_in
from postgres import running
from samekind.ledger import Ledger, ProjectURL, check_project
from teams import Person, TeamServer, fork, invite, make_at, make_table, truth, wait_for

KILLS = int(os.environ.get("SAMEKIND_KILLS", "50"))
THINK = 0.3  # seconds, at most
ACTS = (
    60  # answers, at most, from one kill to the next: every server that starts reads them all again
)
PEOPLE = ("ann", "bob", "cat", "dan", "eve", "fay")


class Worker(threading.Thread):
    """Somebody at one of several servers, who goes to another one when it does not answer."""

    def __init__(self, who, urls, token, y, ended, may_act):
        super().__init__(daemon=True)
        self.who, self.ended, self.y, self.may_act = who, ended, y, may_act
        self.rng = random.Random(who)
        self.people = [Person(url, "rows", token) for url in urls]
        self.rng.shuffle(self.people)
        self.kept = []  # (question, answer) of every press that was acknowledged
        self.names = []  # that were acknowledged
        self.n_undone = 0
        self.error = None

    def run(self):
        try:
            while not self.ended.wait(THINK * self.rng.random()):
                if not self.may_act():
                    continue
                self.answer()
                what = self.rng.random()
                if what < 0.15:
                    self.name()
                elif what < 0.2:
                    self.merge()
                elif what < 0.3:
                    self.undo()
        except BaseException as error:  # told to who waits for it
            self.error = error
        finally:
            for person in self.people:
                person.close()

    def send(self, method, path, **options):
        """Send a request until it is known what became of it; an error of ours ends it."""
        if method != "GET":
            options["headers"] = {"Idempotency-Key": f"{self.who}-{self.rng.random()}"}
        while True:
            try:
                reply = self.people[0].request(method, path, **options)
                if reply.status_code != 503:  # the database, or the project, is not there for now
                    assert reply.status_code < 500, f"{method} {path}: {reply.text}"
                    return reply
            except httpx.TransportError:
                pass
            self.people.append(self.people.pop(0))
            time.sleep(0.02)

    def answer(self):
        questions = self.send("GET", "/next").json()["questions"]
        if not questions:
            time.sleep(0.02)
            return
        said = {"id": questions[0]["id"], "answer": truth(questions[0], self.y)}
        reply = self.send("POST", "/answers", json=said)
        assert reply.status_code in (200, 400, 409), reply.text  # 400: the kind is merged away
        if reply.status_code == 200:
            self.kept.append((said["id"], said["answer"]))

    def clusters(self):
        return [
            one["cluster"] for one in self.send("GET", "/clusters?members=1").json()["clusters"]
        ]

    def name(self):
        if clusters := self.clusters():
            cluster, text = self.rng.choice(clusters), f"{self.who} {self.rng.random():.6f}"
            reply = self.send("PUT", f"/clusters/{cluster}/name", json={"name": text})
            assert reply.status_code in (200, 400), reply.text
            if reply.status_code == 200:
                self.names.append(text)

    def merge(self):
        """Merge two kinds that are one."""
        by_kind = {}
        for cluster in self.clusters():
            by_kind.setdefault(self.y[cluster], []).append(cluster)
        if several := [found for found in by_kind.values() if len(found) > 1]:
            reply = self.send("POST", "/clusters/merge", json={"clusters": several[0][:2]})
            assert reply.status_code in (200, 400), reply.text  # somebody else may have merged it

    def undo(self):
        reply = self.send("POST", "/undo", json={})
        assert reply.status_code == 200, reply.text
        self.n_undone += len(reply.json()["undone"])


def pairs_of(question):
    _, row, others = question.split("-")
    return [frozenset((int(row), int(other))) for other in others.split(".")]


def prove(place, workers):
    """Check from the ledger that all that was acknowledged is there, and nothing is there twice."""
    with Ledger(place, read_only=True) as ledger:
        lines = list(ledger.lines())
        said = {(frozenset((line.a, line.b)), line.who) for line in lines}
        said |= {(frozenset((one.a, one.b)), one.who) for one in ledger.log.opinions.lines}
        for worker in workers:
            lost = [
                question
                for question, _ in worker.kept
                if not any((pair, worker.who) in said for pair in pairs_of(question))
            ]
            assert lost == []
        standing = Counter(
            (frozenset((x.a, x.b)), x.who, x.answer) for x in lines if not x.retracted
        )
        assert max(standing.values()) == 1
    where = address_of(place)
    events = events_in(where)
    taken_back = {event.ref for event in events if event.kind == "retract"}
    assert len(taken_back) <= sum(worker.n_undone for worker in workers)
    given = [name for worker in workers for name in worker.names]
    assert given
    there = Counter(event.payload for event in events if event.kind == "name")
    assert {name: there[name] for name in given} == dict.fromkeys(given, 1)
    assert check_project(place).is_fine


def address_of(place):
    return place.reveal() if isinstance(place, ProjectURL) else str(place)


def work(place, table, kills=KILLS, servers=2, database=None, between=0.5):
    """Let people work at servers that are killed so many times; return the workers."""
    where, rng, ended = address_of(place), random.Random(0), threading.Event()
    ports = []
    for _ in range(servers):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(free.getsockname()[1])
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    workers, most = [], 0

    def may_act():
        return n_acts(workers) < most

    for who in PEOPLE:
        workers.append(Worker(who, urls, invite(place, who, "own"), table[1], ended, may_act))
    with ExitStack() as stack:
        running_now = [stack.enter_context(ExitStack()) for _ in ports]
        processes = [
            own.enter_context(fork(where, port))
            for own, port in zip(running_now, ports, strict=True)
        ]
        for worker in workers:
            worker.start()
        for _ in range(kills):
            before = n_acts(workers)
            most = before + ACTS
            wait_for(lambda before=before: n_acts(workers) > before + 2 or failed(workers), 300)
            time.sleep(rng.random() * between)
            victim = rng.randrange(servers + (database is not None))
            if victim == servers:
                database.kill()
                database.start()
            else:
                processes[victim].kill()
                running_now[victim].close()
                processes[victim] = running_now[victim].enter_context(fork(where, ports[victim]))
        before = n_acts(workers)
        most = before + ACTS
        wait_for(lambda: n_acts(workers) > before + 10 or failed(workers), 300)
        ended.set()
        for worker in workers:
            worker.join(120)
    assert [worker.error for worker in workers] == [None] * len(workers)
    return workers


def n_acts(workers):
    return sum(len(worker.kept) for worker in workers)


def failed(workers):
    return [worker.error for worker in workers if worker.error]


def same_at_both(place, table):
    """Check that two servers that open the project now tell the same of it."""
    with ExitStack() as stack:
        token = invite(place, "zoe", "own")
        both = [stack.enter_context(TeamServer({"rows": place})) for _ in range(2)]
        people = [stack.enter_context(server.person(token)) for server in both]
        exports = [person.get("/export/clusters.csv").content for person in people]
        names = [person.get("/clusters?members=1").json()["clusters"] for person in people]
    assert exports[0] == exports[1]
    assert names[0] == names[1]


@pytest.mark.slow
class TestKilledAtFiftyMoments:
    """P1, P6: two servers, one of them killed at any moment."""

    def test_two_servers_of_one_file(self, tmp_path):
        table = make_table(tmp_path, n=20_000, kinds=40)
        place = make_at(tmp_path / "rows.db", table[0])
        prove(place, work(place, table))
        same_at_both(place, table)

    def test_two_servers_of_one_postgresql_and_itself(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # features are kept where samekind runs
        table = make_table(tmp_path, n=20_000, kinds=40)
        with running(fsync="on") as database:
            place = make_at(database.url(), table[0])
            prove(place, work(place, table, database=database))
            same_at_both(place, table)
