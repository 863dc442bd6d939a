"""The map made for looking: in the background, kept, and stable while the run goes on."""

import sys
import time

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from samekind.points import ArrayPoints
from samekind.project import map as mapping
from samekind.project.map import MapMaker
from samekind.report import neighbor_layout, quick_layout
from samekind.report._layout import tsne, tsne_elsewhere


def groups(n=240, d=12, k=8, seed=0):
    """Groups that two directions cannot tell apart."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return np.eye(d)[labels] * 8 + rng.normal(size=(n, d)), labels


def told_apart(places, labels):
    half = len(labels) // 2
    model = KNeighborsClassifier(5).fit(places[:half], labels[:half])
    return model.score(places[half:], labels[half:])


def test_neighbours_stay_together():
    X, labels = groups()
    places = tsne(X, 0)
    quick = quick_layout(X, 0).place(X, np.arange(len(X)))
    assert told_apart(places, labels) > 0.95 > told_apart(quick, labels)
    assert np.array_equal(tsne(X, 0), places)
    assert np.allclose(neighbor_layout(X, places).place(X, np.arange(len(X))), places, atol=1e-6)


@pytest.mark.parametrize("X", [np.zeros((50, 4)), np.ones((3, 5)), np.arange(40.0)[:, None]])
def test_what_has_no_neighbours_is_shown_all_the_same(X):
    placed = MapMaker(ArrayPoints(np.asarray(X, dtype=np.float64))).placed(np.array([], np.intp))
    assert placed.places.shape == (len(X), 2)
    assert placed.places.min() >= 0
    assert placed.places.max() <= 1
    assert not placed.pending


def test_it_is_made_in_the_background_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(mapping, "DELAY", 0.0)
    monkeypatch.setattr(mapping, "tsne_elsewhere", lambda X, seed, begun: slow(X, seed))

    def slow(X, seed):
        time.sleep(0.3)
        return X[:, ::-1][:, :2]

    X, _ = groups()
    points = ArrayPoints(X)
    maker = MapMaker(points, tmp_path / "p.map.npz")
    first = maker.placed(np.array([3]))
    assert (first.method, first.pending, maker.state) == ("principal components", True, "")
    maker.wait()
    made = maker.placed(np.array([3]))
    assert (made.method, made.pending, maker.state) == ("t-SNE", False, "t-SNE")
    again = MapMaker(points, tmp_path / "p.map.npz").placed(np.array([3]))
    assert not again.pending
    assert np.array_equal(again.places, made.places)
    (tmp_path / "p.map.npz").write_bytes(b"damaged")
    assert MapMaker(points, tmp_path / "p.map.npz").placed(np.array([3])).pending
    other = MapMaker(ArrayPoints(X + 1), tmp_path / "p.map.npz")
    assert other.placed(np.array([3])).pending
    other.stop()


def test_rows_that_become_known_are_on_it_and_nothing_else_moves(monkeypatch):
    monkeypatch.setattr(mapping, "MOST_POINTS", 100)
    X, _ = groups()
    maker = MapMaker(ArrayPoints(X))
    before = maker.placed(np.array([], dtype=np.intp))
    known = np.setdiff1d(np.arange(240), before.rows)[:5]
    after = maker.placed(known)
    maker.stop()
    assert np.array_equal(after.places[:100], before.places)
    assert after.rows[100:].tolist() == known.tolist()
    assert np.isfinite(after.places).all()


@pytest.mark.slow
def test_a_process_of_its_own_does_it(monkeypatch):
    X, _ = groups(n=40)
    assert np.array_equal(tsne_elsewhere(X, 0), tsne(X, 0))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert tsne_elsewhere(X, 0) is None
