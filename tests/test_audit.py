"""The audit: bounds that hold, what is kept apart, and that its rows are drawn uniformly (P22)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom, chisquare, hypergeom

from conftest import blobs
from samekind import DIFFERENT, SAME, UNSURE, LabelOracle, Session, solve
from samekind.algorithms.base import Certificate
from samekind.algorithms.focused import focused
from samekind.algorithms.focused.audit import Audit, all_asked
from samekind.algorithms.focused.bounds import most_wrong, most_wrong_at_any_time
from samekind.algorithms.focused.evidence import Kind
from samekind.algorithms.focused.labels import expected_wrong
from samekind.ledger import UNANSWERED, pairs_of
from test_focused import mixture, run_of


def clopper_pearson(hits, draws, risk):
    return 1.0 if hits == draws else beta.ppf(1 - risk, hits + 1, draws - hits)


class TestMostWrong:
    """Of a sample without replacement: how many of all rows are wrong at most."""

    @pytest.mark.parametrize("bound", [most_wrong, most_wrong_at_any_time])
    def test_what_is_known_for_sure(self, bound):
        assert bound(0, 0, 70, 0.05) == 70  # nothing was drawn
        assert bound(7, 70, 70, 0.05) == 7  # all were
        assert bound(5, 5, 70, 0.05) == 70
        assert bound(3, 20, 70, 0.05) <= 53  # 17 are right

    @pytest.mark.parametrize("bound", [most_wrong, most_wrong_at_any_time])
    def test_monotone(self, bound):
        by_hits = [bound(k, 40, 300, 0.05) for k in range(41)]
        assert (np.diff(by_hits) >= 0).all()
        by_draws = [bound(2, m, 300, 0.05) for m in range(2, 299)]
        assert (np.diff(by_draws) <= 0).all()

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

    def test_few_rows_help(self):
        """Of 150 rows 45 that are right bound the rest far better than of 150,000."""
        assert (
            most_wrong(0, 45, 150, 0.05) / 150 < 0.85 * most_wrong(0, 45, 150_000, 0.05) / 150_000
        )

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


class TestAudit:
    """Of 1,000 rows; row 900 is known to be in cluster 0, row 901 in cluster 1."""

    def audit(self, right=0, refused=(), unsure=()):
        audit = Audit(1000, seed=0)
        for row in range(right):
            audit.add(row, 900, SAME)
        for row in refused:
            audit.add(row, 900, DIFFERENT)
        for row in unsure:
            audit.add(row, 900, UNSURE)
        return audit

    def wrong(self, audit, predicted=None):
        """Return the rows that are not known to be as predicted: in cluster 0, if nothing else is given."""
        clusters = [(predicted or {}).get(row, 0) for row in audit.rows]
        return audit.wrong(lambda rows: rows - 900, np.array(clusters))

    def test_promises_nothing_at_first(self):
        promise = self.audit().certificate(0, n_learnt=0, n_undecided=0, n_unproven=1)
        assert (promise.undiscovered, promise.wrong, promise.n_audited) == (1.0, 1.0, 0)
        assert str(promise) == "No promise yet: no row was audited."
        assert self.audit().certificate(0, 250, 0, 0).wrong == 0.75  # what is known is right

    def test_counts_what_is_right_and_wrong(self):
        audit = self.audit(20, refused=[20])
        assert self.wrong(audit) == [20]
        promise = audit.certificate(1, n_learnt=30, n_undecided=0, n_unproven=3)
        assert (promise.n_audited, promise.n_wrong, promise.n_unproven) == (21, 1, 3)
        # the 30 rows that were learnt from are right
        assert promise.wrong == most_wrong(1, 21, 970, 0.04) / 1000
        assert promise.wrong_at_any_time == most_wrong_at_any_time(1, 21, 970, 0.05) / 1000
        assert promise.confidence == pytest.approx(0.95)
        assert promise.undiscovered == promise.wrong  # such rows are labelled wrongly, too

    def test_a_row_whose_cluster_is_known_is_not_labelled_wrongly(self):
        """That it was predicted elsewhere tells of the others only."""
        audit = self.audit(10)
        assert self.wrong(audit, {3: 1}) == [3]
        promise = audit.certificate(1, 0, 0, 0)
        assert promise.wrong == (most_wrong(1, 10, 1000, 0.04) - 1) / 1000

    def test_a_refused_row_is_wrong_until_its_cluster_is_known(self):
        audit = self.audit(refused=[5])
        assert self.wrong(audit, {5: 1}) == [5]  # nobody knows
        audit.add(5, 901, SAME)
        assert (audit.refused, audit.same) == ({}, {5: 901})
        assert self.wrong(audit, {5: 1}) == []
        assert self.wrong(audit, {5: 0}) == [5]
        audit.add(5, 900, DIFFERENT)  # says no more
        assert 5 not in audit.refused

    def test_rows_that_nobody_could_tell_are_not_right_and_stated_apart(self):
        audit = self.audit(30, unsure=[40, 41])
        assert self.wrong(audit) == [40, 41]
        promise = audit.certificate(2, n_learnt=1, n_undecided=3, n_unproven=0)
        assert (promise.n_audited, promise.n_wrong, promise.n_undecided) == (32, 2, 3)
        assert promise.wrong == most_wrong(2, 32, 999, 0.04) / 1000
        audit.add(40, 900, DIFFERENT)  # a clear answer says more
        assert (audit.unsure, audit.refused) == ({41}, {40: [900]})

    def test_the_order_of_the_answers_does_not_matter(self):
        told = [(1, 900, SAME), (1, 901, DIFFERENT), (1, 902, UNSURE), (2, 900, DIFFERENT)]
        told += [(2, 905, UNSURE), (3, 907, SAME), (3, 903, SAME), (4, 900, UNSURE)]
        one, other = Audit(1000, 0), Audit(1000, 0)
        for answer in told:
            one.add(*answer)
        for answer in told[::-1]:
            other.add(*answer)
        assert one == other
        assert one.rows == [1, 2, 3, 4]
        assert all(row in one for row in one.rows)
        assert len(one) == 4

    @pytest.mark.parametrize("n", [1, 50, 5_000])
    def test_draws_every_row_once(self, n):
        assert sorted(Audit(n, seed=3).order()) == list(range(n))
        assert list(Audit(n, seed=3).order()) == list(Audit(n, seed=3).order())

    @pytest.mark.parametrize("n", [40, 5_000])
    def test_first_draws_are_uniform(self, n):
        first = [next(Audit(n, seed).order()) for seed in range(2_000)]
        assert chisquare(np.histogram(first, 20, (0, n))[0]).pvalue > 0.01

    def test_every_row_was_asked_about(self):
        assert (all_asked(3).wrong, all_asked(3).n_undecided) == (0.0, 3)

    @pytest.mark.parametrize(
        ("unproven", "words"), [(0, ""), (4, "the 4 pairs of clusters about which")]
    )
    def test_in_words(self, unproven, words):
        text = str(Certificate(0.95, 0.0123, 1.0, 1234, 7, unproven, n_undecided=1))
        assert "With 95% confidence" in text
        assert "at most 1.3 % of the rows" in text
        assert "at most 100 % of the labels are wrong (7 of 1,234 audited rows were)" in text
        assert "Nobody could tell of 1 row, which has no label." in text
        assert words in text
        assert ("nobody was asked" in text) == (unproven > 0)


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

    def test_audited_rows_are_not_learnt_from_until_somebody_tells_more(self):
        X, y = mixture(200, 4, spread=0.7)
        session = run_of(X, y, budget=60, goal="labels")
        lines = session.ledger.active()
        drawn = pairs_of(lines)[lines["expected"][:, 0] == Kind.AUDIT]
        before = session.clusters().certificate_
        audit = session._run._facts.audit
        assert len(drawn) >= before.n_audited == len(audit) > 8
        state = session._run.derived()
        assert (state.group[state.terrain.nodes_of(np.array(audit.rows))] < 0).all()
        row, member = next((row, other) for row, other in audit.same.items())
        assert row in session.members_of(member)
        fresh = next(
            other
            for other in np.flatnonzero(y == y[row]).tolist()
            if other not in audit and session.places_of([other])[0] < 0
        )
        session.learn([(row, fresh)], [SAME])
        assert row not in session._run._facts.audit
        assert session.clusters().certificate_.n_audited == before.n_audited - 1
        state = session._run.derived()
        assert state.group[row] == state.group[member] == state.group[fresh] >= 0

    def test_rows_are_drawn_uniformly(self):
        """By where they lie, among all rows that nothing was learnt from; and never less doubtful ones."""
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
        for seed in range(3):
            X, y = blobs((300, 200, 100), seed=seed)
            options = {"stop": "certified", "tolerance": 0.05, "batch": batch}
            found = solve(X, LabelOracle(y), random_state=seed, budget=400, **options)
            assert found.stop_reason_ == "certified"
            assert wrong_labels(found, y) <= found.certificate_.wrong_at_any_time <= 0.05
            assert found.n_questions_ < 200
