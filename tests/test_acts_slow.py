"""Kills at any moment, and several programs that act on one project at once (P1)."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
from contextlib import closing
from time import sleep

import numpy as np
import pytest

from acts import act_together, act_until_killed, open_at, prepare, write_data
from samekind.ledger import Ledger, ProjectURL, move_project
from test_acts import assert_ledger_says_so

pytestmark = pytest.mark.slow
PROGRAMS = 3
ACTS_IN_ALL = int(os.environ.get("SAMEKIND_TEST_ACTS", "5000"))


@pytest.fixture
def folder(tmp_path):
    write_data(tmp_path)
    with closing(open_at(tmp_path)) as project:
        prepare(project)
    return tmp_path


def test_nothing_acknowledged_is_lost_by_kills(folder, monkeypatch):
    """At least 500 kills at any moment, among all acts."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where the server finds us
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["acts_warm"])
    rng = np.random.default_rng(0)
    for kill in range(int(os.environ.get("SAMEKIND_TEST_KILLS", "500"))):
        place = folder / f"project-{kill // 20}"  # a new one now and then, which is soon opened
        if not place.exists():
            place.mkdir()
            for name in ("rows.csv", "mine.db"):
                shutil.copy(folder / name, place)
        told = place / f"told-{kill}"
        told.touch()
        child = context.Process(target=act_until_killed, args=(place, kill, told))
        child.start()
        while not told.stat().st_size:  # until it is under way
            assert child.is_alive()
            sleep(0.005)
        child.join(float(rng.random() * 0.3))
        assert child.is_alive()  # it does not end by itself
        child.kill()
        child.join()
        last = list(map(int, told.read_text().rstrip().splitlines()[-1].split()))
        assert all(now >= then for now, then in zip(revision_of(place), last, strict=True))
        if kill % 10 == 9:
            with closing(open_at(place)) as project:
                assert_ledger_says_so(project)


def revision_of(folder):
    with Ledger(folder / "mine.db", read_only=True) as ledger:
        return ledger.revision[1:4]


@pytest.mark.parametrize("backend", ["sql", "postgres"])
def test_three_programs_on_one_project(backend, tmp_path, request):
    """Two servers and a terminal: no lost update, no two opposite answers, fair, and in agreement."""
    write_data(tmp_path, rows=2_000)
    if backend == "postgres":
        (tmp_path / "address").write_text(request.getfixturevalue("postgres").url())
    open_at(tmp_path).close()
    context = multiprocessing.get_context("spawn")
    done = context.Value("i", 0)
    start, stop = context.Barrier(PROGRAMS), context.Barrier(PROGRAMS)
    programs = [
        context.Process(
            target=act_together, args=(tmp_path, number, ACTS_IN_ALL, done, start, stop)
        )
        for number in range(PROGRAMS)
    ]
    for program in programs:
        program.start()
    for program in programs:
        program.join()
        assert program.exitcode == 0
    told = [json.loads((tmp_path / f"told-{k}.json").read_text()) for k in range(PROGRAMS)]
    if backend == "postgres":
        move_project(ProjectURL((tmp_path / "address").read_text()), tmp_path / "mine.db")
        (tmp_path / "address").unlink()  # from here on the file
    with Ledger(tmp_path / "mine.db", read_only=True) as ledger:
        events = ledger.log.since(0)
        answers = [event for event in events if event.kind in ("answer", "edit")]
        struck = {line["id"] for line in ledger.log.lines if line["struck"]}
    # no lost update
    for number, mine in enumerate(told):
        own = [event for event in events if event.who == f"p{number}"]
        written = {(one.a, one.b, one.answer) for one in own}
        assert {tuple(answer) for answer in mine["answers"]} <= written
        assert set(mine["names"]) <= {one.payload for one in own if one.kind == "name"}
    # no two opposite answers to one question
    standing: dict[tuple[int, int], tuple[int, int]] = {}
    for one in answers:
        if not one.charged or one.answer < 0:
            continue
        pair = min(one.a, one.b), max(one.a, one.b)
        before, earlier = standing.get(pair, (one.answer, 0))
        assert before == one.answer or earlier in struck or one.kind == "edit"
        standing[pair] = one.answer, one.id
    # fair, quick, and in agreement
    shares = [mine["acts"] for mine in told]
    waits = np.concatenate([mine["seconds"] for mine in told])
    print(f"acts {shares}, p50 {np.median(waits):.3f} s, p99 {np.quantile(waits, 0.99):.3f} s")
    assert max(shares) <= 1.2 * min(shares)
    assert np.quantile(waits, 0.99) < 1
    exports = [
        [p.read_bytes() for p in sorted((tmp_path / f"out-{k}").iterdir())] for k in range(PROGRAMS)
    ]
    assert all(export == exports[0] for export in exports)
    with closing(open_at(tmp_path)) as project:
        assert_ledger_says_so(project)
        assert project.session.pending().tolist() == told[0]["pending"]
