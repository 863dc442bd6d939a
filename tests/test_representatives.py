"""Representatives of large data, and labels by the nearest: by hand, against plain NumPy, in threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from samekind.datasets import make_synthetic
from samekind.points import ArrayPoints
from samekind.points import array as array_module
from samekind.points.nearest_labels import NearestLabels
from samekind.points.representatives import Representatives, choose_representatives


def plain_labels(R, labels, X):
    """Return the label of each row's nearest representative, of equals the first."""
    distances = np.zeros((len(X), len(R)))
    for j in range(R.shape[1]):
        distances += (np.asarray(X, dtype=float)[:, j, None] - R[:, j]) ** 2
    return np.asarray(labels)[distances.argmin(axis=1)]


def all_of(X):
    return choose_representatives(ArrayPoints(X), 0, size=len(X))


def assert_same(one, other):
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.fixture(scope="module")
def clusters():
    """Return 40,000 rows in 20 clusters, and 30 clusters of three rows far from them."""
    X, y = make_synthetic(40_000, n_clusters=20, n_features=4, dtype=np.float32, random_state=0)
    rng = np.random.default_rng(1)
    far = np.repeat(rng.uniform(20, 60, (30, 4)), 3, axis=0) + 0.1 * rng.normal(size=(90, 4))
    order = rng.permutation(len(X) + 90)
    tiny = np.repeat(np.arange(20, 50), 3)
    return np.concatenate([X, far.astype(np.float32)])[order], np.append(y, tiny)[order]


