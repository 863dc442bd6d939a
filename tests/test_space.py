"""The working space: rows of many columns, the same on every backend, and results in the columns given."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.decomposition import PCA

import samekind
from conftest import Expert, answer, assert_same_clusters
from fingerprints import open_backend
from samekind import ClassifySession, Clusters, LabelOracle, Session, solve
from samekind.measures import adjusted_rand_index
from samekind.points import ArrayPoints, WorkingSpace, find_space, space_search
from samekind.points import array as array_module

D = 100


def mixture(n=1_200, d=D, k=6, gap=3.0, seed=0, dtype=np.float32):
    """Return clusters in d columns, whose spread is larger in some directions than in others."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    y = rng.integers(0, k, n)
    centers = gap * rng.standard_normal((k, d))
    noise = rng.standard_normal((n, d)) * np.linspace(1.0, 0.1, d)
    return ((centers[y] + noise) @ turn + 5.0).astype(dtype), y


def space_of(X, metric="auto", reduce="auto", seed=0):
    return find_space(ArrayPoints(X), metric=metric, reduce=reduce, seed=seed)[0]


@cache
def solved():
    """Return rows, their clusters, and what is found of them."""
    X, y = mixture()
    return X, y, solve(X, LabelOracle(y), budget=300, random_state=0)


class TestCoordinates:
    def test_are_those_along_the_principal_components(self):
        X, _ = mixture()
        space, points = find_space(ArrayPoints(X), metric="euclidean", reduce=20, seed=0)
        pca = PCA(20).fit(X.astype(np.float64))
        own = points.rows(np.arange(len(X)))
        np.testing.assert_allclose(
            np.linalg.norm(own[:, :-1], axis=1),
            np.linalg.norm(pca.transform(X), axis=1),
            rtol=1e-3,
        )
        left = X - pca.inverse_transform(pca.transform(X))
        np.testing.assert_allclose(own[:, -1], np.linalg.norm(left, axis=1), rtol=1e-3)
        assert space.share == pytest.approx(pca.explained_variance_ratio_.sum(), abs=1e-4)

    def test_do_not_depend_on_threads_or_on_the_rows_beside(self):
        """P27: bit for bit."""
        X, _ = mixture(1_001)
        space = space_of(X)
        whole = space.coordinates(X)
        out = np.empty_like(whole)
        space.write(X, out, threads=3)
        np.testing.assert_array_equal(out, whole)
        np.testing.assert_array_equal(space.coordinates(X[500:501]), whole[500:501])

    def test_of_rows_far_from_zero_keep_their_digits(self):
        X, _ = mixture(500, dtype=np.float64)
        near = space_of(X)
        far = space_of(X + 1e7)
        np.testing.assert_allclose(
            np.linalg.norm(near.coordinates(X)[:, :-1], axis=1),
            np.linalg.norm(far.coordinates(X + 1e7)[:, :-1], axis=1),
            rtol=1e-3,
        )

    def test_large_ones_lie_in_a_file(self, monkeypatch):
        X, _ = mixture(700)
        space = space_of(X)
        expected = space.coordinates(X)
        monkeypatch.setattr(array_module, "IN_MEMORY", 1_000)
        points = ArrayPoints(X).in_space(space)
        assert isinstance(points.X.base, np.memmap)
        np.testing.assert_array_equal(points.X, expected)


