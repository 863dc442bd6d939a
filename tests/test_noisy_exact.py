"""The paper's algorithm for answers that may be wrong, and the majorities it rests on."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import answer, assert_recovered, assert_same_clusters, blobs, keys
from samekind import NoisyOracle, Session, solve
from samekind.algorithms.paper.majority import lead, voters
from samekind.measures import centroid_error

CENTERS = 10.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def gaussians(seed, sizes=(300, 250, 200, 150)):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return CENTERS[y] + rng.normal(size=(y.size, 2)), y


def noisy(X, y, error, seed=0, **options):
    oracle = options.pop("oracle", None) or NoisyOracle(y, error=error, seed=seed)
    options = {"error_rate": error, "batch": "auto", "random_state": seed, **options}
    return solve(X, oracle, algorithm="noisy-exact", **options)


def is_right(found, X, y, epsilon=0.5):
    """Return whether each cluster is found once, with a centre as good as the theorem says."""
    kinds = [int(np.bincount(y[members]).argmax()) for members in found.members_]
    return (
        found.n_recovered_ == found.n_discovered_
        and sorted(kinds) == np.unique(y).tolist()
        and all(
            centroid_error(X[y == kind], center) <= epsilon
            for kind, center in zip(kinds, found.centers_, strict=True)
        )
    )


class TestPanel:
    """Kind 0 has the rows 0 to 29, kind 1 the rows 30 to 59; the others are to be placed."""

    X = np.arange(180.0)[:, None]

    def test_majorities_are_as_sure_as_promised(self):
        """One in a hundred at most, for both ways of counting."""
        rng = np.random.default_rng(0)
        votes = np.where(rng.random((20_000, 200)) < 0.2, -1, 1)
        fixed = votes[:, : voters(0.2, 0.01)].sum(axis=1)
        assert (fixed <= 0).mean() <= 0.01
        ahead = votes.cumsum(axis=1)
        first = (np.abs(ahead) >= lead(0.2, 0.01)).argmax(axis=1)
        assert (ahead[np.arange(20_000), first] < 0).mean() <= 0.01
        assert first.mean() < voters(0.2, 0.01) / 2


def slow(*values):
    """Parameters of a test that takes long."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(("error", "rate"), [(0.1, 0.1), slow(0.2, 0.2), slow(0.1, "estimate")])
def test_finds_gaussian_clusters(error, rate):
    X, y = gaussians(0)
    found = noisy(X, y, error, error_rate=rate)
    assert is_right(found, X, y)
    assert found.stop_reason_ == "reducible"
    assert found.contradictions_ == []
    wrong = sum((y[m] != np.bincount(y[m]).argmax()).sum() for m in found.members_)
    assert wrong <= 3
    assert (rate == "estimate") == any("are wrong" in note for note in found.notes_)


@pytest.mark.slow
def test_errors_that_do_not_persist_and_several_annotators():
    X, y = gaussians(1)
    oracle = NoisyOracle(y, error=0.1, persistent=False)
    assert is_right(noisy(X, y, 0.1, oracle=oracle), X, y)
    oracle = NoisyOracle(y, per_annotator=[0.0, 0.05, 0.2])
    assert is_right(noisy(X, y, 0.1, oracle=oracle), X, y)


@pytest.mark.slow
def test_unsure_answers():
    X, y = gaussians(2)
    found = noisy(X, y, 0.1, oracle=NoisyOracle(y, error=0.1, unsure=0.2))
    assert is_right(found, X, y)
    assert len(found.given_up_) < 0.02 * len(X)


def test_a_small_cluster_far_away():
    """60 rows in 2,060: uniform draws would hardly see them, D²-samples find them in the second round."""
    X, y = blobs((2000, 60), gap=1000.0)
    assert_recovered(noisy(X, y, 0.1, order="nearest"), X, y)


def test_clusters_too_small_for_the_noise_are_not_invented():
    X, y = blobs((200, 150, 5), gap=100.0)
    found = noisy(X, y, 0.2)
    assert found.n_recovered_ == found.n_discovered_ == 2
    assert found.stop_reason_ == "unplaced"
    assert "5 rows fit in no cluster found. With an error rate of 0.2" in found.notes_[0]


def test_asks_no_pair_twice_and_keeps_its_budget():
    """P4: however often answers are wrong."""
    X, y = gaussians(3)
    oracle = NoisyOracle(y, error=0.2)
    asked = []

    def says(pairs):
        asked.extend(keys(pairs))
        return oracle(pairs)

    found = noisy(X, y, 0.2, oracle=says, budget=4000)
    assert (found.stop_reason_, found.n_questions_) == ("budget", 4000)
    assert len(asked) == len(set(asked)) == 4000


def test_resumed_after_an_interruption(tmp_path):
    """P5: at any question."""
    X, y = blobs((60, 50))
    oracle = NoisyOracle(y, error=0.1)
    options = {"algorithm": "noisy-exact", "error_rate": 0.1, "batch": 16, "random_state": 0}
    whole = answer(Session(X, **options), oracle).clusters()
    assert whole.n_recovered_ == 2
    for waves in (3, 40, 70):
        with Session(X, ledger=tmp_path / "mine.db", **options) as session:
            answer(session, oracle, waves)
    with Session(X, ledger=tmp_path / "mine.db", **options) as session:
        assert_same_clusters(answer(session, oracle).clusters(), whole)


@pytest.mark.slow
def test_target():
    X, y = gaussians(4)
    found = noisy(X, y, 0.1, target=2)
    assert found.stop_reason_ == "target"
    assert found.n_recovered_ >= 2


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.1, 0.2])
def test_keeps_the_theorems_promise(error):
    """P18: All clusters, and centres within 1+ε, with probability 0.6 at least; counted over 50 runs."""
    right, questions = 0, []
    for seed in range(50):
        X, y = gaussians(seed)
        found = noisy(X, y, error, seed)
        right += is_right(found, X, y)
        questions.append(found.n_questions_)
    print(f"p = {error}: right in {right} of 50 runs, {np.mean(questions):,.0f} questions each")
    assert right >= 30