class TestChoice:
    def test_small_data_represent_themselves(self):
        X = np.array([[0.0], [0.0], [5.0]])
        chosen = choose_representatives(ArrayPoints(X), 0, size=3)
        assert_same(chosen, ([0, 1, 2], X, [1, 1, 1], 3))

    def test_equal_rows_become_one_that_weighs_as_much(self):
        X = np.repeat([[0.0], [-0.0], [1.0], [7.0]], [300, 100, 30, 2], axis=0)
        chosen = choose_representatives(ArrayPoints(X), 0, size=20)
        assert chosen.X.ravel().tolist() == [0, 1, 7]
        assert chosen.weights.sum() == pytest.approx(432, rel=0.3)
        whole = choose_representatives(ArrayPoints(X), 0, size=300)  # every row was drawn
        assert_same(whole.weights, [400, 30, 2])

    def test_as_many_as_wanted_in_order_and_with_their_coordinates(self, clusters):
        X, _ = clusters
        chosen = choose_representatives(ArrayPoints(X), 0, size=1000, anchors=32)
        assert chosen.rows.size == 1000
        assert (np.diff(chosen.rows) > 0).all()
        np.testing.assert_array_equal(chosen.X, X[chosen.rows])
        assert (chosen.weights >= 1).all()

    def test_far_small_clusters_are_represented(self, clusters):
        X, y = clusters
        found = []
        for seed in range(5):
            chosen = choose_representatives(ArrayPoints(X), seed, size=2000, anchors=64)
            found.append(np.unique(y[chosen.rows]).size)
        assert min(found) >= 49  # of 50; uniform draws of this size miss most of the 30 small ones
        uniform = np.random.default_rng(0).choice(len(X), 2000, replace=False)
        assert np.unique(y[uniform]).size < 35

    def test_weights_are_unbiased(self):
        rng = np.random.default_rng(0)
        copies = np.repeat(rng.normal(size=(10, 2)), 8, axis=0)
        X = np.concatenate([rng.normal(size=(200, 2)), copies, rng.normal(size=(20, 2)) + 5])
        y = np.repeat([0, 1, 2], [200, 80, 20])
        points, sizes = ArrayPoints(X), np.zeros((500, 3))
        for seed in range(500):
            chosen = choose_representatives(points, seed, size=60, anchors=8)
            sizes[seed] = np.bincount(y[chosen.rows], chosen.weights, 3)
        error = sizes.std(axis=0) / 500**0.5
        assert (error < [3, 2, 0.5]).all()
        assert (abs(sizes.mean(axis=0) - [200, 80, 20]) < 4 * error).all()

    def test_the_weights_of_large_data_sum_to_about_the_rows(self, clusters):
        X, y = clusters
        chosen = choose_representatives(ArrayPoints(X), 0, size=5000)
        assert chosen.weights.sum() == pytest.approx(len(X), rel=0.03)
        sizes, true = np.bincount(y[chosen.rows], chosen.weights, 50), np.bincount(y)
        assert np.median(abs(sizes / true - 1)[:20]) < 0.15  # of those with more than three rows

    def test_the_seed_decides(self, clusters):
        """P27: the same seed, the same representatives."""
        points = ArrayPoints(clusters[0])
        one = choose_representatives(points, 3, size=500)
        assert_same(one, choose_representatives(points, 3, size=500))
        assert (one.rows != choose_representatives(points, 4, size=500).rows).any()

    @pytest.mark.parametrize("threads", [2, 3])
    def test_threads_and_blocks_do_not_matter(self, clusters, threads, monkeypatch):
        """P27: representatives and weights."""
        X, y = clusters
        chosen = choose_representatives(ArrayPoints(X, threads=1), 0, size=500)
        labels = NearestLabels(chosen, y[chosen.rows]).of_all(ArrayPoints(X, threads=1))
        monkeypatch.setattr(array_module, "SMALL", 0)
        monkeypatch.setattr(array_module, "BLOCK_ROWS", 999)
        points = ArrayPoints(X, threads=threads)
        assert points.threads == threads
        assert_same(chosen, choose_representatives(points, 0, size=500))
        assert_same(labels, NearestLabels(chosen, y[chosen.rows]).of_all(points))

    def test_a_memory_map_gives_the_same(self, clusters, tmp_path):
        X, y = clusters
        np.save(tmp_path / "X.npy", X)
        mapped = ArrayPoints(np.load(tmp_path / "X.npy", mmap_mode="r"))
        chosen = choose_representatives(mapped, 0, size=500)
        assert_same(chosen, choose_representatives(ArrayPoints(X), 0, size=500))
        nearest = NearestLabels(chosen, y[chosen.rows])
        assert_same(nearest.of_all(mapped), nearest.of_all(ArrayPoints(X)))

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::UserWarning:distributed", "ignore::ResourceWarning")
    def test_a_dask_array_gives_the_same(self, clusters):
        da = pytest.importorskip("dask.array")
        from samekind.points import DaskPoints

        X, y = clusters
        points = DaskPoints(da.from_array(X, chunks=(9000, 4)))
        chosen = choose_representatives(points, 0, size=500)
        assert_same(chosen, choose_representatives(ArrayPoints(X), 0, size=500))
        nearest = NearestLabels(chosen, y[chosen.rows])
        assert_same(nearest.of_all(points), nearest.of_all(ArrayPoints(X)))

    @pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
    def test_the_scale_of_the_data_does_not_matter(self, clusters, scale):
        X = clusters[0][:5000].astype(np.float64)
        power = 2.0 ** np.round(np.log2(scale))
        chosen = choose_representatives(ArrayPoints(X), 0, size=100)
        assert_same(chosen.rows, choose_representatives(ArrayPoints(X * power), 0, size=100).rows)

    @pytest.mark.parametrize("size", [1, 2, 3, 7])
    def test_few_representatives(self, size):
        X = np.random.default_rng(0).normal(size=(50, 2))
        chosen = choose_representatives(ArrayPoints(X), 0, size=size)
        assert chosen.rows.size == size
        assert np.isfinite(chosen.weights).all()

    @pytest.mark.parametrize("name", ["size", "anchors"])
    def test_numbers_must_be_positive(self, name):
        with pytest.raises(ValueError, match=f"{name} must be a positive int, got 0"):
            choose_representatives(ArrayPoints([[0.0]]), 0, **{name: 0})


