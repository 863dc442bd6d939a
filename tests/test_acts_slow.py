"""Kills at any moment, and several programs that act on one project at once (P1)."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from acts import (
    act_together,
    act_until_killed,
    answer,
    dump,
    first_clusters,
    open_at,
    prepare,
    write_data,
)
from samekind.data import load
from samekind.ledger import Ledger, ProjectURL, forget, move_project
from samekind.project import make_project, open_project
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
    """P1: at least 500 kills at any moment, among all acts."""
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
    """P1, P6, P7: no lost update, no two opposite answers, fair, and in agreement."""
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


STEPS = {"os.rename", "os.remove", "os.chmod", "shutil.copyfile", "sqlite3.connect"}
SETTINGS = {"random_state": 0, "batch": 3, "lineup": 3, "sheet": 12}


def prepare_two(folder: Path) -> Path:
    """Make a project of two people with names, and an answer that was corrected."""
    write_data(folder)
    path = folder / "mine.db"
    with closing(make_project(load(folder / "rows.csv"), path, **SETTINGS)) as project:
        answer(project, 12, "ann")
        answer(project, 8, "bob")
        project.kinds.rename(first_clusters(project)[0], "noughts", who="bob")
        records = project.answers.page(limit=1000).answers
        record = next(r for r in records if r.who == "ann")
        project.answers.correct(record.a, record.b, "unsure", who="bob")
        answer(project, 4, "ann")
    return path


def _grow(path: Path) -> None:
    """Remove some rows of the data, and add some."""
    data = path.with_name("rows.csv")
    head, *rows = data.read_text().splitlines()
    data.write_text("\n".join([head, "9.5,9.5", *rows[4:], "8.25,8.25"]) + "\n")


def _use_no_sheets(path: Path) -> None:
    with closing(open_project(path)) as project:
        project.questions.use_sheets(False)


def _open_with(path: Path, **settings: Any) -> None:
    open_project(path, **settings).close()


BEFORE = {"take in data": _grow}
FILE_ACTS = {
    "forget": lambda path: forget(path, "bob"),
    "take in data": _open_with,
    "no sheets": _use_no_sheets,
    "other settings": lambda path: _open_with(path, lineup=5),
}


def states(path: Path, act: str) -> dict[str, list[Any]]:
    """Return what must be as before an act or as after it: all but the times."""
    kept = dump(path)
    return kept | {"events": [event[:4] + event[5:] for event in kept["events"]]}


def die_at(path: Path, act: str, step: int, done: Any) -> None:
    """Do an act, and end at one of its steps: before and after commits, and where files change."""
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1
        if count == step:
            os._exit(9)

    commit = sa.engine.default.DefaultDialect.do_commit

    def commit_watched(self: Any, connection: Any) -> None:
        tick()
        commit(self, connection)
        tick()

    sa.engine.default.DefaultDialect.do_commit = commit_watched
    sys.addaudithook(lambda event, args: tick() if event in STEPS else None)
    FILE_ACTS[act](path)
    done.value = count


@pytest.fixture(scope="module")
def processes():
    """Return what starts processes that find everything imported and compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where the server finds us
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["acts_warm", "test_acts_slow"])
        yield context


@pytest.mark.parametrize("act", FILE_ACTS)
def test_is_as_before_or_done_at_every_step(act, tmp_path, processes):
    """P1, P2: killed at every step."""
    (tmp_path / "first").mkdir()
    first = prepare_two(tmp_path / "first").parent
    BEFORE.get(act, lambda path: None)(first / "mine.db")

    def run(step):
        """Return the file of a copy on which the act was killed at a step, and of how many; 0 if it was."""
        path = Path(shutil.copytree(first, tmp_path / f"step-{step}")) / "mine.db"
        steps = processes.Value("i", 0)
        child = processes.Process(target=die_at, args=(path, act, step, steps))
        child.start()
        child.join(120)
        assert child.exitcode == (0 if steps.value else 9)
        return path, steps.value

    before = states(first / "mine.db", act)
    path, n_steps = run(0)
    after = states(path, act)
    assert after != before
    is_done = []
    for step in range(1, n_steps + 1):
        path, ended = run(step)
        assert not ended
        found = states(path, act)
        assert found in (before, after), f"between at step {step}"
        is_done.append(found == after)
        if found == before:  # it can be done all the same
            FILE_ACTS[act](path)
            assert states(path, act) == after
    assert is_done == sorted(is_done)
    assert set(is_done) == {False, True}
