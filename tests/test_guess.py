"""What is guessed where nothing may be asked."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from conftest import blobs
from samekind import LabelOracle, Session, solve
from samekind.algorithms.focused import terrain
from samekind.algorithms.focused.guess import find_modes
from samekind.points import ArrayPoints


def modes_of(X):
    points = ArrayPoints(X)
    return find_modes(points, terrain.map_terrain(points, seed=0))


def asks_nobody(a, b):
    raise AssertionError("nothing may be asked")


def test_blobs_are_found_without_a_question():
    X, y = blobs((200, 150, 100))
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert found.n_questions_ == 0
    assert found.n_discovered_ == 3
    assert adjusted_rand_score(y, found.labels_) > 0.95
    assert found.stop_reason_ == "budget"


def test_it_says_that_it_is_a_guess():
    X, _ = blobs((60, 60))
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert any("guess" in note for note in found.notes_)
    assert found.certificate_.wrong == 1.0
    assert str(found.certificate_) == "No promise yet: no row was audited."
    assert found.n_recovered_ == 0


def test_one_cloud_is_one_mode():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    modes, groups = modes_of(X)
    assert modes.size == 1
    assert not groups.any()


def test_a_mode_by_hand():
    """Two heaps on a line: the lower one stands out, as there is nothing between them."""
    X = np.r_[np.linspace(0, 1, 40), np.linspace(10, 12, 40)][:, None]
    modes, groups = modes_of(X)
    assert modes.size == 2
    assert modes[0] < 40 <= modes[1]
    np.testing.assert_array_equal(groups, np.repeat([0, 1], 40))


@pytest.mark.parametrize(
    "X", [np.zeros((50, 2)), np.zeros((1, 1)), np.array([[0.0], [1.0]]), np.eye(3)]
)
def test_odd_data(X):
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert found.n_discovered_ >= 1
    assert (found.labels_ >= 0).all()


def test_many_rows_by_some_of_them(monkeypatch):
    monkeypatch.setattr(terrain, "MOST_NODES", 500)
    X, y = blobs((500, 400, 300))
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert adjusted_rand_score(y, found.labels_) > 0.95


def test_what_was_answered_counts_more(tmp_path):
    """Who opens a project with budget=0 sees what its answers say."""
    X, y = blobs((60, 60))
    path = tmp_path / "mine.db"
    solve(X, LabelOracle(y), ledger=path, budget=20, random_state=0)
    with Session(X, ledger=path, budget=0, random_state=0) as session:
        assert session.done
        assert not any("guess" in note for note in session.clusters().notes_)
