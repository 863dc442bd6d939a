"""What every algorithm keeps to, on every sort of data (P4, P27)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samekind.points
from conftest import Expert, answer, assert_recovered, assert_same_clusters, blobs, keys
from samekind import Session
from samekind.algorithms import ALGORITHMS, Folding, find_algorithm
from samekind.data import as_points
from samekind.flow import Reply
from samekind.measures import adjusted_rand_index
from samekind.points import ArrayPoints

X, Y = blobs((16, 9, 6), seed=1)
BACKENDS = ("float64", "float32", "memmap", "parquet", "dask")

NEEDS = {"noisy-exact": {"error_rate": 0.0}}  # parameters without a default

OF_ROWS = [name for name, algorithm in ALGORITHMS.items() if not algorithm.compares_records]
FOLDING = [name for name in OF_ROWS if issubclass(ALGORITHMS[name], Folding)]
algorithms = pytest.mark.parametrize("algorithm", OF_ROWS)
most_algorithms = pytest.mark.parametrize(  # the exact ones draw a hundred times as often
    "algorithm",
    [pytest.param(a, marks=[pytest.mark.slow] * a.endswith("-exact")) for a in OF_ROWS],
)
generators = pytest.mark.parametrize("algorithm", [a for a in OF_ROWS if a not in FOLDING])


def on_backends(names, cases, everywhere):
    """All cases on an array, and one of them on every backend.

    That backends draw the same rows is tested for itself, by the fingerprints of every algorithm.
    """
    params = [pytest.param("float64", *case) for case in cases]
    params += [
        pytest.param(backend, *everywhere, marks=[pytest.mark.slow] if backend == "dask" else [])
        for backend in BACKENDS[1:]
    ]
    return pytest.mark.parametrize(("points", *names), params, indirect=["points"])


def needs(algorithm):
    return NEEDS.get(algorithm, {})


@pytest.fixture(params=[*BACKENDS[:-1], pytest.param("dask", marks=pytest.mark.slow)])
def points(request, tmp_path):
    if request.param == "dask":
        lazy = pytest.importorskip("dask.array").from_array(X, chunks=((13, 0, 18), 2))
        return samekind.points.DaskPoints(lazy, client=request.getfixturevalue("client"))
    if request.param == "memmap":
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        found = ArrayPoints(mapped)
        assert np.shares_memory(found.X, mapped)  # it is not loaded
        return found
    if request.param == "parquet":
        names = [f"x{j}" for j in range(X.shape[1])]
        for part, some in enumerate(np.split(X, [7, 20])):
            pd.DataFrame(some, columns=names).to_parquet(tmp_path / f"{part}.parquet")
        return as_points(tmp_path)
    return ArrayPoints(X.astype(request.param))


def drive_raw(points, algorithm, expert, seed=0, **parameters):
    """Drive a flow without a session; return what it yielded, what it knows and how it ended."""
    chosen = find_algorithm(algorithm)
    params = chosen.Params.make(algorithm, needs(algorithm) | parameters)
    run = chosen(points, params, np.random.default_rng(seed))
    flow = run.run()
    waves = []
    try:
        wave = next(flow)
        while True:
            waves.append(wave.copy())
            wave = flow.send(Reply(expert(wave)))
    except StopIteration as end:
        return waves, run.state, end.value


@generators
@on_backends(
    ("batch", "unsure"), [(1, 0.0), (1, 0.2), (7, 0.2), ("auto", 0.0)], everywhere=(7, 0.2)
)
def test_asks_about_two_rows_of_the_data_and_never_again(points, algorithm, batch, unsure):
    """P4: by generators, on every sort of data."""
    waves, state, reason = drive_raw(points, algorithm, Expert(Y, unsure), batch=batch)
    for wave in waves:
        assert wave.ndim == 2
        assert wave.shape[1] == 2
        assert len(wave) >= 1
        assert wave.dtype == np.intp
        assert wave.min() >= 0
        assert wave.max() < points.n
        assert (wave[:, 0] != wave[:, 1]).all()
        if isinstance(batch, int):
            assert len(wave) <= batch
    asked = [key for wave in waves for key in keys(wave)]
    assert len(asked) == len(set(asked))
    assert reason in ("reducible", "rare", "covered", "exhausted", "unplaced")
    members = sorted(row for rows in state.members for row in rows)
    assert len(members) == len(set(members))
    assert not set(members) & set(state.given_up)


def overlapping(seed, n=150, k=40):
    """Return X and y of many small clusters that run into each other: many of them are to be compared."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(0, 2, (k, 4))[y] + rng.normal(0, 1, (n, 4)), y


