"""What is done to a project as a whole, killed at every step: it is as before, or done, never between."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from acts import answer, dump, first_clusters, write_data
from samekind.data import load
from samekind.ledger import forget
from samekind.project import make_project, open_project

pytestmark = pytest.mark.slow
STEPS = {"os.rename", "os.remove", "os.chmod", "shutil.copyfile", "sqlite3.connect"}
DERIVED = (
    "space",
    "things",
    "title",
)  # in `meta`: what opening a project may write, whatever was done
SETTINGS = {"random_state": 0, "batch": 3, "lineup": 3, "sheet": 0}


def prepare(folder: Path) -> Path:
    """Make a project of two people with names, and an answer that was corrected."""
    write_data(folder)
    path = folder / "mine.db"
    with closing(make_project(load(folder / "rows.csv"), path, **SETTINGS)) as project:
        answer(project, 12, "ann")
        answer(project, 8, "bob")
        project.kinds.rename(first_clusters(project)[0], "noughts", who="bob")
        record = next(r for r in project.answers.page().answers if r.who == "ann")
        project.answers.correct(record.a, record.b, "unsure", who="bob")
        answer(project, 4, "ann")
    return path


def _grow(path: Path) -> None:
    """Remove some rows of the data, and add some."""
    data = path.with_name("rows.csv")
    head, *rows = data.read_text().splitlines()
    data.write_text("\n".join([head, "9.5,9.5", *rows[4:], "8.25,8.25"]) + "\n")


def _use_sheets(path: Path) -> None:
    with closing(open_project(path)) as project:
        project.questions.use_sheets(True)


def _open_with(path: Path, **settings: Any) -> None:
    open_project(path, **settings).close()


BEFORE = {"take in data": _grow}
FILE_ACTS = {
    "forget": lambda path: forget(path, "bob"),
    "take in data": _open_with,
    "use sheets": _use_sheets,
    "other settings": lambda path: _open_with(path, lineup=5),
}


def states(path: Path, act: str) -> dict[str, list[Any]]:
    """Return what must be as before an act or as after it."""
    return dump(path)


def die_at(path: Path, act: str, step: int, done: Any) -> None:
    """Do an act, and end at its so-manieth step: before and after commits, and where files change."""
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
        context.set_forkserver_preload(["acts_warm", "test_acts_files"])
        yield context


@pytest.mark.parametrize("act", FILE_ACTS)
def test_is_as_before_or_done_at_every_step(act, tmp_path, processes):
    (tmp_path / "first").mkdir()
    first = prepare(tmp_path / "first").parent
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
