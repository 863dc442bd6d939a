"""`samekind move`: at no moment can a project be written at two places, and nothing is lost (P10, P11)."""

from __future__ import annotations

import os

import numpy as np
import pytest
import sqlalchemy as sa

from conftest import POSTGRES
from samekind import SAME, Ledger, LedgerError
from samekind.ledger import ProjectURL, back_up_project, check_project, move_project
from test_ledger_faults import chain, fork

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the process is made by fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
MOST_STEPS = 40


@pytest.fixture(params=["sql", POSTGRES])
def target(request, tmp_path):
    if request.param == "postgres":
        return lambda: ProjectURL(request.getfixturevalue("postgres").url())
    return lambda: tmp_path / "new.db"


def filled(path):
    with Ledger(path) as ledger:
        ledger.record(chain(0, 30), np.ones(30, dtype=int), who="ann")
        ledger.name(3, "three", who="bob")
        ledger.retract(2)
    return path


def is_writable(place):
    """Return whether an answer can be written at a place where a project was, or is to be."""
    if not isinstance(place, ProjectURL) and not place.exists():
        return False
    try:
        with Ledger(place, read_only=True):
            pass  # no project is made by looking
        with Ledger(place) as ledger, ledger.transaction():
            return True
    except LedgerError:
        return False


def die_at(source, target, step):
    """Move, and end before the so-manieth commit or after it."""
    count, commit = 0, sa.engine.default.DefaultDialect.do_commit

    def tick():
        nonlocal count
        count += 1
        if count == step:
            os._exit(9)

    def commit_and_die(self, connection):
        tick()
        commit(self, connection)
        tick()

    sa.engine.default.DefaultDialect.do_commit = commit_and_die
    move_project(source, target)


def test_killed_at_any_step_one_place_at_most_can_be_written(tmp_path, target):
    """P11: killed before or after any commit."""
    whole = list(Ledger(filled(tmp_path / "whole.db")).lines())
    n_killed = 0
    for step in range(1, MOST_STEPS):
        source, place = filled(tmp_path / f"old-{step}.db"), target()
        child = fork(die_at, source, place, step)
        child.join(60)
        assert is_writable(source) + is_writable(place) <= 1
        if child.exitcode == 0:
            break
        assert child.exitcode == 9
        n_killed += 1
        if not is_writable(place):
            move_project(source, place)  # goes on, or does all of it
        assert not is_writable(source)
        assert is_writable(place)
        with Ledger(place) as ledger:
            assert [line[:4] for line in ledger.lines()] == [line[:4] for line in whole]
            assert ledger.log.names[3].text == "three"
        if not isinstance(place, ProjectURL):
            place.unlink()
    assert n_killed >= 4
    assert is_writable(place)


def test_what_was_written_after_a_move_was_cut_off_moves_along(tmp_path, target):
    source, place = filled(tmp_path / "old.db"), target()
    fork(die_at, source, place, 3).join(60)  # all has arrived, and the source does not say so
    assert is_writable(source)
    with Ledger(source) as ledger:
        ledger.record([[70, 80]], [SAME], who="cy")
    move_project(source, place)
    with Ledger(place) as ledger:
        assert ledger.answer_by(70, 80, "cy") == SAME


def test_a_moved_project_moves_no_second_time(tmp_path):
    """P11: nor is there a second place."""
    source = filled(tmp_path / "old.db")
    move_project(source, tmp_path / "new.db")
    for place in (tmp_path / "other.db", tmp_path / "new.db"):
        with pytest.raises(LedgerError, match=r"new\.db"):
            move_project(source, place)
    assert not (tmp_path / "other.db").exists()


def test_a_backup_is_whole_and_of_one_moment(tmp_path):
    """P10: while somebody writes."""
    source, copy = filled(tmp_path / "mine.db"), tmp_path / "copy.db"
    with Ledger(source) as ledger:
        assert back_up_project(source, copy) == 30
        ledger.record([[70, 80]], [SAME], who="cy")
        expected = list(ledger.lines())[:-1]
    assert check_project(copy).is_fine
    with Ledger(copy) as kept:
        assert list(kept.lines()) == expected


def test_nothing_is_left_of_a_backup_that_does_not_arrive(tmp_path, monkeypatch):
    source = filled(tmp_path / "mine.db")

    def fail(transaction, events):
        raise OSError("no room")

    monkeypatch.setattr("samekind.ledger.upkeep._check_copy", fail)
    with pytest.raises((OSError, TypeError)):
        back_up_project(source, tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir()] == ["mine.db"]
