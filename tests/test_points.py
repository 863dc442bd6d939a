"""The data and the D² sampler: by hand, against plain NumPy, on hostile input, in threads."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b, sha256

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import chisquare

from samekind.points import ArrayPoints
from samekind.points import array as array_module

LARGEST_UNIFORM = np.nextafter(1.0, 0.0)


def sampler_of(X, centers, **options):
    sampler = ArrayPoints(X, **options).sampler()
    sampler.add(centers)
    return sampler


def plain_costs(X, centers):
    return cdist(np.asarray(X, dtype=float), centers, "sqeuclidean").min(axis=1)


def plain_draw(costs, uniforms):
    return np.searchsorted(np.cumsum(costs), uniforms * costs.sum(), side="right")


class TestSamplerByHand:
    X = np.array([[0.0], [1.0], [3.0], [0.0]])  # costs 0, 1, 9, 0 from a centre at 0

    @pytest.mark.parametrize(
        ("uniform", "row"),
        [(0.0, 1), (0.0999, 1), (0.1, 2), (0.5, 2), (0.99999, 2), (LARGEST_UNIFORM, 2)],
    )
    def test_which_uniform_gives_which_row(self, uniform, row):
        sampler = sampler_of(self.X, [[0.0]])
        assert sampler.total == 10.0
        assert sampler.cost(np.arange(4)).tolist() == [0, 1, 9, 0]
        assert sampler.draw(np.array([uniform])).tolist() == [row]

    def test_a_second_centre_lowers_the_costs(self):
        sampler = sampler_of(self.X, [[0.0]])
        sampler.add([[4.0]])
        assert sampler.cost(np.arange(4)).tolist() == [0, 1, 1, 0]
        assert sampler.total == 2.0
        assert sampler.draw(np.array([0.4999, 0.5])).tolist() == [1, 2]

    def test_without_a_centre_draws_are_uniform(self):
        sampler = ArrayPoints(self.X).sampler()
        assert sampler.total == np.inf
        assert sampler.cost(np.arange(4)).tolist() == [1, 1, 1, 1]
        uniforms = np.array([0.0, 0.2499, 0.25, 0.5, 0.75, LARGEST_UNIFORM])
        assert sampler.draw(uniforms).tolist() == [0, 0, 1, 2, 3, 3]


class TestSamplerAgainstNumPy:
    @pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 511, 512, 1000, 2560])
    def test_same_rows_as_a_cumulative_sum(self, n):
        rng = np.random.default_rng(n)
        X = rng.integers(-9, 9, size=(n, 3)).astype(float)  # sums of ints are exact
        centers = rng.integers(-9, 9, size=(2, 3)).astype(float) + 20
        sampler, costs = sampler_of(X, centers), plain_costs(X, centers)
        uniforms = np.append(rng.random(500), [0.0, LARGEST_UNIFORM])
        assert sampler.total == costs.sum()
        np.testing.assert_array_equal(sampler.cost(np.arange(n)), costs)
        np.testing.assert_array_equal(sampler.draw(uniforms), plain_draw(costs, uniforms))

    @given(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(1, 700), st.just(1)),
            elements=st.sampled_from([0.0, 0.0, 0.0, 1e-9, 0.1, 1.0, 1e9]),
        ),
        st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20),
    )
    def test_rows_on_a_centre_are_never_drawn(self, X, uniforms):
        sampler = sampler_of(X, [[0.0]])
        if sampler.total == 0:
            return
        rows = sampler.draw(np.array([*uniforms, 0.0, LARGEST_UNIFORM]))
        assert (X[rows, 0] > 0).all()

    def test_rounding_at_the_end_does_not_reach_a_row_on_a_centre(self):
        """Taken one by one from the largest target, these costs leave a rest of 1e-15."""
        tenths = [1, 3, 5, 4, 4, 1, 1, 2, 1, 7, 5, 6, 3, 6, 7, 4, 5, 9, 8, 9, 4, 7, 0, 0]
        rows = sampler_of(np.array(tenths)[:, None] / 10, [[0.0]]).draw(np.array([LARGEST_UNIFORM]))
        assert rows.tolist() == [21]

    def test_frequencies(self):
        X = np.sqrt(np.arange(600.0))[:, None]  # cost i for row i, in three blocks
        rows = sampler_of(X, [[0.0]]).draw(np.random.default_rng(0).random(100_000))
        seen = np.bincount(rows, minlength=600).reshape(20, 30).sum(axis=1)
        expected = np.arange(600.0).reshape(20, 30).sum(axis=1)
        assert chisquare(seen, expected * 100_000 / expected.sum()).pvalue > 0.001

    @pytest.mark.parametrize("settled", [0, 1, 2])
    def test_frequencies_by_trying(self, settled):
        """Of rows that were drawn ahead, too, before the last centre came."""
        X = np.sqrt(np.arange(600.0))[:, None]
        centers = [[0.0], [30.0], [12.0]]
        rng, rows = np.random.default_rng(settled), []
        for _ in range(400):
            sampler = ArrayPoints(X).sampler()
            assert len(sampler.draw_by_rejection(rng, 2)) == 2  # uniform
            sampler.add(np.reshape(centers[:settled], (-1, 1)))
            sampler.add_lazily(np.reshape(centers[settled:2], (-1, 1)))
            sampler.draw_by_rejection(rng, 3)
            sampler.add_lazily(centers[2])
            rows += sampler.draw_by_rejection(rng, 20)
        costs = plain_costs(X, np.array(centers))
        seen = np.bincount(rows, minlength=600).reshape(12, 50).sum(axis=1)
        expected = costs.reshape(12, 50).sum(axis=1)
        assert chisquare(seen, expected * len(rows) / expected.sum()).pvalue > 0.001

    def test_trying_where_every_row_lies_on_a_centre(self):
        sampler = ArrayPoints(np.repeat(np.eye(3), 500, axis=0)).sampler()
        sampler.add_lazily(np.eye(3)[:2])
        assert set(sampler.draw_by_rejection(np.random.default_rng(0), 50)) <= set(
            range(1000, 1500)
        )
        sampler.add_lazily(np.eye(3)[2])
        assert sampler.draw_by_rejection(np.random.default_rng(0), 5) == []
        assert sampler.total == 0.0

    def test_what_is_expected_counts_everywhere(self):
        X = np.array([[0.0], [1.0], [3.0], [0.0]])
        sampler = ArrayPoints(X).sampler()
        sampler.add_lazily([[0.0], [4.0]])
        assert sampler.cost(np.arange(4)).tolist() == [0, 1, 1, 0]
        assert sampler.total == 2.0
        with pytest.raises(ValueError, match="centres have 2 columns"):
            sampler.add_lazily([[0.0, 1.0]])

    @given(
        hnp.arrays(np.float64, (30, 3), elements=st.floats(-100, 100)),
        hnp.arrays(np.float64, (4, 3), elements=st.floats(-100, 100)),
    )
    def test_nearest(self, X, centers):
        labels = ArrayPoints(X).label_by_nearest(centers)
        chosen = ((X - centers[labels]) ** 2).sum(axis=1)
        np.testing.assert_allclose(chosen, plain_costs(X, centers), rtol=1e-12, atol=1e-12)


class TestThreads:
    """The number of threads never changes a result (P27)."""

    X = np.random.default_rng(0).normal(size=(70_001, 4))
    centers = np.random.default_rng(1).normal(size=(3, 4))
    uniforms = np.random.default_rng(2).random(10_000)

    def results(self, threads, X=None):
        points = ArrayPoints(self.X if X is None else X, threads=threads)
        sampler = points.sampler()
        sampler.add(self.centers)
        sampler.add(self.centers[:1] + 1)
        every = sampler.cost(np.arange(points.n))
        drawn = sampler.draw(self.uniforms)
        labels = points.label_by_nearest(self.centers)
        return sampler.total, *(sha256(x.tobytes()).hexdigest() for x in (every, drawn, labels))

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("threads", [2, 3, None])
    def test_results_do_not_depend_on_them(self, threads, dtype):
        assert self.X.size > array_module.SMALL
        X = self.X.astype(dtype)
        assert self.results(threads, X) == self.results(1, X)

    def test_several_python_threads_at_once(self):
        expected = self.results(1)
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(self.results, [2, 3, 2, 3])) == [expected] * 4

    def test_the_first_bad_value_is_named_whoever_finds_it(self):
        X = self.X.copy()
        X[100, 2], X[60_000, 1] = np.nan, np.inf
        with pytest.raises(ValueError, match="NaN in row 100, column 2"):
            ArrayPoints(X, threads=3)

    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_after_a_fork(self):
        expected = self.results(2)  # the parent has a pool now
        fork = multiprocessing.get_context("fork")
        queue = fork.SimpleQueue()
        child = fork.Process(target=lambda: queue.put(self.results(2)))
        child.start()
        child.join(30)
        if child.is_alive():
            child.kill()
        assert child.exitcode == 0
        assert queue.get() == expected

    def test_systems_without_fork_can_import(self):
        """As on Windows."""
        code = (
            "import os; del os.fork, os.register_at_fork; from samekind.points import ArrayPoints"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class TestInput:
    def test_arrays_are_not_copied(self, tmp_path):
        for dtype in (np.float64, np.float32):
            X = np.ones((5, 2), dtype=dtype)
            assert np.shares_memory(ArrayPoints(X).X, X)

    def test_memory_maps_are_not_loaded(self, tmp_path):
        """P29: files larger than memory."""
        X = np.random.default_rng(0).normal(size=(300, 3))
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        points = ArrayPoints(mapped)
        assert np.shares_memory(points.X, mapped)
        assert points.fingerprint() == ArrayPoints(X).fingerprint()
        one, other = sampler_of(mapped, X[:2]), sampler_of(X, X[:2])
        assert one.total == other.total
        np.testing.assert_array_equal(
            points.label_by_nearest(X[:2]), ArrayPoints(X).label_by_nearest(X[:2])
        )

    @pytest.mark.parametrize(
        "X",
        [
            np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
            np.array([[1, 2], [3, 4]]),
            np.array([[1, 2], [3, 4]], dtype=np.float16),
            np.array([[1, 9, 2], [3, 9, 4]], dtype=float)[:, ::2],
            np.array([[1, 2.0], [3, 4]], dtype=object),
            pd.DataFrame({"a": [1, 3], "b": [2.0, 4.0]}),
        ],
        ids=["fortran", "int", "half", "strided", "object", "frame"],
    )
    def test_other_numbers_are_taken_as_floats(self, X):
        points = ArrayPoints(X)
        assert points.rows(np.array([1, 0])).tolist() == [[3.0, 4.0], [1.0, 2.0]]
        assert sampler_of(X, [[1.0, 2.0]]).total == 8.0

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_squares_of_large_values_do_not_overflow(self, dtype):
        X = np.array([[1e30, -1e30], [-1e30, 1e30], [0, 0]], dtype=dtype)
        sampler = sampler_of(X, [[0.0, 0.0]])
        assert sampler.total == pytest.approx(4e60)
        assert sorted(set(sampler.draw(np.linspace(0, 0.99, 9)).tolist())) == [0, 1]

    def test_one_row(self):
        points = ArrayPoints([[2.0]])
        assert points.sampler().draw(np.array([0.0, LARGEST_UNIFORM])).tolist() == [0, 0]

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[1.0, 2.0], [np.nan, 0.0]], "NaN in row 1, column 0. Fill or drop missing values"),
            ([[1.0, -np.inf]], "infinity in row 0, column 1. Replace it by a finite value"),
            ([[0.0], [1e200]], r"1e\+200 in row 1, column 0, .* Scale the data first"),
            ([1.0, 2.0], r"2-D \(rows x columns\), got shape \(2,\)\. Use X.reshape\(-1, 1\)"),
            (np.zeros((2, 2, 2)), r"2-D .*, got shape \(2, 2, 2\)\.$"),
            (np.empty((0, 2)), r"at least one row and one column, got shape \(0, 2\)"),
            ([["a", "b"]], "must hold numbers, got <U1"),
            (np.array([[1, "b"]], dtype=object), "must hold numbers, got 'b' in row 0, column 1"),
            (
                np.array([[1, [2]]], dtype=object),
                r"must hold numbers, got \[2\] in row 0, column 1",
            ),
            ([[1 + 2j]], "must hold real numbers, got complex128"),
            (sparse.csr_matrix([[1.0]]), r"sparse matrix, .* Pass X.toarray\(\), or"),
        ],
    )
    def test_what_cannot_be_used_is_refused(self, X, message):
        with pytest.raises(ValueError, match=message):
            ArrayPoints(X)


class TestFingerprint:
    X = np.random.default_rng(0).normal(size=(40, 3))

    def test_is_that_of_the_values(self):
        assert (
            ArrayPoints(self.X).fingerprint() == ArrayPoints(self.X.copy(order="F")).fingerprint()
        )

    def test_opens_the_projects_of_earlier_versions(self):
        expected = blake2b(b"2 x 2 float64" + np.ones(4).tobytes(), digest_size=16).hexdigest()
        assert ArrayPoints(np.ones((2, 2))).fingerprint() == expected

    def test_changes_with_a_value_the_shape_and_the_type(self):
        changed = self.X.copy()
        changed[-1, -1] = np.nextafter(changed[-1, -1], np.inf)
        others = [changed, self.X.reshape(60, 2), self.X[:-1], self.X.astype(np.float32)]
        prints = {ArrayPoints(X).fingerprint() for X in [self.X, *others]}
        assert len(prints) == 5
