"""What algorithms for records keep to: pairs of records, and thousands of small clusters."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samekind
from conftest import Expert, answer, assert_same_clusters, keys
from samekind import Session
from samekind.algorithms import ALGORITHMS, PairCertificate, find_algorithm
from samekind.algorithms.records import entities_of
from samekind.flow import Reply
from samekind.points import CandidatePairs, RecordPoints

OF_RECORDS = [name for name, algorithm in ALGORITHMS.items() if algorithm.compares_records]
algorithms = pytest.mark.parametrize("algorithm", OF_RECORDS)
trusting = pytest.mark.parametrize("algorithm", [a for a in OF_RECORDS if a != "crowd-noisy"])


def people(n_entities=24, n_fields=4, missing=0.1, noise=0.25, seed=0, files=False):
    """Return records of small entities, and the entity of each: matches agree in most fields.

    Those of two `files` have one record in each, or in one.
    """
    rng = np.random.default_rng(seed)
    sizes = 1 + rng.integers(0, 2, n_entities) if files else rng.integers(1, 5, n_entities)
    y = np.repeat(np.arange(n_entities), sizes)
    of_file = np.concatenate([rng.permutation(max(2, sizes.max()))[:size] for size in sizes])
    order = rng.permutation(y.size)
    y, of_file = y[order], of_file[order]
    low, high = np.triu_indices(y.size, 1)
    same = y[low] == y[high]
    kept = same | (rng.random(low.size) < 8 / y.size)
    if files:
        kept &= of_file[low] != of_file[high]
    low, high, same = low[kept], high[kept], same[kept]
    close = 1 - rng.beta(0.4, 3, (low.size, n_fields)) * (rng.random((low.size, n_fields)) < noise)
    far = rng.beta(2, 3, (low.size, n_fields))
    compared = np.where(same[:, None], close, far)
    compared[rng.random(compared.shape) < missing] = np.nan
    candidates = CandidatePairs.of(np.column_stack([low, high]), compared)
    return RecordPoints(candidates, y.size, files=of_file if files else None), y


def drive_raw(points, algorithm, expert, seed=0, **parameters):
    """Drive a flow without a session; return what it yielded, what it knows and how it ended."""
    chosen = find_algorithm(algorithm)
    params = chosen.Params.make(algorithm, parameters)
    run = chosen(points, params, np.random.default_rng(seed))
    flow, waves = run.run(), []
    try:
        wave = next(flow)
        while True:
            waves.append(wave.copy())
            wave = flow.send(Reply(expert(wave)))
    except StopIteration as end:
        return waves, run, end.value


@algorithms
@pytest.mark.parametrize(("batch", "unsure"), [(1, 0.0), (1, 0.2), (7, 0.2), ("auto", 0.0)])
def test_asks_about_candidate_pairs_once(algorithm, batch, unsure):
    points, y = people()
    waves, run, reason = drive_raw(points, algorithm, Expert(y, unsure), batch=batch)
    asked = [key for wave in waves for key in keys(wave)]
    assert len(asked) == len(set(asked))
    assert all((wave[:, 0] != wave[:, 1]).all() and wave.dtype == np.intp for wave in waves)
    if isinstance(batch, int):
        assert max(map(len, waves)) <= batch
    assert reason == "exhausted"
    members = sorted(row for rows in run.state.members for row in rows)
    assert members == list(range(points.n))


@trusting
@pytest.mark.parametrize("batch", [1, "auto", 64])
@pytest.mark.parametrize("files", [False, True])
def test_proves_all_entities(algorithm, batch, files):
    points, y = people(files=files)
    session = answer(Session(points, algorithm, batch=batch, random_state=2), Expert(y))
    found = session.clusters()
    assert samekind.measures.adjusted_rand_index(y, found.labels_) == 1.0
    assert found.n_discovered_ == found.n_recovered_ == np.unique(y).size
    assert session.n_questions < len(points.candidates.pairs)  # the rest follows


@algorithms
def test_is_deterministic_for_a_seed(algorithm):
    points, y = people()

    def run(seed):
        options = {"batch": 3, "random_state": seed, "budget": 25}
        return answer(Session(points, algorithm, **options), Expert(y))

    one, again, other = run(0), run(0), run(1)
    assert_same_clusters(one.clusters(), again.clusters())
    assert one.ledger.active()["a"].tolist() == again.ledger.active()["a"].tolist()
    if algorithm == "records":  # published orders leave nothing to chance
        assert one.ledger.active()["a"].tolist() != other.ledger.active()["a"].tolist()


@algorithms
@given(budget=st.integers(1, 25), batch=st.integers(1, 9))
@settings(max_examples=3)
def test_never_exceeds_its_budget(algorithm, budget, batch):
    points, y = people()
    expert = Expert(y)
    session = Session(points, algorithm, budget=budget, batch=batch, random_state=0)
    answer(session, expert)
    assert len(expert.asked) == session.n_questions == budget


@cache
def uninterrupted(algorithm, unsure, batch):
    points, y = people()
    session = Session(points, algorithm, random_state=5, batch=batch, budget=40)
    return answer(session, Expert(y, unsure)).clusters()


@algorithms
@given(
    stops=st.lists(st.integers(0, 15), min_size=1, max_size=2),
    unsure=st.sampled_from([0.0, 0.15]),
    batch=st.sampled_from([1, 4]),
)
@settings(max_examples=3)
def test_interrupted_at_any_question_and_resumed(algorithm, stops, unsure, batch):
    """Each stretch is a new Session on the same file."""
    points, y = people()
    expert = Expert(y, unsure)
    options = {"algorithm": algorithm, "random_state": 5, "batch": batch, "budget": 40}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.db"
        for questions in stops:
            with Session(points, ledger=path, **options) as session:
                for _ in range(questions):
                    if not session.done:
                        session.tell(session.pending()[-1:], expert(session.pending()[-1:]))
        with Session(points, ledger=path, **options) as session:
            resumed = answer(session, expert).clusters()
    assert_same_clusters(resumed, uninterrupted(algorithm, unsure, batch))
    assert len(set(expert.asked)) == len(expert.asked) == resumed.n_questions_


@algorithms
def test_no_pairs_and_one_record(algorithm):
    nothing = CandidatePairs.of(np.empty((0, 2), dtype=int), np.empty((0, 2)))
    for n in (1, 3):
        session = Session(RecordPoints(nothing, n), algorithm, random_state=0)
        assert session.done
        assert session.clusters().labels_.tolist() == list(range(n))
        assert session.n_questions == 0


@algorithms
def test_target(algorithm):
    points, y = people()
    session = answer(Session(points, algorithm, target=3, random_state=0), Expert(y))
    assert session.clusters().n_recovered_ >= 3


@algorithms
def test_rows_of_numbers_are_no_records(algorithm):
    with pytest.raises(
        ValueError, match="needs pairs of them that may be one entity, got ArrayPoints"
    ):
        Session([[0.0], [1.0]], algorithm)


# Ours


def test_finds_most_with_few_questions_and_says_so():
    points, y = people(400, seed=3)
    found = samekind.solve(points, Expert(y), algorithm="records", budget=60, random_state=0)
    assert samekind.measures.adjusted_rand_index(y, found.labels_) > 0.95
    promise = found.certificate_
    assert isinstance(promise, PairCertificate)
    assert promise.n_audited >= 5
    assert "of the pairs in one entity do not belong together" in str(promise)


def test_first_question_is_a_near_one_and_few_are_strangers():
    points, y = people(400, seed=4)
    expert = Expert(y)
    answer(Session(points, "records", budget=100, random_state=1), expert)
    different = sum(y[a] != y[b] for a, b in expert.asked)
    assert different <= 60


def test_wrong_answers_do_not_decide():
    points, y = people(400, seed=5)
    noisy = samekind.NoisyOracle(y, 0.05, seed=1)
    for rate in (0.05, "estimate"):
        found = samekind.solve(
            points, noisy, algorithm="records", budget=150, error_rate=rate, random_state=0
        )
        assert samekind.measures.adjusted_rand_index(y, found.labels_) > 0.93
        assert 0 < found.error_rate_ < 0.15


def test_links_at_most_one_record_of_each_file():
    points, y = people(200, files=True, noise=0.6, seed=6)
    found = samekind.solve(points, Expert(y), algorithm="records", budget=20, random_state=0)
    taken = np.column_stack([found.labels_, points.files])
    assert len(np.unique(taken, axis=0)) == points.n


def test_an_answer_that_is_taken_back_or_changed_counts_no_more():
    points, y = people()
    expert = Expert(y)
    session = Session(points, "records", random_state=0)
    assert session.amends
    for _ in range(20):
        session.tell(session.pending(), expert(session.pending()))
    a, b = next(pair for pair in expert.asked if y[pair[0]] == y[pair[1]])
    labels = session.clusters().labels_
    assert labels[a] == labels[b]
    session.change([[a, b]], [False])
    labels = session.clusters().labels_
    assert labels[a] != labels[b]
    session.change([[a, b]], [True])
    assert session.clusters().labels_[a] == session.clusters().labels_[b]
    before = session.pending().tolist()
    session.tell(session.pending(), expert(session.pending()))
    session.undo()
    assert session.pending().tolist() == before


def test_changes_are_the_same_when_resumed(tmp_path):
    points, y = people()
    options = {"algorithm": "records", "random_state": 0, "ledger": tmp_path / "mine.db"}
    expert = Expert(y)
    with Session(points, **options) as session:
        for _ in range(12):
            session.tell(session.pending(), expert(session.pending()))
        session.change([expert.asked[3]], [not expert.says(*expert.asked[3])])
        for _ in range(3):
            session.tell(session.pending(), expert(session.pending()))
        session.undo(2)
        session.learn([[0, 1]], [bool(y[0] == y[1])])
        session.tell(session.pending(), expert(session.pending()))
        pending, found = session.pending().tolist(), session.clusters()
    with Session(points, **options) as again:
        assert again.pending().tolist() == pending
        assert_same_clusters(again.clusters(), found)


def test_keeps_all_in_a_file(tmp_path):
    points, y = people()
    found = samekind.solve(points, Expert(y), algorithm="records", budget=30, random_state=0)
    found.save(tmp_path / "found.npz")
    kept = samekind.Clusters.load(tmp_path / "found.npz")
    assert kept.certificate_ == found.certificate_
    assert str(kept.certificate_) == str(found.certificate_)
    np.testing.assert_array_equal(kept.labels_, found.labels_)


def test_stops_when_the_certificate_holds():
    points, y = people(400, noise=0.1, seed=7)
    options = {"stop": "certified", "tolerance": 0.2, "random_state": 0}
    found = samekind.solve(points, Expert(y), algorithm="records", **options)
    assert found.stop_reason_ == "certified"
    assert min(found.certificate_.precision, found.certificate_.recall) >= 0.8


@pytest.mark.slow
def test_certificate_holds_as_often_as_it_says():
    """Where the model errs: many fields are missing or differ."""
    points, y = people(250, n_fields=2, missing=0.3, noise=0.7, seed=8)
    a, b = points.candidates.pairs.T
    matches = y[a] == y[b]
    held = []
    for seed in range(200):
        found = samekind.solve(
            points, samekind.LabelOracle(y), algorithm="records", budget=80, random_state=seed
        )
        labels = found.labels_
        sizes = np.bincount(labels)
        together = labels[a] == labels[b]
        both = np.unique(np.column_stack([labels, y]), axis=0, return_counts=True)[1]
        precision = (both * (both - 1)).sum() / (sizes * (sizes - 1)).sum()
        recall = (together & matches).sum() / matches.sum()
        promise = found.certificate_
        held.append(precision >= promise.precision and recall >= promise.recall)
    assert np.mean(held) >= 0.95


def test_correlation_clustering_by_hand():
    pairs = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [4, 5]])
    weights = np.array([3.0, 2.0, -1.0, -0.5, 1.0])
    assert entities_of(7, pairs, weights).tolist() == [0, 0, 0, 1, 2, 2, 3]
    weights[2] = -3.0
    assert entities_of(7, pairs, weights).tolist() == [0, 0, 1, 2, 3, 3, 4]
    files = np.array([0, 0, 1, 1, 0, 1, 0], dtype=np.int8)
    assert entities_of(7, pairs, weights, files).tolist() == [0, 1, 1, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (ValueError, {"audit": 2}, r"audit must be a number in \[0, 1\], got 2"),
        (ValueError, {"stop": "soon"}, "stop must be one of 'proven', 'certified', got 'soon'"),
        (ValueError, {"error_rate": 0.5}, r"error_rate must be a number in \[0, 0.5\)"),
        (TypeError, {"heavy": 2}, "'records' has no parameter 'heavy'"),
    ],
)
def test_wrong_parameters_are_named_at_the_call(error, options, message):
    with pytest.raises(error, match=message):
        Session(people()[0], "records", **options)


@pytest.mark.parametrize(
    ("pairs", "compared", "message"),
    [
        ([[0, 0]], [[1.0]], r"compared with itself, got the pair \(0, 0\)"),
        ([[0, 1]], [[2.0]], "between 0 and 1"),
        ([[0, 1]], [[1.0], [1.0]], "a line for each of 1 pairs"),
    ],
)
def test_candidate_pairs_are_checked(pairs, compared, message):
    with pytest.raises(ValueError, match=message):
        CandidatePairs.of(pairs, compared)
    with pytest.raises(ValueError, match="mention row 4, but there are 3 records"):
        RecordPoints(CandidatePairs.of([[4, 1]], [[1.0]]), 3)