class TestCosine:
    def test_rows_of_zeros_stay(self):
        space = WorkingSpace(3, unit=True)
        found = space.coordinates([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
        assert found.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

    def test_rows_of_length_1_are_recognised(self):
        X, _ = mixture()
        assert not space_of(X).unit
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        assert space_of(unit).unit
        unit[3] = 0.0
        assert space_of(unit).unit
        assert not space_of(unit, metric="euclidean").unit
        assert space_of(unit[:, :40]) is None

    @pytest.mark.parametrize("columns", [20, D])
    def test_asks_what_is_asked_of_rows_of_length_1(self, columns):
        X, y = mixture(600, dtype=np.float64)
        X = X[:, :columns].copy()
        lengths = np.random.default_rng(1).uniform(0.2, 5.0, (len(X), 1))
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        one, other = Expert(y), Expert(y)
        found = solve(X * lengths, one, metric="cosine", budget=150, random_state=0)
        plain = solve(unit, other, budget=150, random_state=0)
        assert one.asked == other.asked
        assert found.labels_.tolist() == plain.labels_.tolist()
        assert found.predict(X[:50]).tolist() == plain.predict(unit[:50]).tolist()

    def test_of_a_given_algorithm(self):
        X, y = mixture(300, d=5, k=3)
        found = solve(X, LabelOracle(y), algorithm="batched", metric="cosine", random_state=0)
        assert found.space_.unit
        assert found.space_.components is None
        assert found.all_centers_.shape[1] == 5
        assert found.labels_.size == 300


class TestBackends:
    @pytest.mark.parametrize(
        "backend", ["map", "parquet", pytest.param("dask", marks=pytest.mark.slow)]
    )
    def test_have_the_same_space_and_ask_the_same(self, backend, tmp_path, client, monkeypatch):
        """P27: in a file, in a folder and on Dask."""
        monkeypatch.setattr(space_search, "SAMPLE", (1_000, 1_000))
        X, y = mixture(2_000)
        X[5] *= 40.0  # so that a direction is added
        data = open_backend(backend, X, tmp_path, client)
        one, other = Expert(y), Expert(y)
        expected = solve(X, one, budget=120, goal="labels", random_state=1)
        found = solve(data, other, budget=120, goal="labels", random_state=1)
        np.testing.assert_array_equal(found.space_.components, expected.space_.components)
        assert one.asked == other.asked
        assert found.labels_of(np.arange(len(X))).tolist() == expected.labels_.tolist()
        assert_same_clusters(found, expected)

    @pytest.mark.slow
    def test_sums_of_empty_partitions(self, client):
        da = pytest.importorskip("dask.array")
        from samekind.points import DaskPoints

        X, y = mixture(900)
        pieces = [da.from_array(X[:400], chunks=(150, D)), da.empty((0, D)), da.from_array(X[400:])]
        data = DaskPoints(da.concatenate(pieces), client=client)
        found = solve(data, LabelOracle(y), budget=60, random_state=0)
        expected = solve(X, LabelOracle(y), budget=60, random_state=0)
        np.testing.assert_allclose(found.all_centers_, expected.all_centers_, atol=1e-6)
        assert found.labels_.chunks == (data.chunks,)


class TestResults:
    @pytest.fixture
    def data(self):
        return solved()[:2]

    @pytest.fixture
    def found(self):
        return solved()[2]

    def test_centres_are_in_the_columns_given(self, data, found):
        X, y = data
        assert found.n_recovered_ == 6
        assert found.centers_.shape == (6, D)
        for members, center in zip(found.members_, found.centers_, strict=True):
            mean = X[y == y[members[0]]].mean(axis=0)
            assert np.linalg.norm(center - mean) < 0.5
        assert found.prototypes_[0].shape[1] == D

    def test_centres_are_exact_when_all_rows_are_known(self):
        X, y = mixture(60, k=3)
        found = solve(X, LabelOracle(y), epsilon=None, random_state=0)
        assert found.stop_reason_ == "exhausted"
        for members, center in zip(found.members_, found.all_centers_, strict=True):
            np.testing.assert_allclose(center, X[members].mean(axis=0), atol=1e-4)

    def test_predict_and_classify_take_rows_as_given(self, data, found):
        X, y = data
        new, kinds = mixture(100, seed=0)
        firsts = np.array([y[members[0]] for members in found.members_])
        assert adjusted_rand_index(y, found.predict(X)) > 0.99
        with pytest.raises(
            ValueError, match="X has 64 columns, but the clusters were found in 100"
        ):
            found.predict(X[:, :64])
        classified = found.classify(X[:40], LabelOracle(y), rows=np.arange(40))
        assert (firsts[classified.labels] == y[:40]).all()
        oracle = LabelOracle(np.concatenate([y, kinds]))
        with ClassifySession(found, new) as session:
            answer(session, oracle)
            assert session.n_decided == 100

    def test_are_saved_and_loaded(self, data, found, tmp_path):
        found.save(tmp_path / "c.npz")
        loaded = Clusters.load(tmp_path / "c.npz")
        np.testing.assert_array_equal(loaded.all_centers_, found.all_centers_)
        np.testing.assert_array_equal(loaded.predict(data[0]), found.predict(data[0]))
        np.testing.assert_array_equal(loaded.space_.components, found.space_.components)
        copied = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(copied.predict(data[0]), found.predict(data[0]))
        again = replace(loaded.without_labels(), notes_=[]).with_points(ArrayPoints(data[0]))
        assert adjusted_rand_index(again.labels_, found.labels_) > 0.99

    def test_of_the_estimator(self, data):
        X, y = data
        model = samekind.SameKindClustering(budget=200, reduce=10, metric="cosine", random_state=0)
        model.fit(X, y)
        assert model.cluster_centers_.shape[1] == D
        assert model.clusters_.space_.wanted == 10
        assert (model.predict(X) == model.clusters_.predict(X)).all()

    def test_of_the_papers_algorithms_are_reduced_only_if_asked_for(self, data):
        X, y = data
        options = {"algorithm": "batched", "budget": 600, "random_state": 0}
        assert solve(X, LabelOracle(y), **options).space_ is None
        found = solve(X, LabelOracle(y), **options, reduce=16)
        assert found.space_.wanted == 16
        assert found.all_centers_.shape[1] == D
        assert adjusted_rand_index(y, found.labels_) > 0.99
        assert (found.predict(X[:100]) == found.labels_[:100]).mean() > 0.97


class TestSmallClusters:
    def test_that_are_far_in_directions_of_little_variance_are_found(self, monkeypatch):
        """No principal component shows them, and the sample holds one or two rows of each, or none."""
        monkeypatch.setattr(space_search, "SAMPLE", (1_500, 1_500))
        rng = np.random.default_rng(0)
        n, d, tiny = 6_000, 40, 8
        X = 0.05 * rng.standard_normal((n, d)).astype(np.float32)
        X[:, :8] *= 20.0
        y = (X[:, 0] > 0).astype(int)
        X[:, 0] += np.where(y, 3.0, -3.0)
        rows = rng.choice(n, (tiny, 2), replace=False)
        for number, own in enumerate(rows):
            X[own, 20 + number] += 25.0
            y[own] = 2 + number
        space, points = find_space(ArrayPoints(X), metric="auto", reduce=8, seed=0)
        assert 8 + tiny // 2 <= space.components.shape[1] <= 8 + tiny
        firsts = points.rows(rows[:, 0])
        apart = np.linalg.norm(firsts[:, None] - firsts[None], axis=2)[np.triu_indices(tiny, 1)]
        assert apart.min() > 30.0
        found = solve(X, LabelOracle(y), budget=250, goal="labels", reduce=8, random_state=0)
        assert {int(y[members[0]]) for members in found.members_} == set(range(2 + tiny))

    def test_beyond_the_directions_that_are_added_are_far_all_the_same(self, monkeypatch):
        monkeypatch.setattr(space_search, "FAR_DIMENSIONS", 1)
        rng = np.random.default_rng(0)
        X = rng.standard_normal((3_000, 60)) * np.where(np.arange(60) < 5, 1.0, 0.01)
        rows = np.arange(40, 50)
        X[rows, rows] += 20.0
        points = find_space(ArrayPoints(X), metric="auto", reduce=5, seed=0)[1]
        away = np.linalg.norm(points.rows(np.arange(3_000)), axis=1)
        assert set(np.argsort(away)[-10:]) == set(rows)


class TestProject:
    def test_keeps_the_space_bit_for_bit(self, tmp_path):
        """P5, P6: also where the seed is another one."""
        X, y = mixture()
        expert = Expert(y)
        with Session(X, ledger=tmp_path / "p.db", random_state=3, budget=90) as session:
            answer(session, expert, 30)
            kept, before = session.space, session.clusters()
        with Session(X, ledger=tmp_path / "p.db", budget=90) as session:
            assert session.space is not kept
            np.testing.assert_array_equal(session.space.components, kept.components)
            np.testing.assert_array_equal(session.space.origin, kept.origin)
            np.testing.assert_array_equal(session.space.coordinates(X), kept.coordinates(X))
            np.testing.assert_array_equal(session.clusters().labels_, before.labels_)
            np.testing.assert_array_equal(session.clusters().all_centers_, before.all_centers_)
            answer(session, expert)
            assert adjusted_rand_index(y, session.clusters().labels_) > 0.99

    def test_another_one_can_be_asked_for(self, tmp_path):
        X, y = mixture()
        path = tmp_path / "p.db"
        with Session(X, ledger=path, random_state=3) as session:
            answer(session, Expert(y), 10)
        for options, unit, wanted in (
            ({"reduce": 20}, False, 20),
            ({}, False, 20),
            ({"metric": "cosine", "reduce": 20}, True, 20),
            ({"reduce": "auto"}, True, 20),
        ):
            with Session(X, ledger=path, **options) as session:
                assert (session.space.unit, session.space.wanted) == (unit, wanted)
        for options in ({"reduce": None, "metric": "euclidean"}, {}):
            with Session(X, ledger=path, **options) as session:
                assert session.space is None
        with Session(X, algorithm="batched", ledger=path) as session:
            assert session.space is None

    def test_one_begun_with_rows_as_they_are_goes_on_so(self, tmp_path):
        X, y = mixture()
        expert = Expert(y)
        with Session(X, ledger=tmp_path / "p.db", random_state=3, reduce=None) as session:
            answer(session, expert, 10)
            asked, labels = session.n_questions, session.clusters().labels_
        with Session(X, ledger=tmp_path / "p.db") as session:
            assert session.space is None
            assert session.n_questions == asked
            np.testing.assert_array_equal(session.clusters().labels_, labels)


class TestChoice:
    def test_rows_of_few_columns_are_taken_as_they_are(self):
        X, _ = mixture(d=64)
        points = ArrayPoints(X)
        assert find_space(points, metric="auto", reduce="auto", seed=0) == (None, points)
        assert find_space(points, metric="auto", reduce=64, seed=0) == (None, points)
        assert space_of(X, reduce=5).wanted == 5

    @pytest.mark.parametrize("reduce", [0, 2.5, "64"])
    def test_a_wrong_reduce(self, reduce):
        with pytest.raises(ValueError, match=r'reduce must be a positive int, "auto" or None, got'):
            Session(np.eye(3), reduce=reduce)

    def test_numbers_that_no_float32_holds(self):
        X = mixture(200, dtype=np.float64)[0] * 1e60
        assert space_of(X) is None
        with pytest.raises(ValueError, match="Scale the data first"):
            space_of(X, reduce=10)
