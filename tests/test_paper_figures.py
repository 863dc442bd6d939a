"""The figures that a faithful implementation shows (tables of Section 5 and the appendix)."""

import numpy as np
import pytest

import samekind
from experiments.foresight import PRACTICAL
from experiments.trace import PaperSetup
from experiments.truth import Instance
from samekind.datasets import load_shuttle, make_synthetic
from samekind.measures import centroid_error, is_reducible


def mean_rows(make_data, runs, budgets):
    """Mean clusters recovered at each budget, and rounds in all, by algorithm, one draw at a time."""
    setup = PaperSetup(budgets[-1], budgets[-1], 0, batch=1)
    rows = {algorithm: [] for algorithm in PRACTICAL}
    rounds = dict.fromkeys(PRACTICAL, 0.0)
    for run in runs:
        data = make_data(run)
        for algorithm in PRACTICAL:
            found = setup.trace(algorithm, data, run, lambda _: None)
            rows[algorithm].append(np.searchsorted(found["recovered_at"], budgets, "right"))
            rounds[algorithm] += found["rounds_at"][-1] / len(runs)
    return {algorithm: np.mean(found, axis=0) for algorithm, found in rows.items()}, rounds


@pytest.mark.slow
def test_synthetic_rows():
    """All three come near the paper's, where its 0.3 is the variance of a cluster, and in its ranking.

    One run deviates from the next by 1.3 to 1.7 clusters, a mean of three by 0.8 to 1: three times that is
    allowed. BASIC and BATCHED may be off by as much and by the 10 % that 100 runs of them are.
    """
    rows, rounds = mean_rows(
        lambda run: Instance(*make_synthetic(sigma=0.3**0.5, random_state=run)),
        range(3),
        [10_000, 50_000, 100_000],
    )
    print(rows, rounds)
    np.testing.assert_allclose(rows["uniform"], [12.97, 25.75, 34.77], atol=2.5)
    np.testing.assert_allclose(rows["basic"], [16.96, 36.95, 49.34], atol=2.5, rtol=0.1)
    np.testing.assert_allclose(rows["batched"], [17.45, 37.98, 51.92], atol=2.5, rtol=0.1)
    assert rows["batched"][-1] > rows["basic"][-1]
    assert rounds["batched"] < 0.6 * rounds["basic"]


@pytest.mark.slow
def test_shuttle_rows(data_folder):
    shuttle = Instance(*load_shuttle(return_X_y=True))
    rows, _ = mean_rows(lambda run: shuttle, range(20), [1_000, 5_000, 10_000, 20_000, 30_000])
    print(rows)
    np.testing.assert_allclose(rows["uniform"], [3.00, 3.51, 4.06, 4.83, 5.13], atol=0.4)
    np.testing.assert_allclose(rows["basic"], [3.22, 4.89, 5.48, 6.14, 6.55], atol=0.4)
    np.testing.assert_allclose(rows["batched"], [3.22, 4.92, 5.55, 6.31, 6.61], atol=0.4)


@pytest.mark.parametrize("algorithm", ["basic", "batched"])
def test_shuttle_centres_are_as_good_as_the_papers(algorithm, data_folder):
    """Medians over the recovered clusters: 5.91 % and 5.66 % in the paper. Biased samples gave 28 %."""
    X, y = load_shuttle(return_X_y=True)
    medians = []
    for seed in range(10):
        clusters = samekind.solve(
            X, samekind.LabelOracle(y), algorithm=algorithm, budget=30_000, random_state=seed
        )
        errors = [
            centroid_error(X[y == y[members[0]]], center)
            for center, members in zip(clusters.centers_, clusters.members_, strict=False)
        ]
        medians.append(np.median(errors))
    assert np.mean(medians) < 0.09


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "epsilon"), [("basic-exact", 0.25), ("improved-exact", 0.25)]
)
def test_exact_algorithms_keep_their_promise(algorithm, epsilon):
    """Theorems 7 and 12: right with probability at least 0.9, counted over 50 runs."""
    right = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat([0, 1, 2], [300, 200, 100]))
        X = rng.normal(size=(600, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[y]
        clusters = samekind.solve(
            X, samekind.LabelOracle(y), algorithm=algorithm, epsilon=epsilon, random_state=seed
        )
        found = [y[members[0]] for members in clusters.members_[: clusters.n_recovered_]]
        errors = [
            centroid_error(X[y == kind], center)
            for kind, center in zip(found, clusters.centers_, strict=True)
        ]
        right += bool(is_reducible(X, y, found, epsilon) and max(errors) <= epsilon)
    print(f"{algorithm}, epsilon = {epsilon}: right in {right} of 50 runs")
    assert right >= 45
