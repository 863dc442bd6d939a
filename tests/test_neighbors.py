"""The nearest rows of each row, by all columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from samekind import ArrayPoints
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.neighbors import nearest_neighbors
from samekind.points import WorkingSpace


def nearest(X, k):
    distances, found = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    return distances[:, 1:], found[:, 1:]


def rows_of(n=300, d=40, seed=0):
    """Return rows whose last columns matter less than the first ones."""
    return np.random.default_rng(seed).normal(size=(n, d)) / np.sqrt(1 + np.arange(d))


def reduced(X, k, *, unit=False):
    """Return rows in the space of their first columns."""
    d = X.shape[1]
    return ArrayPoints(X).in_space(
        WorkingSpace(d, unit, np.eye(d, k, dtype=np.float32), np.zeros(d))
    )


@pytest.mark.parametrize("d", [5, 40])  # by a tree, and by products
def test_rows_as_they_are(d):
    X = rows_of(d=d)
    distances, found = nearest_neighbors(ArrayPoints(X), np.arange(len(X)), 10)
    expected = nearest(X, 10)
    np.testing.assert_allclose(distances, expected[0])
    np.testing.assert_array_equal(found, expected[1])


@pytest.mark.parametrize("unit", [False, True])
def test_reduced_rows_are_ranked_by_all_columns(unit):
    X = rows_of()
    points = reduced(X, 20, unit=unit)
    compared = X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X
    expected_distances, expected = nearest(compared, 10)
    distances, found = nearest_neighbors(points, np.arange(len(X)), 10)
    in_space = nearest(points.X, 10)[1]

    def share(neighbors):
        return np.mean(
            [len(set(a) & set(b)) / 10 for a, b in zip(neighbors, expected, strict=True)]
        )

    assert share(found) > 0.99 > 0.9 > share(in_space)
    np.testing.assert_allclose(distances[:, 0], expected_distances[:, 0])
    assert (np.diff(distances, axis=1) >= 0).all()


def test_of_some_rows_their_places():
    X = rows_of()
    some = np.arange(0, 300, 3)
    _, found = nearest_neighbors(reduced(X, 20), some, 5)
    assert found.max() < some.size
    assert not (found == np.arange(some.size)[:, None]).any()
    assert np.mean(found[:, 0] == nearest(X[some], 1)[1][:, 0]) > 0.99


def test_fewer_rows_than_candidates():
    _, found = nearest_neighbors(reduced(rows_of(n=4), 2), np.arange(4), 3)
    assert [sorted([*others, row]) for row, others in enumerate(found.tolist())] == [
        [0, 1, 2, 3]
    ] * 4


def test_any_number_of_threads():
    X = np.random.default_rng(0).integers(0, 2, size=(500, 30)).astype(float)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(nearest_neighbors(reduced(X, 10), np.arange(500), 10)[1])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("d", [3, 30])
def test_rows_that_are_alike_find_each_other_and_not_themselves(d):
    X = np.repeat(rows_of(n=20, d=d), 8, axis=0)
    distances, found = nearest_neighbors(ArrayPoints(X), np.arange(len(X)), 5)
    assert not (found == np.arange(len(X))[:, None]).any()
    assert (found // 8 == np.arange(len(X))[:, None] // 8).all()
    assert all(len(set(others)) == 5 for others in found.tolist())
    assert not distances.any() or distances.max() < 1e-6


def test_more_rows_than_products_are_kept_of(monkeypatch):
    X = rows_of()
    whole = nearest_neighbors(ArrayPoints(X), np.arange(len(X)), 10)
    monkeypatch.setattr(const, "PRODUCTS_AT_ONCE", 7 * len(X))
    parts = nearest_neighbors(ArrayPoints(X), np.arange(len(X)), 10)
    np.testing.assert_array_equal(whole[1], parts[1])
    np.testing.assert_allclose(whole[0], parts[0])
