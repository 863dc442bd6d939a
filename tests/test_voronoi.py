"""Cells against brute force: every row with its nearest site, on any data and in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from samekind.points import ArrayPoints, LabelMap


def distances(X, x):
    """Return squared distances summed column by column, in the order of the compiled loops."""
    total = np.zeros(len(X))
    for column, value in zip(np.asarray(X, dtype=np.float64).T, np.asarray(x, float), strict=True):
        total += (column - value) ** 2
    return total


def rounded(costs, unit):
    """Return costs as they are kept: as float32 numbers of a unit that suits the data."""
    return (costs / unit).astype(np.float32).astype(np.float64) * unit


class Brute:
    """Owners and costs with no tricks; the earlier site keeps a row in a tie."""

    def __init__(self, X, sites):
        X = np.asarray(X, dtype=np.float64)
        unit = ArrayPoints(X).executor.units.cost
        self.costs, self.owners = np.full(len(X), np.inf), np.full(len(X), -1)
        for number, row in enumerate(sites):
            new = rounded(distances(X, X[row]), unit)
            nearer = new < self.costs
            self.costs[nearer], self.owners[nearer] = new[nearer], number
        self.counts = np.bincount(self.owners, minlength=len(sites))


def make(n, d, how, dtype, seed):
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "duplicates": lambda: rng.normal(size=(3, d))[rng.integers(3, size=n)],
        "grid": lambda: rng.integers(0, 3, size=(n, d)).astype(float),
        "identical": lambda: np.full((n, d), 0.1),
        "offset": lambda: 1e8 + 1e-3 * rng.normal(size=(n, d)),
        "line": lambda: rng.exponential(size=(n, 1)) ** 8 * np.ones((1, d)),
        "scales": lambda: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 13, size=d),
        "tiny": lambda: 1e-40 * rng.normal(size=(n, d)),
    }[how]()
    return X.astype(dtype)


data = st.builds(
    make,
    n=st.one_of(st.integers(1, 300), st.integers(300, 2000)),
    d=st.one_of(st.integers(1, 4), st.integers(5, 40)),
    how=st.sampled_from(
        ["normal", "duplicates", "grid", "identical", "offset", "line", "scales", "tiny"]
    ),
    dtype=st.sampled_from([np.float64, np.float32]),
    seed=st.integers(0, 10**6),
)


def sites_of(n, how_many, seed):
    return np.random.default_rng(seed).permutation(n)[:how_many].tolist()


def assert_like_brute_force(X, cells, sites):
    n, brute = len(X), Brute(X, sites)
    rows = np.random.default_rng(len(sites)).permutation(n)
    for _ in range(2):  # before and after the sites added last took their rows
        np.testing.assert_array_equal(cells.owners(rows), brute.owners[rows])
        np.testing.assert_array_equal(cells.costs(rows), brute.costs[rows])
        cells.flush()
    np.testing.assert_array_equal(cells.labeler()(LabelMap.identity(len(sites))), brute.owners)
    np.testing.assert_array_equal(cells.counts, brute.counts)
    np.testing.assert_array_equal(cells.sites, X[sites].astype(np.float64))
    assert cells.n_sites == len(sites)


class TestOwners:
    @given(X=data, how_many=st.integers(1, 90), seed=st.integers(0, 99))
    @settings(max_examples=150)
    def test_after_every_few_sites(self, X, how_many, seed):
        cells = ArrayPoints(X).voronoi()
        sites = sites_of(len(X), how_many, seed)
        for number, row in enumerate(sites):
            assert cells.add(row) == number
            if number in (0, 1, 5, 40):
                assert_like_brute_force(X, cells, sites[: number + 1])
        assert_like_brute_force(X, cells, sites)

    @pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e15, 1e25, 1e149])
    def test_values_of_any_size(self, scale):
        """Squares of 1e25 are no float32, those of 1e149 still a float64."""
        X = scale * np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
        cells, sites = ArrayPoints(X).voronoi(), sites_of(500, 10, 0)
        for row in sites:
            cells.add(row)
        assert_like_brute_force(X, cells, sites)

    def test_the_first_of_equal_sites_keeps_its_rows(self):
        cells = ArrayPoints([[0.0], [0.0], [1.0], [2.0]]).voronoi()
        cells.add(0)
        cells.add(1)
        cells.add(3)
        assert cells.owners(np.arange(4)).tolist() == [0, 0, 0, 2]
        assert cells.labeler()(LabelMap.identity(3)).tolist() == [0, 0, 0, 2]
        assert cells.counts.tolist() == [4, 0, 0]  # who looks changes nothing
        cells.flush()
        assert cells.labeler()(LabelMap.identity(3)).tolist() == [0, 0, 0, 2]
        assert cells.counts.tolist() == [3, 0, 1]

    def test_before_the_first_site(self):
        cells = ArrayPoints(np.arange(6.0)[:, None]).voronoi()
        assert cells.n_sites == 0
        assert cells.counts.tolist() == []
        assert (
            cells.labeler()(LabelMap.identity(0)._replace(of_centers=np.array([-1]))).tolist()
            == [-1] * 6
        )
        assert cells.owners(np.arange(6)).tolist() == [-1] * 6
        rng = np.random.default_rng(0)
        drawn = np.bincount([cells.draw(rng) for _ in range(3000)], minlength=6)
        assert chisquare(drawn).pvalue > 0.01

    def test_a_memory_map(self, tmp_path):
        X = make(700, 5, "normal", np.float32, 1)
        np.save(tmp_path / "X.npy", X)
        cells, sites = (
            ArrayPoints(np.load(tmp_path / "X.npy", mmap_mode="r")).voronoi(),
            [5, 600, 42],
        )
        for row in sites:
            cells.add(row)
        assert_like_brute_force(X, cells, sites)

    def test_more_sites_than_there_was_room_for(self):
        X = make(1500, 2, "normal", np.float64, 2)
        cells, sites = ArrayPoints(X).voronoi(), sites_of(1500, 400, 2)
        for row in sites:
            cells.add(row)
        assert_like_brute_force(X, cells, sites)

    def test_a_site_looks_at_the_rows_around_it_only(self):
        X = np.random.default_rng(0).uniform(size=(50_000, 2))
        cells = ArrayPoints(X).voronoi()
        for row in range(1000):
            cells.add(row)
        cells.flush()
        before = cells.n_distances
        cells.add(1000)
        cells.flush()
        assert 0 < cells.n_distances - before < 0.05 * len(X)


class TestThreads:
    """200,000 rows lie in more leaves than one thread is given."""

    X = np.random.default_rng(3).normal(size=(200_000, 2)) ** 3

    def test_one_or_two(self):
        sites = sites_of(len(self.X), 40, 3)
        one, two = (ArrayPoints(self.X, threads=threads).voronoi() for threads in (1, 2))
        groups = np.arange(len(sites)) % 3
        for cells in (one, two):
            for row in sites:
                cells.add(row)
            assert_like_brute_force(self.X, cells, sites)
        for here, there in zip(one.moments(groups, 3), two.moments(groups, 3), strict=True):
            np.testing.assert_array_equal(here, there)
        first, second = (
            [cells.draw(rng) for _ in range(200)]
            for cells, rng in ((one, np.random.default_rng(1)), (two, np.random.default_rng(1)))
        )
        assert first == second
        np.testing.assert_array_equal(
            *(cells.sample(groups == 1, np.random.default_rng(0), 50) for cells in (one, two))
        )


class TestMoments:
    @given(X=data, how_many=st.integers(1, 30), seed=st.integers(0, 99))
    @settings(max_examples=60)
    def test_of_groups_of_cells(self, X, how_many, seed):
        cells = ArrayPoints(X).voronoi()
        sites = sites_of(len(X), how_many, seed)
        for row in sites:
            cells.add(row)
        groups = np.random.default_rng(seed).integers(-1, 4, size=len(sites))
        cells.flush()
        counts, means, spreads = cells.moments(groups, 4)
        of_rows = groups[Brute(X, sites).owners]
        X = X.astype(np.float64)
        width, finest = np.ptp(X, axis=0).max(), np.spacing(np.abs(X).max())
        for group in range(4):
            mine = X[of_rows == group]
            assert counts[group] == len(mine)
            if not len(mine):
                continue
            mean = mine[0] + (mine - mine[0]).mean(axis=0)
            np.testing.assert_allclose(means[group], mean, rtol=1e-15, atol=1e-9 * width)
            spread = ((mine - mean) ** 2).sum(axis=1).mean()
            np.testing.assert_allclose(
                spreads[group], spread, rtol=1e-9, atol=(1e-11 * width**2 + finest**2) * X.shape[1]
            )


class TestSample:
    @given(X=data, how_many=st.integers(1, 30), seed=st.integers(0, 99))
    @settings(max_examples=60)
    def test_from_the_chosen_cells_alone(self, X, how_many, seed):
        cells = ArrayPoints(X).voronoi()
        sites = sites_of(len(X), how_many, seed)
        for row in sites:
            cells.add(row)
        cells.flush()
        rng = np.random.default_rng(seed)
        chosen = rng.random(len(sites)) < 0.5
        expected = chosen[Brute(X, sites).owners]
        total = int(cells.counts[chosen].sum())
        if total:
            ranked = cells._nearest.owned_rows(cells.sites[chosen], chosen, np.arange(total), total)
            np.testing.assert_array_equal(ranked, np.flatnonzero(expected))
        rows = cells.sample(chosen, rng, 20)
        assert rows.size <= 20
        assert expected[rows].all()
        assert (rows.size > 0) == expected.any()

    def test_rows_whose_distance_is_rounded_down_are_found(self):
        """All rows of a leaf coincide, and a second site comes just not close enough to take them."""
        for seed in range(20):
            v = np.random.default_rng(seed).normal(size=5)
            X = np.repeat([0 * v, v, v * (2 + 2e-7)], 1_000, axis=0)
            cells = ArrayPoints(X).voronoi()
            cells.add(0)
            cells.add(2_500)
            cells.flush()
            assert cells.counts.tolist() == [2_000, 1_000]
            chosen, ranks = np.array([True, False]), np.arange(2_000)
            rows = cells._nearest.owned_rows(cells.sites[:1], chosen, ranks, 2_000)
            np.testing.assert_array_equal(rows, ranks)

    @pytest.mark.parametrize("size", [20, 2_000], ids=["rare: by rank", "common: by trying"])
    def test_evenly(self, size):
        """Two sites far apart; the second owns 20 or 2,000 of 20,000 rows."""
        X = np.zeros((20_000, 1))
        held = np.random.default_rng(0).permutation(20_000)[:size]
        X[held] = 9.0
        cells = ArrayPoints(X).voronoi()
        cells.add(int(np.flatnonzero(X[:, 0] == 0)[0]))
        cells.add(int(held[0]))
        cells.flush()
        rng = np.random.default_rng(1)
        drawn = [cells.sample(np.array([False, True]), rng, 100) for _ in range(200)]
        seen = np.bincount(np.concatenate(drawn), minlength=20_000)[np.sort(held)]
        assert seen.sum() == sum(map(len, drawn)) > 15_000
        assert chisquare(seen.reshape(20, -1).sum(axis=1)).pvalue > 0.01


class TestMemory:
    def test_nothing_stays_of_cells_and_samplers_that_are_gone(self):
        points = ArrayPoints(make(500, 2, "normal", np.float64, 6))
        for _ in range(3):
            cells, sampler = points.voronoi(), points.sampler()
            cells.add(0)
            sampler.add(points.X[:2])
        del cells, sampler
        assert not points.executor.partitions[0].tables


class TestNear:
    @given(X=data, size=st.integers(1, 60), seed=st.integers(0, 99))
    @settings(max_examples=80)
    def test_the_nearest_rows_nearest_first(self, X, size, seed):
        rng = np.random.default_rng(seed)
        x = X[rng.integers(len(X))].astype(np.float64)
        if seed % 2:
            x = x + rng.normal(size=X.shape[1]) * np.ptp(X.astype(np.float64), axis=0)
        rows = ArrayPoints(X).voronoi().nearest_rows(x, size)
        all_distances = distances(X, x)
        assert rows.size == np.unique(rows).size == min(size, len(X))
        np.testing.assert_array_equal(all_distances[rows], np.sort(all_distances)[: rows.size])

    @given(X=data, how_many=st.integers(1, 40), seed=st.integers(0, 99))
    @settings(max_examples=40)
    def test_the_nearest_site_of_each_group(self, X, how_many, seed):
        cells = ArrayPoints(X).voronoi()
        sites = sites_of(len(X), how_many, seed)
        for row in sites:
            cells.add(row)
        rng = np.random.default_rng(seed)
        groups = rng.integers(-1, 5, size=len(sites))
        some = X[rng.integers(len(X), size=3)].astype(np.float64)
        best = cells.group_distances(groups, 6, some)
        for x, best_of_x in zip(some, best, strict=True):
            reach = distances(X[sites], x)
            for group in range(6):
                mine = np.flatnonzero(groups == group)
                nearest = mine[reach[mine].argmin()] if mine.size else -1
                assert cells.nearest_site(groups, group, x) == nearest
                least = reach[nearest] if mine.size else np.inf
                assert best_of_x[group] == pytest.approx(least, rel=1e-12)


class TestDraw:
    @pytest.mark.parametrize("settled", [False, True])
    def test_follows_the_fourth_power_of_the_distance(self, settled):
        """400 rows in several leaves, four sites: expected counts of at least 5 a bin."""
        X = make(400, 2, "normal", np.float64, 4)
        cells, sites = ArrayPoints(X).voronoi(), [0, 100, 200, 300]
        for row in sites:
            cells.add(row)
        if settled:
            cells.flush()
        weights = Brute(X, sites).costs ** 2
        rng = np.random.default_rng(1)
        drawn = np.bincount([cells.draw(rng) for _ in range(20_000)], minlength=400)
        assert not drawn[sites].any()
        order = np.argsort(weights)
        common = weights[order].cumsum() > 1e-3 * weights.sum()
        bins = [order[~common], *np.array_split(order[common], 20)]
        seen = np.array([drawn[rows].sum() for rows in bins])
        expected = np.array([weights[rows].sum() for rows in bins])
        expected *= seen.sum() / expected.sum()
        assert expected.min() >= 5
        assert chisquare(seen, expected).pvalue > 0.01
        squared = np.array([np.sqrt(weights[rows]).sum() for rows in bins])
        assert chisquare(seen, squared * seen.sum() / squared.sum()).pvalue < 1e-6

    @given(X=data, how_many=st.integers(1, 10), seed=st.integers(0, 99))
    @settings(max_examples=80)
    def test_never_a_row_on_a_site(self, X, how_many, seed):
        cells = ArrayPoints(X).voronoi()
        sites = sites_of(len(X), how_many, 0)
        for row in sites:
            cells.add(row)
        costs, rng = Brute(X, sites).costs, np.random.default_rng(seed)
        for _ in range(5):
            row = cells.draw(rng)
            if (costs == 0).all():
                assert row == -1
            else:
                assert costs[row] > 0

    @pytest.mark.parametrize("X", [np.full((300, 2), 7.0), np.ones((1, 1))])
    def test_nothing_when_every_row_lies_on_a_site(self, X):
        cells = ArrayPoints(X).voronoi()
        cells.add(0)
        assert cells.draw(np.random.default_rng(0)) == -1

    def test_until_every_row_is_a_site(self):
        X = make(260, 1, "normal", np.float64, 5)
        cells, rng, drawn = ArrayPoints(X).voronoi(), np.random.default_rng(1), []
        while (row := cells.draw(rng)) >= 0:
            drawn.append(row)
            cells.add(row)
        assert sorted(drawn) == list(range(260))
