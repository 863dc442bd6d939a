"""Rows that nobody can tell: they are set aside, whichever side of the question they are on."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import Expert, blobs
from samekind import SAME, UNSURE, LabelOracle, Session, solve
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.unsure_rows import UnsureRows


def mixture(n, k, d=3, spread=0.4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.uniform(0, 5, (k, d))[y] + spread * rng.normal(size=(n, d)), y


class HardRows(Expert):
    """Cannot tell anything about some rows."""

    def __init__(self, y, hard):
        super().__init__(y)
        self.hard = set(hard)

    def says(self, a, b):
        return UNSURE if self.hard & {a, b} else super().says(a, b)


def first_founder(X, seed, **params):
    """Return the row that founds the first cluster."""
    with Session(X, random_state=seed, **params) as session:
        return int(session.pending()[0, 1])


@pytest.mark.parametrize("params", [{}, {"lineup": 9}, {"error_rate": 0.05}, {"goal": "labels"}])
@pytest.mark.parametrize("batch", [1, 8])
def test_a_founder_that_nobody_can_tell_sinks_nothing(params, batch):
    X, y = blobs((120, 80, 60, 40))
    for seed in range(3):
        hard = first_founder(X, seed, batch=batch, **params)
        expert = HardRows(y, [hard])
        found = solve(X, expert, budget=250, batch=batch, random_state=seed, **params)
        assert hard in found.given_up_
        assert len(found.given_up_) <= 2
        assert sorted({int(y[rows[0]]) for rows in found.members_}) == [0, 1, 2, 3]
        assert all(hard not in rows for rows in found.members_)
        assert found.labels_[hard] == -1
        assert len(set(expert.asked)) == len(expert.asked)


@pytest.mark.parametrize("free", [False, True])
def test_it_is_not_shown_for_ever(free):
    """Neither to who is not sure nor to who skips."""
    X, y = blobs((120, 80))
    with Session(X, random_state=0) as session:
        founder, shown = int(session.pending()[0, 1]), 0
        for _ in range(60):
            pairs = session.pending()
            hard = (pairs == founder).any(axis=1)
            shown += int(hard.any())
            if hard.any():
                session.tell(pairs, np.full(len(pairs), UNSURE), free=free)
            else:
                session.tell(pairs, LabelOracle(y)(pairs))
        assert shown <= 6  # three times as a founder, and when others can be told


def test_a_founder_that_was_told_by_hand_stays():
    """Who made others unsure is not given up once somebody has put it with another row."""
    X, y = blobs((120, 80))
    with Session(X, random_state=0) as session:
        founder = int(session.pending()[0, 1])
        for _ in range(2):
            session.tell(session.pending(), [UNSURE])
        other = int(np.flatnonzero((y == y[founder]) & (np.arange(200) != founder))[0])
        session.change(np.array([[founder, other]]), np.array([SAME]))
        for _ in range(20):
            pairs = session.pending()
            session.tell(pairs, np.full(len(pairs), UNSURE))
        (members,) = session.clusters().members_
        assert set(members.tolist()) == {founder, other}


def hard_tenth(X, y):
    """Return the tenth of the rows whose ten nearest ones are of the most clusters."""
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    nearest = np.argsort(distances, axis=1)[:, 1:11]
    mixed = (y[nearest] != y[:, None]).mean(axis=1)
    return np.argsort(-mixed, kind="stable")[: len(y) // 10].tolist()


@pytest.mark.parametrize("params", [{}, {"lineup": 9}])
def test_every_tenth_row_is_too_hard(params):
    X, y = mixture(600, 8, d=3, spread=1.2)
    hard = hard_tenth(X, y)
    for seed in range(3):
        without = solve(X, LabelOracle(y), budget=400, random_state=seed, **params)
        found = solve(X, HardRows(y, hard), budget=400, random_state=seed, **params)
        n_found, n_without = (
            len({int(y[rows[0]]) for rows in c.members_}) for c in (found, without)
        )
        assert n_found >= n_without - 1
        others = np.setdiff1d(found.given_up_, hard)
        assert len(others) <= 0.1 * len(hard)
        assert found.certificate_.n_undecided == len(found.given_up_) > 0
        assert f"Nobody could tell of {len(found.given_up_)} rows" in str(found.certificate_)


def test_who_is_asked_about_every_row_decides_all_that_can_be_told():
    X, y = mixture(200, 5, d=3, spread=0.8)
    hard = hard_tenth(X, y)
    found = solve(X, HardRows(y, hard), epsilon=None, random_state=0)
    assert found.stop_reason_ == "exhausted"
    assert set(found.given_up_.tolist()) == set(hard)
    assert found.certificate_.n_undecided == 20
    assert str(found.certificate_) == (
        "Every row was asked about: no label is predicted. "
        "Nobody could tell of 20 rows, which have no labels."
    )


def test_rows_come_back_when_there_are_others_to_compare_with():
    """Where nobody can tell of some pairs, hardly a row is given up: other pairs tell."""
    X, y = mixture(250, 8, spread=0.3)
    found = solve(X, Expert(y, unsure=0.3), epsilon=None, random_state=0)
    assert found.stop_reason_ == "exhausted"
    assert len(found.given_up_) < 25


class TestUnsureRows:
    def open_row(self, row, suspects=(), n_unsure=0):
        open_row = OpenRow(row, np.zeros(2), -1, "explore")
        open_row.suspects, open_row.n_unsure = list(suspects), n_unsure
        return open_row

    def test_who_is_to_blame(self):
        unsure = UnsureRows(patience=2)
        assert unsure.is_suspect(7)
        unsure.set_aside(self.open_row(1, [7]), 1)
        assert unsure.guilty() == -1
        unsure.set_aside(self.open_row(2, [7]), 2)
        assert unsure.guilty() == 7
        assert [one.row for one in unsure.acquit(7)] == [1, 2]
        assert unsure.guilty() == -1

    def test_a_clear_answer_acquits(self):
        unsure = UnsureRows(patience=1)
        unsure.set_aside(self.open_row(1, [7]), 1)
        unsure.mark_clear([7])
        assert not unsure.is_suspect(7)
        assert unsure.guilty() == -1

    def test_when_a_row_comes_back(self):
        unsure = UnsureRows(patience=2)
        unsure.set_aside(self.open_row(1, n_unsure=1), 10)
        unsure.set_aside(self.open_row(2, n_unsure=2), 10)  # for good
        assert unsure.next_to_return(19, all_known=False) is None
        back = unsure.next_to_return(20, all_known=False)
        assert back is not None
        assert back.row == 1
        assert unsure.next_to_return(1000, all_known=True) is None

    def test_once_more_when_all_rows_are_known(self):
        unsure = UnsureRows(patience=2)
        unsure.set_aside(self.open_row(1, n_unsure=1), 10)
        assert unsure.may_return(11)
        assert unsure.next_to_return(11, all_known=True) is not None
        unsure.set_aside(self.open_row(1, n_unsure=1), 11)
        assert not unsure.may_return(11)

    def test_pairs(self):
        unsure = UnsureRows(patience=2)
        unsure.add_pair(5, 3)
        assert unsure.knows_pair(3, 5)
        assert not unsure.knows_pair(3, 4)
