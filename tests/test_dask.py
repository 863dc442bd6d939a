"""Points on a Dask cluster: the same as on an array, whatever happens to the workers."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Expert, answer, assert_same_clusters, blobs, dask_client
from samekind import Clusters, LabelOracle, SameKindClustering, Session, solve
from samekind.engine import OtherDataError
from samekind.measures import adjusted_rand_index, cost
from samekind.points import ArrayPoints, as_points
from samekind.report import write_report

pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from samekind.points import DaskPoints  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning:distributed", "ignore::ResourceWarning"
)


@pytest.fixture(scope="module")
def client():
    with dask_client() as client:
        yield client


def parted(X, sizes):
    """Return X as a Dask array with chunks of these sizes, the last with the rest; some may be empty."""
    edges = np.minimum(np.cumsum([0, *sizes, len(X)]), len(X))
    return da.from_array(X, chunks=(tuple(np.diff(edges).tolist()), X.shape[1]))


def walk(points, seed):
    """Return what a sampler says on a random walk, and labels."""
    rng = np.random.default_rng(seed)
    n, said = points.n, []
    sampler = points.sampler()
    for _ in range(3):
        sampler.add(points.rows((rng.random(2) * n).astype(np.intp)) + rng.normal(size=points.d))
        said += [sampler.draw(rng.random(5)), sampler.total, sampler.cost(np.arange(n))]
    tried = points.sampler()
    for row in (rng.random(4) * n).astype(np.intp).tolist():
        tried.add_lazily(points.row(row))
        said += [tried.draw_by_rejection(rng, 3)]
    said += [points.gather(points.label_by_nearest(points.rows(np.arange(min(n, 5)))))]
    return [np.asarray(one) for one in said]


class TestSameAsOnTheArray:
    """P27: the same questions as on the array."""

    @pytest.mark.slow
    @given(
        n=st.integers(1, 600),
        d=st.integers(1, 4),
        sizes=st.lists(st.integers(0, 150), max_size=5),
        dtype=st.sampled_from(["f4", "f8", "f2", "i8", "?"]),
        seed=st.integers(0, 99),
    )
    @settings(max_examples=10)
    def test_draws_and_labels(self, client, n, d, sizes, dtype, seed):
        X = (np.random.default_rng(seed).normal(size=(n, d)) * 9).astype(dtype)
        points, local = DaskPoints(parted(X, sizes)), ArrayPoints(X)
        assert (points.n, points.d, points.dtype) == (n, d, local.X.dtype)
        for ours, theirs in zip(walk(points, seed), walk(local, seed), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.parametrize(
        "algorithm",
        ["focused", *(pytest.param(a, marks=pytest.mark.slow) for a in ("batched", "basic"))],
    )
    def test_questions_and_clusters(self, client, algorithm):
        X, y = blobs((70, 40, 30, 9), d=3)
        far, near = Expert(y), Expert(y)
        options = {"algorithm": algorithm, "budget": 150, "random_state": 3, "batch": 4}
        one = solve(parted(X, [60, 0, 37]), far, **options)
        other = solve(X, near, **options)
        assert far.asked == near.asked
        assert_same_clusters(one, other)
        assert isinstance(one.labels_, da.Array)
        assert one.labels_.chunks == ((60, 0, 37, 52),)
        np.testing.assert_array_equal(one.labels_.compute(), other.labels_)

    @pytest.mark.slow
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_many_rows(self, client, dtype):
        X, y = many_rows(dtype)
        points = DaskPoints(parted(X, [9_000, 15_000, 1]))
        one = solve(points, LabelOracle(da.from_array(y, chunks=7_000)), budget=250, random_state=0)
        other = solve(X, LabelOracle(y), budget=250, random_state=0)
        assert_same_clusters(one, other)
        np.testing.assert_array_equal(one.labels_.compute(), other.labels_)

    @pytest.mark.slow
    def test_more_centres_than_are_kept_in_one_chain(self, client, monkeypatch):
        monkeypatch.setattr("samekind.points.dask.UPDATES", 3)
        X, _ = many_rows("f4", 1_000)
        both = [DaskPoints(parted(X, [300])).sampler(), ArrayPoints(X).sampler()]
        for row in range(8):
            drawn = []
            for sampler in both:
                sampler.add(X[row])
                drawn.append(sampler.draw(np.linspace(0, 0.99, 20)))
            np.testing.assert_array_equal(*drawn)

    @pytest.mark.slow
    def test_columns_in_several_chunks_and_unknown_numbers_of_rows(self, client):
        X, _ = blobs((30, 20), d=4)
        lazy = da.from_array(X, chunks=(11, 3))
        lazy = lazy[da.from_array(X[:, 0] > 0.1, chunks=11)]
        points, local = DaskPoints(lazy), ArrayPoints(X[X[:, 0] > 0.1])
        assert (points.n, points.d) == (local.n, local.d)
        np.testing.assert_array_equal(points.rows(np.arange(local.n)[::-1]), local.X[::-1])
        np.testing.assert_array_equal(
            points.label_by_nearest(X[:3]).compute(), local.label_by_nearest(X[:3])
        )

    @pytest.mark.slow
    def test_two_runs_at_once(self, client):
        X, y = many_rows("f4")
        found = {}

        def run(seed):
            lazy = parted(X, [20_000])
            found[seed] = solve(lazy, LabelOracle(y), budget=120, random_state=seed)

        threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed in (1, 2):
            local = solve(X, LabelOracle(y), budget=120, random_state=seed)
            assert_same_clusters(found[seed], local)

    @pytest.mark.slow
    def test_labels_say_what_was_known_when_they_were_asked_for(self, client):
        X, y = many_rows("f8")
        sessions = [Session(data, random_state=0) for data in (parted(X, [9_000]), X)]
        early = []
        for session in sessions:
            answer(session, Expert(y), 60)
            early.append(session.clusters().labels_)
            answer(session, Expert(y), 60)
        np.testing.assert_array_equal(early[0].compute(), early[1])


def many_rows(dtype, n=32_000):
    """Return more rows than the small version of `focused` takes."""
    rng = np.random.default_rng(5)
    y = rng.integers(12, size=n)
    centers = rng.normal(size=(12, 5)) * 6
    return (centers[y] + rng.normal(size=(n, 5))).astype(dtype), y


@pytest.mark.slow
@pytest.mark.slow
class TestDataframes:
    def test_numbers_of_all_sorts(self, client):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {
                "a": rng.normal(size=50).astype("f4"),
                "b": rng.integers(9, size=50),
                "c": pd.array(rng.integers(9, size=50), dtype="Int32"),
                "d": rng.random(50) > 0.5,
            },
            index=rng.permutation(50),
        )
        points = DaskPoints(dd.from_pandas(frame, npartitions=3, sort=False))
        assert points.dtype == np.float64
        np.testing.assert_array_equal(points.rows(np.arange(50)), frame.astype(float).to_numpy())
        assert DaskPoints(dd.from_pandas(frame[["a"]], npartitions=2)).dtype == np.float32

    def test_solve(self, client):
        X, y = blobs((40, 25, 15), d=2)
        frame = dd.from_pandas(pd.DataFrame(X, columns=["x", "y"]), npartitions=4)
        kinds = dd.from_pandas(pd.Series(np.array(["cat", "dog", "cow"])[y]), npartitions=3)
        one = solve(frame, LabelOracle(kinds), budget=100, random_state=0)
        other = solve(X, LabelOracle(y), budget=100, random_state=0)
        assert_same_clusters(one, other)

    def test_errors_name_the_column(self, client):
        frame = pd.DataFrame({"price": np.arange(20.0), "name": ["x"] * 20})
        with pytest.raises(
            ValueError, match=r"got (str|string|object) in column 'name'.*select_dtypes"
        ):
            DaskPoints(dd.from_pandas(frame, npartitions=2))
        frame["name"] = 0.0
        frame.loc[17, "price"] = np.nan
        with pytest.raises(ValueError, match="X has NaN in row 17, column 'price'"):
            DaskPoints(dd.from_pandas(frame, npartitions=4))
        gaps = pd.DataFrame({"n": pd.array([1, 2, None, 4], dtype="Int64")})
        with pytest.raises(ValueError, match="X has NaN in row 2, column 'n'"):
            DaskPoints(dd.from_pandas(gaps, npartitions=2))
        with pytest.raises(ValueError, match=r"2-D.*to_frame"):
            DaskPoints(dd.from_pandas(frame["price"], npartitions=2))


@pytest.mark.slow
@pytest.mark.slow
class TestErrors:
    def test_unusable_values_have_their_row(self, client):
        X = np.zeros((100, 3))
        X[71, 2] = np.inf
        X[80, 0] = np.nan
        with pytest.raises(ValueError, match="X has infinity in row 71, column 2"):
            solve(parted(X, [30, 30]), lambda a, b: True)
        X[71, 2] = 1e200
        with pytest.raises(ValueError, match=r"X has 1e\+200 in row 71, column 2"):
            DaskPoints(parted(X, [71, 3]))

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (da.zeros(9), r"must be 2-D .* got shape \(9,\)"),
            (da.zeros((0, 3)), r"at least one row .* got shape \(0, 3\)"),
            (da.zeros((9, 3), dtype=complex), "must hold real numbers"),
            (da.zeros((9, 3), dtype="U3"), "must hold numbers, got <U3"),
            (
                da.zeros((9, 3), dtype=object, chunks=3),
                r"must hold numbers, got object.*astype\(float\)",
            ),
        ],
    )
    def test_what_is_no_matrix_of_numbers(self, client, X, message):
        with pytest.raises(ValueError, match=message):
            as_points(X)

    def test_another_client_than_the_current_one(self, client):
        X, y = many_rows("f8")
        other = distributed.Client(processes=False, dashboard_address=":0", set_as_default=False)
        with other:
            points = DaskPoints(parted(X, [9_000]), client=other)
            oracle = LabelOracle(da.from_array(y, chunks=7_000), client=other)
            solve(points, oracle, budget=10, random_state=0)
            assert oracle._codes._held[0].client is points.blocks.client is other
            session = Session(points, random_state=0, error_rate=0.1)
            answer(session, Expert(y), 5)
            assert session.reliability()
            session.learn([[31_000, 31_001]], [True])
            assert session.clusters().n_rows_ == 32_000

    def test_what_reading_says_gets_through(self, client):
        def broken(block):
            raise OSError("the disk is on fire")

        X = da.ones((9, 3), chunks=3).map_blocks(broken, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(OSError, match="the disk is on fire"):
            DaskPoints(X)

    def test_nothing_is_loaded_unasked(self, client, tmp_path):
        X, y = blobs((20, 10))
        lazy, kinds = parted(X, [9]), da.from_array(y, chunks=9)
        clusters = solve(lazy, LabelOracle(y), budget=60, random_state=0)
        for load in (
            lambda: ArrayPoints(lazy),
            lambda: SameKindClustering().fit(lazy, y),
            lambda: SameKindClustering().fit(X, kinds),
            lambda: adjusted_rand_index(kinds, y),
            lambda: cost(lazy, X[:1]),
            lambda: clusters.predict(lazy),
            lambda: clusters.to_frame(),
            lambda: write_report(tmp_path / "report.html", clusters, lazy),
        ):
            with pytest.raises(TypeError, match=r"is a Dask .*compute\(\)"):
                load()


class TestWithoutAClient:
    @pytest.mark.slow
    def test_threads_do_and_no_guard_is_needed(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent(
                """
                import dask.array as da, numpy as np, samekind
                X = np.repeat(np.eye(3) * 9, 20, axis=0)
                y = np.repeat(np.arange(3), 20)
                clusters = samekind.solve(da.from_array(X, chunks=(7, 3)), samekind.LabelOracle(y))
                print(clusters.n_discovered_, np.unique(clusters.labels_.compute()).size)
                """
            )
        )
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
        assert (done.stdout.strip(), done.returncode) == ("3 3", 0), done.stderr
        assert not done.stderr


@pytest.mark.slow
@pytest.mark.slow
class TestLabels:
    def test_of_asked_rows_only(self, client):
        y = np.array([1.0, 2.0, np.nan, 1.0])
        oracle = LabelOracle(da.from_array(y, chunks=2))
        assert len(oracle) == 4
        assert oracle(np.array([[0, 3], [0, 1]])).tolist() == [1, 0]
        with pytest.raises(ValueError, match=r"no label for row 2\. Label it, or leave it out"):
            oracle(np.array([[2, 1]]))

    def test_must_be_as_many_as_rows_and_one_column(self, client):
        with pytest.raises(ValueError, match="X has 9 rows, but y has 8 labels"):
            solve(da.ones((9, 2)), LabelOracle(da.ones(8, chunks=3)))
        with pytest.raises(ValueError, match=r"one label for each row.*\(9, 2\)"):
            LabelOracle(da.ones((9, 2)))


@pytest.mark.slow
@pytest.mark.slow
class TestSessions:
    def test_ledgers_know_their_data(self, client, tmp_path):
        X, y = blobs((20, 10, 5))
        whole = solve(parted(X, [9]), Expert(y), budget=60, random_state=0)
        path = tmp_path / "answers.db"
        with Session(parted(X, [9]), ledger=path, budget=60, random_state=0) as session:
            answer(session, Expert(y), 7)
        with Session(parted(X, [9]), ledger=path, budget=60) as session:
            assert session.n_questions > 0
            found = answer(session, Expert(y)).clusters().labels_.compute()
            assert adjusted_rand_index(found, whole.labels_.compute()) == 1
        X[3, 1] += 1e-9
        with pytest.raises(OtherDataError):
            Session(parted(X, [9]), ledger=path)

    @pytest.mark.parametrize("error_rate", [None, 0.1])
    def test_what_people_say_unasked(self, client, error_rate):
        X, y = many_rows("f8")
        found = []
        for data in (parted(X, [9_000]), X):
            session = Session(data, random_state=0, error_rate=error_rate)
            for who in ("ann", "ben") * 15:
                session.tell(session.pending(), Expert(y)(session.pending()), who=who)
            session.learn(
                [[31_000, 31_001], [31_000, 5]], [y[31_000] == y[31_001], False], who="ben"
            )
            found.append(session.clusters())
        assert found[0].annotators_ == found[1].annotators_
        np.testing.assert_array_equal(found[0].labels_.compute(), found[1].labels_)

    def test_clusters_are_kept_without_the_data(self, client, tmp_path):
        X, y = blobs((20, 10, 5))
        lazy = parted(X, [9])
        clusters = solve(lazy, LabelOracle(y), budget=60, random_state=0)
        again = pickle.loads(pickle.dumps(clusters))
        predicted = lazy.map_blocks(again.predict, drop_axis=1, dtype=np.intp)
        np.testing.assert_array_equal(predicted.compute(), again.predict(X))
        frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
        predicted = frame.to_dask_array().map_blocks(clusters.predict, drop_axis=1, dtype=int)
        np.testing.assert_array_equal(predicted.compute(), again.predict(X))
        kinds = frame.assign(kind=solve(frame, LabelOracle(y), random_state=0).labels_)
        assert adjusted_rand_index(kinds["kind"].compute(), y) == 1
        clusters.save(tmp_path / "clusters.npz")
        loaded = Clusters.load(tmp_path / "clusters.npz")
        np.testing.assert_array_equal(loaded.predict(X), again.predict(X))

    def test_before_anything_is_found(self, client):
        X, y = blobs((20, 10, 5))
        clusters = solve(parted(X, [9]), LabelOracle(y), budget=1, algorithm="basic")
        nothing = replace(clusters, members_=[], _labels=None)
        assert nothing.labels_.compute().tolist() == [-1] * 35


@pytest.mark.slow
class TestLostWorkers:
    @pytest.mark.slow
    @pytest.mark.parametrize("algorithm", ["focused", "batched"])
    def test_no_label_changes_when_one_is_killed(self, client, algorithm):
        """P1: nor is an answer lost."""
        X, y = many_rows("f4")
        options = {"budget": 150, "random_state": 0, "algorithm": algorithm}
        client.wait_for_workers(2)
        pids = list(client.run(os.getpid).values())
        oracle = LabelOracle(da.from_array(y, chunks=7_000))
        n_asked = 0

        def dying(pairs):
            nonlocal n_asked
            n_asked += len(pairs)
            if n_asked > 75 and pids:
                os.kill(pids.pop(), signal.SIGKILL)
                pids.clear()
            return oracle(pairs)

        one = solve(DaskPoints(parted(X, [8_000, 8_000, 8_000])), dying, batch="auto", **options)
        assert not pids
        other = solve(X, LabelOracle(y), **options)
        assert_same_clusters(one, other)
        np.testing.assert_array_equal(one.labels_.compute(), other.labels_)
        client.wait_for_workers(2)