@algorithms
@pytest.mark.parametrize(("seed", "unsure"), [(0, 0.0), (1, 0.1)])
def test_asks_each_pair_once(algorithm, seed, unsure):
    """P4: however muddled the clusters are, and whether rows or clusters are compared."""
    rows, labels = overlapping(seed)
    options = {"batch": 4, "random_state": seed, **needs(algorithm)}
    session, expert = Session(rows, algorithm, **options), Expert(labels, unsure)
    for _ in range(200):
        wave = session.pending()
        if not len(wave):
            break
        assert (wave[:, 0] != wave[:, 1]).all()
        session.answer_all(expert(wave))
    assert len(set(expert.asked)) == len(expert.asked)


@algorithms
@on_backends(("batch",), [(1,), ("auto",), (64,)], everywhere=("auto",))
def test_recovers_separable_blobs(points, algorithm, batch):
    options = {"batch": batch, "random_state": 2, **needs(algorithm)}
    session = answer(Session(points, algorithm, **options), Expert(Y))
    assert_recovered(session.clusters(), X, Y)


@algorithms
def test_is_deterministic_for_a_seed(points, algorithm):
    """P27: the same seed, the same run."""

    def run(seed):
        options = {"batch": 3, "random_state": seed, "budget": 25, **needs(algorithm)}
        return answer(Session(points, algorithm, **options), Expert(Y))

    one, again, other = run(0), run(0), run(1)
    assert_same_clusters(one.clusters(), again.clusters())
    assert list(map(repr, one.ledger.active()["a"])) == list(map(repr, again.ledger.active()["a"]))
    assert one.clusters().members_[0].tolist() != other.clusters().members_[0].tolist()


@algorithms
@given(budget=st.integers(1, 45), batch=st.integers(1, 9))
@settings(max_examples=8)
def test_never_exceeds_its_budget(algorithm, budget, batch):
    """P23: whatever it is and however many are asked at once."""
    expert = Expert(Y)
    options = {"budget": budget, "batch": batch, "random_state": 0, **needs(algorithm)}
    session = Session(X, algorithm, **options)
    answer(session, expert)
    assert len(expert.asked) == session.n_questions <= budget
    if session.stop_reason == "budget":
        assert session.n_questions == budget


@cache
def uninterrupted(algorithm, unsure, batch):
    options = {"random_state": 5, "batch": batch, "budget": 60, **needs(algorithm)}
    session = Session(X, algorithm, **options)
    return answer(session, Expert(Y, unsure)).clusters()


@most_algorithms
@given(
    stops=st.lists(st.integers(0, 15), min_size=1, max_size=2),
    unsure=st.sampled_from([0.0, 0.15]),
    batch=st.sampled_from([1, 4]),
)
@settings(max_examples=6)
def test_interrupted_at_any_question_and_resumed(algorithm, stops, unsure, batch):
    """P4, P5: each stretch is a new Session on the same file."""
    expert = Expert(Y, unsure)
    options = {"algorithm": algorithm, "random_state": 5, "batch": batch, "budget": 60}
    options |= needs(algorithm)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.db"
        for questions in stops:
            with Session(X, ledger=path, **options) as session:
                for _ in range(questions):
                    if not session.done:
                        session.tell(session.pending()[-1:], expert(session.pending()[-1:]))
        with Session(X, ledger=path, **options) as session:
            resumed = answer(session, expert).clusters()
    assert len(set(expert.asked)) == len(expert.asked)
    if algorithm in FOLDING:  # it need not ask the same
        assert unsure or adjusted_rand_index(Y, resumed.labels_) == 1
        return
    whole = uninterrupted(algorithm, unsure, batch)
    assert_same_clusters(resumed, whole)
    assert len(expert.asked) == whole.n_questions_


