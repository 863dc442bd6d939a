"""What takes minutes: a server killed 200 times, answers among 10^5 rows, all of the API's inputs."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "schemathesis"):
        pytest.importorskip(package)

import httpx
from hypothesis import HealthCheck, settings

import serving
from samekind import Ledger
from test_web_api import DIGITS, SCHEMA, good, say, table, tried, try_input

pytestmark = pytest.mark.slow
__all__ = ["table", "tried"]  # fixtures

NURSERY = """
# Has imported everything, and forks a server for every line that names a project.
import os, signal, sys
from samekind.project import Project
from samekind.data import demo_items
import serving

things = demo_items()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
project = Project(things, random_state=0)
for _ in range(30):  # so that what is compiled is loaded
    [question] = project.next(lineup=False)
    project.answer(question.id, "different")
project.overview.all()
for line in sys.stdin:
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        print(os.getpid(), end=" ", flush=True)
        serving.run(Project(things, line.strip(), random_state=0))
        os._exit(0)
"""


class Nursery:
    """A process that starts servers quickly."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=serving.ENV | {"OMP_NUM_THREADS": "1"},  # GNU's OpenMP hangs in a forked process
        )
        return self

    def start(self, path):
        """Return the process number and the address of a new server."""
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], 120)
        assert ready, "the server did not start"
        pid, url = self.process.stdout.readline().split()
        return int(pid), url

    def __exit__(self, *error):
        os.killpg(self.process.pid, signal.SIGKILL)  # with all servers
        self.process.communicate()


def unordered(a, b):
    return min(a, b), max(a, b)


def pairs_of(question, said):
    """Return the pairs that a question is about, and what an answer to it says of some of them."""
    if question["type"] == "pair":
        pair = unordered(question["a"]["row"], question["b"]["row"])
        return [pair], {pair: said == "same"}
    if question["type"] == "sheet":
        member = question["cluster"]["members"][0]["row"]
        rows = [item["row"] for item in question["items"]]
        told = {unordered(row, member): row not in said["different"] for row in rows}
        return list(told), told
    row = question["item"]["row"]
    pairs = {o["cluster"]: unordered(row, o["members"][0]["row"]) for o in question["options"]}
    told = dict.fromkeys(pairs.values(), False) if said == "none" else {pairs[said]: True}
    return list(pairs.values()), told


class Person:
    """Knows the digits, answers as fast as possible, and remembers what was acknowledged."""

    def __init__(self):
        self.told = {}  # pair: whether its rows are the same
        self.clicks = 0
        self.asked_again = []
        self.is_done = False

    def work(self, url, pid, after):
        """Answer until the server is killed, `after` seconds from the first question."""

        def kill():
            os.kill(pid, signal.SIGKILL)

        with httpx.Client(base_url=url, headers=serving.BEARER, timeout=30) as client:
            reply = good(client.get("/api/next"))
            timer = threading.Timer(after, kill)
            timer.start()
            try:
                while reply["questions"]:
                    reply = self.answer(client, reply["questions"][0])
                self.is_done = True
            except httpx.TransportError:
                pass  # it is dead
            finally:
                timer.join()

    def answer(self, client, question):
        said = say(question, DIGITS)
        pairs, told = pairs_of(question, said)
        if not self.told.keys().isdisjoint(pairs):
            self.asked_again.append(question["id"])
        reply = good(client.post("/api/answers", json={"id": question["id"], "answer": said}))
        assert reply["saved"] is True
        self.told |= told
        self.clicks += 1
        return reply


def test_killed_200_times(tmp_path, capsys):
    """P1, P4: no acknowledged answer is lost, and none of them is asked again."""
    rng = np.random.default_rng(0)
    person, project, unacknowledged, answers = Person(), 0, 0, 0
    with Nursery() as nursery:
        for kill in range(200):
            path = tmp_path / f"{project}.db"
            pid, url = nursery.start(path)
            person.work(url, pid, after=rng.uniform(0, 0.5))
            with sqlite3.connect(path) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            connection.close()
            with Ledger(path) as ledger:
                entries = list(ledger.lines())
            kept = {unordered(entry.a, entry.b): entry.answer for entry in entries}
            lost = {pair for pair, same in person.told.items() if kept.get(pair) != same}
            assert not lost, f"lost after kill {kill}"
            assert len(kept) == len(entries), f"asked twice before kill {kill}"
            assert person.asked_again == []
            if person.is_done or kill % 50 == 49:
                clicks = len({entry.when for entry in entries})
                unacknowledged += clicks - person.clicks
                answers += person.clicks
                person, project = Person(), project + 1
    assert 0 <= unacknowledged <= 200
    with capsys.disabled():
        print(
            f"\n200 kills in {project} projects: {answers:,} acknowledged answers, none lost, none "
            f"asked again; {unacknowledged} kept though the kill came before the acknowledgement"
        )


@SCHEMA.parametrize()
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
def test_no_input_breaks_it(case, tried):
    try_input(tried, case)