class TestGrowth:
    """P9: rows that are added."""

    def test_known_ones_stay_and_new_rows_get_their_share(self, clusters):
        X, _ = clusters
        before = choose_representatives(ArrayPoints(X[:30_000]), 0, size=1000)
        points = ArrayPoints(X)
        after = choose_representatives(points, 1, size=1000, known=before)
        m = before.rows.size
        assert_same(after.rows[:m], before.rows)
        assert_same(after.weights[:m], before.weights)
        assert (after.rows[m:] >= 30_000).all()
        assert after.rows.size - m == -(-1000 * (len(X) - 30_000) // len(X))
        np.testing.assert_array_equal(after.X, X[after.rows])
        assert after.weights[m:].sum() == pytest.approx(len(X) - 30_000, rel=0.2)
        assert after.n == len(X)

    def test_small_data_that_grow_still_represent_themselves(self):
        X = np.arange(20.0)[:, None]
        before = choose_representatives(ArrayPoints(X[:12]), 0, size=20)
        after = choose_representatives(ArrayPoints(X), 0, size=20, known=before)
        assert_same(after, choose_representatives(ArrayPoints(X), 5, size=20))
        assert_same(after, choose_representatives(ArrayPoints(X), 0, size=20, known=after))

    def test_fewer_rows_are_refused(self):
        known = all_of([[0.0], [1.0]])
        with pytest.raises(ValueError, match="known stands for 2 rows"):
            choose_representatives(ArrayPoints([[0.0]]), 0, known=known)

    def test_more_rows_come_last_and_the_sum_stays(self):
        points = ArrayPoints(np.arange(6.0)[:, None])
        some = Representatives(np.array([1, 4]), np.array([[1.0], [4.0]]), np.array([1.0, 5.0]), 6)
        more = some.with_rows(points, [5, 4, 0, 5])
        assert_same(more, ([1, 4, 5, 0], [[1.0], [4.0], [5.0], [0.0]], [1, 3, 1, 1], 6))
        assert_same(more, some.with_rows(points, [5]).with_rows(points, [0]))
        assert_same(some, some.with_rows(points, []))

    @pytest.mark.parametrize("row", [-1, 6])
    def test_only_rows_of_the_data_can_be_added(self, row):
        points = ArrayPoints(np.arange(6.0)[:, None])
        with pytest.raises(ValueError, match=rf"rows must be in 0\.\.5, got {row}"):
            all_of(points.X).with_rows(points, [row])


coordinates = st.one_of(
    st.integers(-3, 3).map(float),  # many ties
    st.floats(-10, 10, width=32),
    st.floats(-1e-160, 1e-160),
    st.floats(-1e150, 1e150),
)


class TestLabels:
    def test_by_hand(self):
        R = all_of([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]])
        nearest = NearestLabels(R, [5, -1, 5])
        X = [[1.0, 0.0], [2.0, 0.0], [2.5, 0.0], [4.0, 2.0], [4.0, 2.1]]
        assert nearest.of_coordinates(X).tolist() == [5, 5, -1, -1, 5]

    def test_a_row_that_is_a_representative_has_its_own_label(self):
        points = ArrayPoints([[0.0], [9.0], [0.0], [0.0]])
        R = Representatives(np.array([1, 2]), points.rows(np.array([1, 2])), np.ones(2), 4)
        nearest = NearestLabels(R.with_rows(points, [0]), [1, 2, 3])
        assert nearest.of_all(points).tolist() == [3, 1, 2, 2]
        assert nearest.of_rows(points, [3, 0, 2, 1]).tolist() == [2, 3, 2, 1]

    @given(
        data=st.data(),
        d=st.integers(1, 4),
        m=st.integers(1, 60),
        pivots=st.integers(1, 8),
        pure=st.sampled_from([1, 3, 64]),
        n_labels=st.integers(1, 6),
    )
    def test_they_are_those_of_the_nearest(self, data, d, m, pivots, pure, n_labels):
        scale = data.draw(st.sampled_from([coordinates, st.integers(-2, 2).map(float)]))
        R = data.draw(hnp.arrays(np.float64, (m, d), elements=scale))
        X = data.draw(hnp.arrays(np.float64, (20, d), elements=scale))
        labels = data.draw(hnp.arrays(np.int32, m, elements=st.integers(0, n_labels - 1)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("samekind.points.nearest_labels.PIVOTS", pivots)
            patch.setattr("samekind.points.nearest_labels.PURE", pure)
            nearest = NearestLabels(all_of(R), labels)
            found = nearest.of_coordinates(np.concatenate([X, R]))
        assert found.dtype == labels.dtype
        assert_same(found, plain_labels(R, labels, np.concatenate([X, R])))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("spread", [0.3, 2.0])
    @pytest.mark.parametrize("n_labels", [1, 3, 40, 3000])
    def test_they_are_those_of_the_nearest_of_many(self, dtype, spread, n_labels):
        rng = np.random.default_rng(n_labels)
        centers = rng.uniform(0, 5, (n_labels, 6))
        y = rng.integers(n_labels, size=9000)
        X = (centers[y] + spread * rng.normal(size=(9000, 6))).astype(dtype)
        points = ArrayPoints(X)
        chosen = choose_representatives(points, 0, size=3000)
        nearest = NearestLabels(chosen, y[chosen.rows])
        plain = np.concatenate(
            [plain_labels(chosen.X, y[chosen.rows], part) for part in np.split(X, 9)]
        )
        assert_same(nearest.of_all(points), plain)
        some = rng.choice(9000, 50)
        assert_same(nearest.of_rows(points, some), plain[some])

    def test_one_label_for_each_representative(self):
        with pytest.raises(
            ValueError, match=r"labels must have .* 2 representatives, got shape \(3,\)"
        ):
            NearestLabels(all_of([[0.0], [1.0]]), [0, 1, 2])