@algorithms
def test_each_row_a_kind_of_its_own(algorithm):
    rows = np.arange(6.0)[:, None]
    session = Session(rows, algorithm, random_state=0, **needs(algorithm))
    found = answer(session, Expert(np.arange(6))).clusters()
    assert found.n_discovered_ == 6
    assert found.n_questions_ == 15  # each new kind is refused by all before it
    assert found.n_recovered_ == 6
    np.testing.assert_array_equal(np.sort(found.centers_.ravel()), np.arange(6))
    assert found.stop_reason_ in ("exhausted", "covered")


@algorithms
def test_identical_rows_of_one_kind(algorithm):
    session = Session(np.full((30, 3), 0.1), algorithm, random_state=0, **needs(algorithm))
    found = answer(session, Expert(np.zeros(30)))
    assert found.clusters().n_discovered_ == found.clusters().n_recovered_ == 1
    assert (found.clusters().centers_ == 0.1).all()
    assert found.stop_reason in ("covered", "exhausted")


@algorithms
def test_one_row(algorithm):
    session = Session([[4.0, 2.0]], algorithm, random_state=0, **needs(algorithm))
    assert session.done
    assert session.clusters().n_recovered_ == 1
    assert session.clusters().centers_.tolist() == [[4.0, 2.0]]
    assert session.n_questions == 0


@algorithms
def test_heavy_duplicates(algorithm):
    y = np.repeat([0, 1, 2], [100, 3, 1])
    rows = np.array([[0.0], [1.0], [5.0]])[y]
    session = Session(rows, algorithm, random_state=0, **needs(algorithm))
    found = answer(session, Expert(y)).clusters()
    assert found.n_recovered_ == 3
    assert sorted(found.centers_.ravel().tolist()) == [0.0, 1.0, 5.0]


@algorithms
def test_target(algorithm):
    session = Session(X, algorithm, target=2, random_state=0, **needs(algorithm))
    found = answer(session, Expert(Y)).clusters()
    assert found.n_recovered_ >= 2
    if found.n_recovered_ == 2:
        assert found.stop_reason_ == "target"


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (ValueError, {"algorithm": "best"}, "algorithm must be one of 'uniform', .*, got 'best'"),
        (
            ValueError,
            {"epsilon": 0},
            r"epsilon must be a number in \(0, 1\] or None, got 0\. Pass None",
        ),
        (ValueError, {"epsilon": float("nan")}, "got nan"),
        (
            ValueError,
            {"target": 0},
            "target must be a positive int or None, got 0. Pass None to find",
        ),
        (ValueError, {"algorithm": "basic", "heavy": 2.5}, "heavy must be a positive int, got 2.5"),
        (ValueError, {"patience": -1}, "patience must be a positive int, got -1"),
        (ValueError, {"batch": "all"}, "batch must be a positive int, got 'all'"),
        (
            ValueError,
            {"algorithm": "basic", "order": "random"},
            "order must be one of 'nearest', 'index', got 'random'",
        ),
        (ValueError, {"stop": "soon"}, "stop must be one of 'reducible', 'certified', got 'soon'"),
        (TypeError, {"algorithm": "basic", "goal": "labels"}, "'basic' has no parameter 'goal'"),
        (
            ValueError,
            {"budget": -1},
            "budget must be an int of at least 0 or None, got -1. Pass None to ask",
        ),
        (ValueError, {"budget": True}, "budget must be an int of at least 0 or None, got True"),
        (ValueError, {"random_state": "x"}, "random_state must be an int"),
        (
            TypeError,
            {"colour": 1},
            "'focused' has no parameter 'colour'. Its parameters are target, batch, patience, epsilon,",
        ),
        (TypeError, {"patients": 2}, "has no parameter 'patients'. Did you mean 'patience'?"),
        (ValueError, {"goal": "lables"}, "Did you mean 'labels'?"),
    ],
)
def test_wrong_parameters_are_named_at_the_call(error, options, message):
    with pytest.raises(error, match=message):
        Session(np.zeros((2, 1)), **options)
