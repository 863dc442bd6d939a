"""Φ, reducibility, centroid errors and agreement: by hand, by property, and on hostile input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import pdist

from samekind.measures import (
    adjusted_rand_index,
    centroid_error,
    centroid_errors,
    cost,
    is_reducible,
    recovery_count,
    reducibility,
)

coordinates = st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda value: round(value, 3))


def clouds(width=2, min_size=1, max_size=12):
    rows = st.integers(min_size, max_size)
    return rows.flatmap(lambda n: hnp.arrays(np.float64, (n, width), elements=coordinates))


@st.composite
def clusterings(draw):
    X = draw(clouds(min_size=2, max_size=20))
    y = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 4)))
    return X, y


class TestCost:
    def test_by_hand(self):
        X = [[0, 0], [3, 4], [10, 0]]
        assert cost(X, [[0, 0]]) == 0 + 25 + 100
        assert cost(X, [[0, 0], [10, 1]]) == 0 + 25 + 1

    def test_without_centres_is_points_times_squared_diameter(self):
        assert cost([[0, 0], [3, 4], [1, 1]], []) == 3 * 25
        assert cost([[0, 0], [3, 4]], np.empty((0, 2))) == 2 * 25
        assert cost([[7.0, 7.0]], []) == 0.0

    @pytest.mark.parametrize("centers", [[], [[1.0, 2.0]]])
    @pytest.mark.parametrize("X", [[], np.empty((0, 2))])
    def test_no_points_cost_nothing(self, X, centers):
        assert cost(X, centers) == 0.0

    @given(clouds(), clouds(), clouds())
    def test_more_centres_never_cost_more(self, X, few, more):
        assert cost(X, np.vstack([few, more])) <= cost(X, few)

    @given(clouds(), clouds(), hnp.arrays(np.float64, 2, elements=coordinates))
    def test_moving_everything_changes_nothing(self, X, C, shift):
        assert cost(X + shift, C + shift) == pytest.approx(cost(X, C), rel=1e-6, abs=1e-4)

    @given(clouds(), hnp.arrays(np.float64, 2, elements=coordinates))
    def test_the_centroid_is_the_best_single_centre(self, X, elsewhere):
        assert cost(X, [X.mean(axis=0)]) <= cost(X, [elsewhere]) * (1 + 1e-9) + 1e-9

    @given(clouds(min_size=2, max_size=40))
    def test_the_diameter_is_exact(self, X):
        assert cost(X, []) == pytest.approx(len(X) * pdist(X, "sqeuclidean").max())

    @pytest.mark.parametrize("d", [1, 2, 8])
    def test_the_diameter_is_exact_across_blocks(self, d, monkeypatch):
        monkeypatch.setattr("samekind.measures._grouped.CHUNK_ELEMENTS", 500)
        X = np.random.default_rng(d).standard_normal((400, d))
        assert cost(X, []) == pytest.approx(400 * pdist(X, "sqeuclidean").max(), rel=1e-12)

    def test_a_far_off_origin_costs_no_digits(self):
        assert cost([[1e8], [1e8 + 1]], [[1e8 + 0.5]]) == 0.5

    @pytest.mark.parametrize(
        ("X", "centers", "message"),
        [
            ([1.0, 2.0], [[1.0]], r"X must be numbers of shape \(n, d\), got shape \(2,\)"),
            ([["a"]], [[1.0]], "X must be numbers"),
            ([[1.0, 2.0]], [[1.0]], "centers must have as many columns as X, got 1 and 2"),
            ([[math.nan]], [[1.0]], "X must be finite"),
            ([[1.0]], [[math.inf]], "centers must be finite"),
            ([[1e200]], [[1.0]], "rescale"),
        ],
    )
    def test_hostile_input(self, X, centers, message):
        with pytest.raises(ValueError, match=message):
            cost(X, centers)


class TestReducibility:
    X = np.array([[0.0], [2.0], [10.0], [12.0], [1.5], [2.5]])
    y = np.array([0, 0, 1, 1, 2, 3])

    def test_by_hand(self):
        # Centroids 1 and 11, cost 2 each; cluster 2 costs 0.5², cluster 3 costs 1.5².
        assert reducibility(self.X, self.y, [0, 1]) == 1.5**2 / 4
        assert reducibility(self.X, self.y, [0, 1, 3]) == 0.25 / 4
        assert is_reducible(self.X, self.y, [0, 1], epsilon=1.5**2 / 4)
        assert not is_reducible(self.X, self.y, [0, 1], epsilon=1.5**2 / 4 - 1e-9)

    def test_only_the_worst_cluster_counts(self):
        assert reducibility(self.X, self.y, [0]) == (9**2 + 11**2) / 2

    def test_everything_recovered(self):
        assert reducibility(self.X, self.y, [0, 1, 2, 3]) == 0.0
        assert is_reducible(self.X, self.y, {0, 1, 2, 3}, epsilon=0)

    def test_nothing_recovered(self):
        assert reducibility(self.X, self.y, []) == math.inf
        assert not is_reducible(self.X, self.y, [], epsilon=1e9)
        copies = [[1.0], [1.0], [5.0]]
        assert reducibility(copies, [0, 0, 1], []) == 0.0
        assert is_reducible(copies, [0, 0, 1], [], epsilon=0.1)

    def test_recovered_clusters_without_cost(self):
        assert reducibility([[1.0], [1.0], [5.0]], [0, 0, 1], [0]) == math.inf
        assert reducibility([[1.0], [1.0], [1.0]], [0, 0, 1], [0]) == 0.0

    def test_given_centres_take_the_centroids_place_on_both_sides(self):
        # Centre 2 for cluster 0: it costs 4; cluster 2 costs 0.5², cluster 3 as well.
        X, y = self.X[[0, 1, 4, 5]], self.y[[0, 1, 4, 5]]
        assert reducibility(X, y, [0], centers=[[2.0]]) == 0.25 / 4

    @given(clusterings(), st.data())
    def test_agrees_with_the_definition(self, clustering, data):
        X, y = clustering
        recovered = data.draw(st.sets(st.sampled_from(sorted(set(y.tolist())))))
        centroids = {i: X[y == i].mean(axis=0) for i in set(y.tolist())}
        right = sum(cost(X[y == i], [centroids[i]]) for i in recovered)
        C = [centroids[i] for i in recovered]
        left = [cost(X[y == i], C) for i in set(y.tolist()) - recovered]
        epsilon = reducibility(X, y, recovered)
        if right > 1e-6 and epsilon > 1e-9:
            assert epsilon == pytest.approx(max(left) / right, rel=1e-6)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda X, y: reducibility(X, y[:3], [0]), "X and y must be equally many, got 6 and 3"),
            (lambda X, y: reducibility(X, y, [7]), "recovered must name clusters that y has"),
            (lambda X, y: reducibility(X, y, [0], [[1.0], [2.0]]), "centers and recovered"),
            (lambda X, y: is_reducible(X, y, [0], -0.1), "epsilon must be"),
        ],
    )
    def test_hostile_input(self, call, message):
        with pytest.raises(ValueError, match=message):
            call(self.X, self.y)


class TestCentroidError:
    def test_by_hand(self):
        assert centroid_error([[0.0, 0.0], [2.0, 0.0]], [1.0, 0.5]) == 2 * 0.25 / 2
        assert centroid_error([[0.0, 0.0], [2.0, 0.0]], [1.0, 0.0]) == 0.0

    @given(clouds(min_size=2), hnp.arrays(np.float64, 2, elements=coordinates))
    def test_equals_the_naive_formula(self, X, center):
        base = cost(X, [X.mean(axis=0)])
        if base > 1e-3:
            naive = (cost(X, [center]) - base) / base
            assert centroid_error(X, center) == pytest.approx(naive, rel=1e-6, abs=1e-6)

    def test_small_errors_keep_their_digits(self):
        # The naive formula loses an error of 1e-20 next to 1.
        assert centroid_error([[0.0], [2.0]], [1.0 + 2.0**-33]) == 2.0**-66

    def test_several_centres(self):
        X = np.array([[0.0], [2.0], [7.0], [9.0], [4.0]])
        y = np.array(["a", "a", "b", "b", "c"])
        errors = centroid_errors(X, y, [[8.5], [1.0], [4.0], [5.0]], ["b", "a", "c", "c"])
        assert errors.tolist() == [0.25, 0.0, 0.0, math.inf]
        assert centroid_errors(X, y, [], []).shape == (0,)

    @given(clusterings())
    def test_true_centroids_have_no_error(self, clustering):
        X, y = clustering
        labels = np.unique(y)
        centroids = np.array([X[y == label].mean(axis=0) for label in labels])
        spread = np.array([cost(X[y == i], [c]) for i, c in zip(labels, centroids, strict=True)])
        errors = centroid_errors(X, y, centroids, labels)
        assert (errors[spread > 1e-6] <= 1e-9).all()

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: centroid_error([], [1.0]), "at least one point"),
            (lambda: centroid_error([[1.0]], [[1.0]]), r"center must be one point"),
            (lambda: centroid_error([[1.0]], [1.0, 2.0]), "as many columns"),
            (lambda: centroid_errors([[1.0]], ["a"], [[1.0]], []), "centers and labels"),
            (lambda: centroid_errors([[1.0]], ["a"], [[1.0]], ["b"]), "labels must name clusters"),
        ],
    )
    def test_hostile_input(self, call, message):
        with pytest.raises(ValueError, match=message):
            call()


class TestRecoveryCount:
    X = np.array([[0.0], [2.0], [7.0], [9.0]])
    y = np.array([3, 3, 5, 5])

    def test_by_hand(self):
        assert recovery_count(self.X, self.y, [[1.0], [8.0]], [3, 5]) == 2
        assert recovery_count(self.X, self.y, [[1.0], [8.5]], [3, 5]) == 1
        assert recovery_count(self.X, self.y, [[1.0], [8.5]], [3, 5], tolerance=0.25) == 2
        assert recovery_count(self.X, self.y, [[1.0], [8.0]], [5, 3]) == 0
        assert recovery_count(self.X, self.y, [], []) == 0

    def test_a_cluster_counts_once(self):
        assert recovery_count(self.X, self.y, [[1.0], [1.01]], [3, 3]) == 1

    @pytest.mark.parametrize("tolerance", [-1, math.nan, True, "0.1", None])
    def test_hostile_tolerance(self, tolerance):
        with pytest.raises(ValueError, match="tolerance must be"):
            recovery_count(self.X, self.y, [], [], tolerance=tolerance)


class TestAdjustedRandIndex:
    def test_by_hand(self):
        # Pairs: 6; same in both 1, in the first 2, in the second 3: (1 - 1) / (2.5 - 1) = 0.
        assert adjusted_rand_index([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(0.0)
        assert adjusted_rand_index([0, 0, 1, 1], [5, 5, 4, 4]) == 1.0
        assert adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5)

    def test_texts_and_numbers(self):
        assert adjusted_rand_index(["a", "b", "a"], [0, 1, 0]) == 1.0

    def test_hostile_input(self):
        with pytest.raises(ValueError, match="equally many, got 2 and 3"):
            adjusted_rand_index([0, 1], [0, 1, 2])
        with pytest.raises(ValueError, match="labels_pred must be one label"):
            adjusted_rand_index([0, 1], [[0, 1]])
