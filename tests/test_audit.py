"""The audit: bounds that hold, what is kept apart, and that its rows are drawn uniformly (P22)."""

from __future__ import annotations

import tracemalloc
from contextlib import closing

import numpy as np
import pytest
from scipy.stats import beta, binom, chisquare, hypergeom

from conftest import blobs, honest
from samekind import LabelOracle, Session, solve
from samekind.algorithms.focused import focused
from samekind.algorithms.focused.bounds import most_wrong, most_wrong_at_any_time
from samekind.algorithms.focused.labels import expected_wrong
from samekind.data import Items
from samekind.ledger import UNANSWERED, pairs_of
from samekind.project import NewCluster, Project
from test_focused import mixture, run_of


def clopper_pearson(hits, draws, risk):
    return 1.0 if hits == draws else beta.ppf(1 - risk, hits + 1, draws - hits)


class TestMostWrong:
    """P22: of a sample without replacement, how many of all rows are wrong at most."""

    @pytest.mark.parametrize("bound", [most_wrong, most_wrong_at_any_time])
    def test_what_is_known_for_sure(self, bound):
        assert bound(0, 0, 70, 0.05) == 70  # nothing was drawn
        assert bound(7, 70, 70, 0.05) == 7  # all were
        assert bound(5, 5, 70, 0.05) == 70
        assert bound(3, 20, 70, 0.05) <= 53  # 17 are right

    @pytest.mark.parametrize(("hits", "draws"), [(0, 30), (4, 60), (30, 100)])
    def test_of_very_many_rows_as_clopper_and_pearson(self, hits, draws):
        expected = clopper_pearson(hits, draws, 0.04)
        assert most_wrong(hits, draws, 900_000, 0.04) / 900_000 == pytest.approx(expected, rel=1e-3)
        assert most_wrong(hits, draws, 10**9, 0.04) / 10**9 == pytest.approx(expected, rel=1e-6)

    @pytest.mark.parametrize(("n_rows", "n_drawn"), [(20, 9), (150, 40), (3000, 200), (10**6, 77)])
    @pytest.mark.parametrize("risk", [0.05, 0.0123])
    def test_by_the_hypergeometric_distribution(self, n_rows, n_drawn, risk):
        for seen in (0, 1, n_drawn // 3):
            most = most_wrong(seen, n_drawn, n_rows, risk)
            chances = hypergeom.cdf(seen, n_rows, [most, most + 1], n_drawn)
            assert chances[0] >= risk > chances[1]

    @pytest.mark.parametrize("n_wrong", [2, 12, 60])
    def test_at_one_moment_it_holds_with_the_promised_probability(self, n_wrong):
        n_rows, draws, risk, runs = 200, 40, 0.05, 4000
        hits = np.random.default_rng(3).hypergeometric(n_wrong, n_rows - n_wrong, draws, size=runs)
        failed = np.array([most_wrong(k, draws, n_rows, risk) for k in range(draws + 1)])[hits]
        assert (failed < n_wrong).mean() <= risk + 2 * np.sqrt(risk * (1 - risk) / runs)

    @pytest.mark.parametrize("n_wrong", [2, 12, 60])
    def test_the_other_whenever_one_looks(self, n_wrong):
        n_rows, risk, runs = 200, 0.05, 1000
        rng, row = np.random.default_rng(5), np.arange(n_rows) < n_wrong
        bounds: dict[tuple[int, int], int] = {}
        failed = 0
        for _ in range(runs):
            hits = rng.permutation(row).cumsum().tolist()
            looks = [(k, m) for m, k in enumerate(hits[:150], 1)]
            for look in looks:
                if look not in bounds:
                    bounds[look] = most_wrong_at_any_time(*look, n_rows, risk)
            failed += min(bounds[look] for look in looks) < n_wrong
        assert failed / runs <= risk + 2 * np.sqrt(risk * (1 - risk) / runs)

    @pytest.mark.parametrize("risk", [0.05, 0.04])
    @pytest.mark.parametrize(
        ("n_rows", "n_wrong"), [(50, 5), (200, 12), (200, 60), (600, 30), (1000, 100)]
    )
    def test_and_exactly_so(self, n_rows, n_wrong, risk):
        """The probability that the true number is ever excluded, summed over all orders of drawing."""
        k, excluded = np.arange(n_wrong + 1), 0.0
        chances = (k == 0).astype(float)  # of so many wrong ones so far, and nothing excluded
        for drawn in range(1, n_rows):
            hit = np.clip((n_wrong - k) / (n_rows - drawn + 1), 0, 1)
            chances = chances * (1 - hit) + np.append(0.0, (chances * hit)[:-1])
            out = hypergeom.cdf(k, n_rows, n_wrong, drawn) < risk / (2 * k + 2)
            excluded += chances[out].sum()
            chances[out] = 0.0
            if drawn == n_rows // 4:  # that this is what the bound does
                said = [most_wrong_at_any_time(int(j), drawn, n_rows, risk) for j in k[:drawn]]
                np.testing.assert_array_equal(np.array(said) < n_wrong, out[:drawn])
        assert 0.4 * risk < excluded <= risk


@pytest.fixture
def early_audit(monkeypatch):
    """Let the audit begin after 20 questions."""
    monkeypatch.setattr(focused, "AUDIT_AFTER", 20)


def wrong_labels(found, y):
    """Return the share of wrong labels; a cluster stands for the class of its first member."""
    classes = np.array([y[rows[0]] for rows in found.members_])
    return ((found.labels_ < 0) | (classes[found.labels_] != y)).mean()


@pytest.mark.usefixtures("early_audit")
class TestRuns:
    def test_what_the_audit_tells_apart_is_not_chosen(self, monkeypatch):
        """It was, at every turn, and kept the questions that nobody had answered from being asked."""
        monkeypatch.setattr(focused, "AUDIT_AFTER", 0)
        monkeypatch.setattr(focused, "AUDITED", 6.0)
        rng = np.random.default_rng(0)
        piece = rng.integers(60, size=1500)
        X = rng.uniform(0, 6, (60, 3))[piece] + 0.35 * rng.normal(size=(1500, 3))
        oracle = LabelOracle(piece % 12)
        session = Session(X, budget=250, random_state=0, goal="labels")
        while not session.done:
            session.answer_all(oracle(session.pending()))
            chosen = session._run.choose(1)
            assert (session.ledger.lookup(chosen) == UNANSWERED).all()

    @pytest.mark.slow
    def test_rows_are_drawn_uniformly(self):
        """P22: among all rows that nothing was learnt from, wherever they lie; never less doubtful ones."""
        counts, doubtful = np.zeros(5), []
        for seed in range(30):
            X, y = mixture(120, 4, d=2, spread=0.6, seed=seed)
            run = run_of(X, y, seed, budget=70, goal="labels", epsilon=None)._run
            state = run.derived()
            others = np.flatnonzero(state.group < 0)
            is_audited = np.isin(others, run._facts.audit.rows)
            places, doubt = (
                v[others].argsort().argsort() / others.size
                for v in (X[:, 0], expected_wrong(state))
            )
            counts += np.histogram(places[is_audited], 5, (0, 1))[0]
            doubtful.extend(doubt[is_audited])
        assert counts.sum() > 300
        assert chisquare(counts).pvalue > 0.01
        assert np.mean(doubtful) > 0.5 - 2 / np.sqrt(12 * len(doubtful))

    def test_the_certificate_holds(self):
        """P22: in as many of 60 runs as it says."""
        failed, bounds = 0, []
        for seed in range(60):
            X, y = mixture(120, 4, d=2, spread=0.5, seed=seed)
            found = solve(X, LabelOracle(y), batch=1, budget=50, goal="labels", random_state=seed)
            failed += wrong_labels(found, y) > found.certificate_.wrong
            bounds.append(found.certificate_.wrong)
        assert failed <= binom.ppf(0.99, 60, 0.05)
        assert np.median(bounds) < 0.4  # it does say something

    @pytest.mark.parametrize("batch", [1, 16])
    def test_stops_when_certified(self, batch):
        """P20: and no later."""
        for seed in range(3):
            X, y = blobs((300, 200, 100), seed=seed)
            options = {"stop": "certified", "tolerance": 0.05, "batch": batch}
            found = solve(X, LabelOracle(y), random_state=seed, budget=400, **options)
            assert found.stop_reason_ == "certified"
            assert wrong_labels(found, y) <= found.certificate_.wrong_at_any_time <= 0.05
            assert found.n_questions_ < 200


@pytest.mark.parametrize("names", [False, True])
def test_the_certificate_holds_for_line_ups_and_names(monkeypatch, names):
    """P22: also where a person picks another kind than the predicted one, or types its name.

    Whoever is asked whether a row is as predicted, and says where it is instead, has found a wrong label.
    """
    monkeypatch.setattr(focused, "AUDIT_AFTER", 10)
    monkeypatch.setattr(focused, "AUDITED", 5.0)
    holds, shares = 0, []
    for seed in range(10):
        X, y = mixture(300, 10, d=3, spread=0.8, seed=seed)
        items = Items.of_array(X, "rows", ["x", "y", "z"])
        with closing(Project(items, random_state=seed, epsilon=None, sheet=0)) as project:
            while project.status().presses < 50:
                [question] = project.next("ann")
                said = honest(question, y)
                if names and said == "none" and question.item_cluster is None:
                    said = NewCluster(f"kind {y[question.item.row]}")
                project.answer(question.id, said, who="ann")
            found = project.clusters()
        promise = found.certificate_
        holds += wrong_labels(found, y) <= promise.wrong
        shares.append(promise.n_wrong / promise.n_audited)
    assert holds >= 9
    assert np.mean(shares) > 0.1  # mistakes are seen


@pytest.mark.parametrize("kind", ["an option", "a name", "a new name"])
def test_what_was_expected_is_kept_wherever_a_row_is_placed(kind):
    """Or else P(same) is learnt from those rows alone that are where they were expected."""
    X, y = mixture(300, 8, d=3, spread=0.8)
    items = Items.of_array(X, "rows", ["x", "y", "z"])
    with closing(Project(items, random_state=0, epsilon=None, sheet=0)) as project:
        for _ in range(200):
            [question] = project.next("ann")
            if question.type == "lineup":
                options, row = [option.cluster for option in question.options], question.item.row
                if kind == "an option" and y[options[0]] != y[row]:
                    said = next((o for o in options if y[o] == y[row]), None)
                elif kind == "a name":
                    known = [rows[0].item() for rows in project.clusters().members_]
                    said = next((c for c in known if y[c] == y[row] and c not in options), None)
                else:
                    said = NewCluster("fresh") if kind == "a new name" else None
                if said is not None:
                    break
            project.answer(question.id, honest(question, y), who="ann")
        before = len(project.ledger.active())
        project.answer(question.id, said, who="ann")
        lines = project.ledger.active()[before:]
        expected = lines["expected"][(pairs_of(lines) == row).any(axis=1), -1]
        assert (~np.isnan(expected)).any()


def test_as_many_groups_as_answers():
    """Answers about strangers make two groups each: tables of all pairs of groups would take 84 MB."""
    rows = np.random.default_rng(0).permutation(3000)[:2000].reshape(-1, 2)
    session = Session(np.random.default_rng(1).normal(size=(3000, 3)), random_state=0)
    tracemalloc.start()
    session.learn(rows, np.zeros(len(rows), dtype=int))
    assert len(session.pending())
    found = session.clusters()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.members_) == 2000
    assert found.certificate_.n_unproven == 2000 * 1999 // 2 - 1000
    assert peak < 50e6
