"""What `focused` promises, measured over many runs: minutes, not seconds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from conftest import Expert
from samekind import LabelOracle, NoisyOracle, Session, solve
from samekind.algorithms.focused import focused
from samekind.measures import adjusted_rand_index, centroid_errors
from test_audit import wrong_labels

pytestmark = pytest.mark.slow

DIGITS = load_digits(return_X_y=True)


def classes_found(clusters, y):
    """Return how many classes have a cluster most of whose members are of them."""
    found = set()
    for members in clusters.members_:
        classes, counts = np.unique(y[members], return_counts=True)
        if 2 * counts.max() > len(members):
            found.add(classes[counts.argmax()])
    return len(found)


def test_digits():
    X, y = DIGITS
    for seed in range(3):
        options = {"budget": 300, "goal": "labels", "random_state": seed}
        found = solve(X, LabelOracle(y), batch=1, **options)
        assert adjusted_rand_index(y, found.labels_) >= 0.98
        assert classes_found(found, y) == 10


def test_digits_with_every_fifth_answer_wrong():
    X, y = DIGITS
    for seed in range(2):
        oracle = NoisyOracle(y, error=0.2, seed=seed)
        options = {"budget": 1_500, "goal": "labels", "error_rate": "estimate"}
        found = solve(X, oracle, random_state=seed, **options)
        assert adjusted_rand_index(y, found.labels_) >= 0.95
        assert found.error_rate_ == pytest.approx(0.2, abs=0.1)


class TestCertificate:
    def test_holds_in_95_of_100_runs(self):
        """P22: trusted answers."""
        X, y = DIGITS
        held, bounds = [], []
        for seed in range(100):
            options = {"budget": 450, "batch": 16, "goal": "labels", "random_state": seed}
            found = solve(X, LabelOracle(y), **options)
            held.append(wrong_labels(found, y) <= found.certificate_.wrong)
            bounds.append(found.certificate_.wrong)
        print(f"holds in {np.mean(held):.1%}; median bound {np.median(bounds):.3f}")
        assert np.mean(held) >= 0.95
        assert np.median(bounds) < 0.3  # it does say something

    def test_holds_at_its_best_moment(self, monkeypatch):
        """P20, P22: also of whoever looks after every answer and stops at the lowest bound."""
        monkeypatch.setattr(focused, "AUDIT_AFTER", 20)
        held = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            y = rng.integers(5, size=250)
            X = rng.uniform(0, 4, (5, 2))[y] + rng.choice([0.3, 0.6]) * rng.normal(size=(250, 2))
            session = Session(X, budget=120, goal="labels", random_state=seed)
            best, is_held = 2.0, True
            while not session.done:
                session.answer_all(LabelOracle(y)(session.pending()))
                found = session.clusters()
                if found.certificate_.wrong_at_any_time < best:
                    best = found.certificate_.wrong_at_any_time
                    is_held = wrong_labels(found, y) <= best
            held.append(is_held)
        print(f"holds in {np.mean(held):.1%}")
        assert np.mean(held) >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 40)


def scene(name, seed):
    """Return data whose geometry misleads."""
    rng = np.random.default_rng(seed)
    if name == "shells":
        y = rng.integers(4, size=800)
        directions = rng.normal(size=(800, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        return directions * (1 + 2 * y + rng.uniform(-0.2, 0.2, 800))[:, None], y
    if name == "pieces":
        piece = rng.integers(40, size=1000)
        return rng.uniform(0, 100, (40, 2))[piece] + 0.3 * rng.normal(size=(1000, 2)), piece % 4
    if name == "same place":
        return rng.normal(size=(500, 2)), rng.integers(2, size=500)
    if name == "same rows":
        return np.repeat(rng.normal(size=(10, 2)), 50, axis=0), rng.integers(2, size=500)
    assert name == "noise"
    return rng.normal(size=(600, 30)), rng.integers(5, size=600)


def questions_until(X, y, algorithm, seed):
    """Return how many questions it takes until 1, 2, ... classes have accurate centres, and the total."""
    expert, needed, look_at = Expert(y), [], 2.0
    session = Session(X, algorithm, random_state=seed)
    while not session.done:
        session.answer_all(expert(session.pending()))
        if session.n_questions >= look_at or session.done:
            look_at = session.n_questions * 1.05
            found = session.clusters()
            classes = np.array([y[members[0]] for members in found.members_])
            errors = centroid_errors(X, y, found.all_centers_, classes)
            new = np.unique(classes[errors <= 0.1]).size - len(needed)
            needed += [session.n_questions] * new
    assert len(set(expert.asked)) == len(expert.asked) == session.n_questions
    return needed, session.n_questions


WORSE = pytest.mark.xfail(reason="2.3 and 1.53 times as many as basic asks", strict=False)


@pytest.mark.parametrize(
    "name",
    [
        "shells",
        "pieces",
        pytest.param("same place", marks=WORSE),
        pytest.param("same rows", marks=WORSE),
        "noise",
    ],
)
def test_where_geometry_misleads_it_asks_hardly_more_than_basic(name):
    """Over three seeds, the questions until as many classes have accurate centres as basic finds."""
    mine, its = 0, 0
    for seed in range(3):
        X, y = scene(name, seed)
        own, total = questions_until(X, y, "focused", seed)
        others, _ = questions_until(X, y, "basic", seed)
        mine += sum((own + [total] * len(others))[: len(others)])
        its += sum(others)
    print(f"{name}: {mine / its:.2f} times as many questions")
    assert mine <= 1.5 * its
