"""The audit: a bound that holds whenever one looks, and what is kept apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused.audit import Audit, upper_bound

RISKS = (0.2, 0.05, 0.0125)


def clopper_pearson(hits, draws, risk):
    return 1.0 if hits == draws else beta.ppf(1 - risk, hits + 1, draws - hits)


class TestUpperBound:
    @pytest.mark.parametrize("risk", RISKS)
    def test_never_below_clopper_pearson(self, risk):
        """Who may look at any time cannot do better than who looks once."""
        for draws in (1, 2, 5, 17, 100, 999, 20_000):
            for hits in {0, 1, 2, draws // 10, draws // 2, draws - 1, draws} & set(
                range(draws + 1)
            ):
                bound = upper_bound(hits, draws, risk)
                assert clopper_pearson(hits, draws, risk) <= bound <= 1.0, (hits, draws)
                assert bound >= hits / draws

    @pytest.mark.parametrize("risk", RISKS)
    def test_not_far_above_it(self, risk):
        """Looking at any time costs less than a factor of three."""
        for hits, draws in [(0, 100), (0, 5000), (3, 1000), (50, 1000), (500, 20_000)]:
            assert upper_bound(hits, draws, risk) <= 3 * clopper_pearson(hits, draws, risk)

    @pytest.mark.parametrize("risk", RISKS)
    def test_monotone(self, risk):
        for draws in (3, 40, 500):
            by_hits = [upper_bound(hits, draws, risk) for hits in range(draws + 1)]
            assert (np.diff(by_hits) >= 0).all()
        for hits in (0, 1, 7):
            by_draws = [upper_bound(hits, draws, risk) for draws in range(hits + 1, 400)]
            assert (np.diff(by_draws) <= 0).all()
        by_risk = [upper_bound(4, 100, risk) for risk in (0.001, 0.01, 0.1, 0.5)]
        assert (np.diff(by_risk) < 0).all()

    @pytest.mark.parametrize("risk", RISKS)
    @pytest.mark.parametrize(("hits", "draws"), [(0, 0), (1, 1), (5, 5), (3000, 3000)])
    def test_nothing_can_be_said(self, hits, draws, risk):
        assert upper_bound(hits, draws, risk) == 1.0

    @pytest.mark.parametrize("share", [0.003, 0.03, 0.2, 0.7])
    def test_holds_for_who_stops_when_it_looks_best(self, share):
        """2,000 runs of 600 draws; the bound fails if it is ever below the share."""
        risk, draws, runs = 0.05, 600, 2000
        bounds = np.full((draws + 1, draws + 1), np.nan)  # by draws and hits, as needed
        hits = (np.random.default_rng(7).random((runs, draws)) < share).cumsum(axis=1)
        failed = np.zeros(runs, dtype=bool)
        for n in range(1, draws + 1):
            for h in np.unique(hits[:, n - 1]):
                bounds[n, h] = upper_bound(int(h), n, risk)
            failed |= bounds[n, hits[:, n - 1]] < share
        assert failed.mean() <= risk + 2 * np.sqrt(risk * (1 - risk) / runs)

    def test_clopper_pearson_would_not_hold(self):
        """The simulation can tell: who stops when Clopper and Pearson's bound looks best errs too often."""
        share, risk, runs = 0.2, 0.05, 500
        hits = (np.random.default_rng(7).random((runs, 600)) < share).cumsum(axis=1)
        n = np.arange(1, 601)
        assert (beta.ppf(1 - risk, hits + 1, n - hits + 1e-9) < share).any(axis=1).mean() > 0.15


class TestAudit:
    def certificate(self, audit, predicted=None, unproven=0):
        wanted = audit.clusters if predicted is None else predicted
        return audit.certificate(np.array(wanted, dtype=np.intp), unproven)

    def test_promises_nothing_at_first(self):
        promise = self.certificate(Audit())
        assert (promise.undiscovered, promise.wrong, promise.n_audited) == (1.0, 1.0, 0)
        assert str(promise) == "No promise yet: no row was audited."

    def test_counts_what_is_right_and_wrong(self):
        audit = Audit()
        for row, cluster in enumerate([0, 0, 1, 1, 2]):
            audit.add(row, cluster)
        audit.add_known(77, 1)  # labelled before: right, whatever is predicted
        promise = self.certificate(audit, [0, 1, 1, 1, 0], unproven=3)
        assert (promise.n_audited, promise.n_wrong, promise.n_unproven) == (6, 2, 3)
        assert promise.undiscovered == pytest.approx(upper_bound(0, 6, 0.025))
        assert promise.wrong == pytest.approx(upper_bound(2, 6, 0.0125))
        assert promise.confidence == 0.95

    def test_a_row_drawn_again_is_as_wrong_again(self):
        audit = Audit()
        audit.add(5, 0)
        audit.add_known(5, 0)
        assert self.certificate(audit, [1, 1]).n_wrong == 2
        assert audit.n_draws == 2

    def test_a_new_cluster_ends_it(self):
        audit = Audit()
        audit.add(5, 0)
        audit.add_known(6, 0)
        assert audit.end() == [(5, 0)]
        assert audit.n_draws == 0
        promise = self.certificate(audit)
        assert promise.wrong == 1.0
        assert promise.undiscovered == pytest.approx(upper_bound(1, 3, 0.025))
        for row in range(10, 60):
            audit.add(row, 0)
        promise = self.certificate(audit)
        assert promise.undiscovered == pytest.approx(upper_bound(1, 53, 0.025))
        assert promise.wrong == pytest.approx(upper_bound(0, 50, 0.025 / 6))

    def test_the_risks_of_all_audits_together(self):
        """Bounds of audits 1, 2, ... are those of risks that add up to 2.5 %."""
        audit, risks = Audit(), []
        for _ in range(5):
            for row in range(30):
                audit.add(row, 0)
            bound = self.certificate(audit).wrong
            grid = np.geomspace(1e-5, 0.025, 4000)
            risks.append(grid[np.argmin([abs(upper_bound(0, 30, r) - bound) for r in grid])])
            audit.end()
        np.testing.assert_allclose(risks, 0.025 / np.array([2, 6, 12, 20, 30]), rtol=0.01)

    def test_merged_clusters_are_the_same(self):
        audit = Audit()
        for row, cluster in enumerate([0, 2, 1]):
            audit.add(row, cluster)
        audit.merge(0, 2)
        assert self.certificate(audit, [0, 0, 1]).n_wrong == 0

    def test_rows_that_are_audited(self):
        """Also those drawn twice, and until the audit ends."""
        audit = Audit()
        for row in (3, 5, 3):
            audit.add(row, 0)
        audit.add_known(7, 0)
        assert [row for row in range(9) if row in audit] == [3, 5]
        audit.move(3, 1)
        audit.move(7, 1)
        assert audit.clusters == [1, 0, 1]
        audit.end()
        assert not any(row in audit for row in range(9))

    @pytest.mark.parametrize(
        ("unproven", "words"), [(0, ""), (4, "the 4 pairs of clusters about which")]
    )
    def test_in_words(self, unproven, words):
        text = str(Certificate(0.95, 0.0123, 1.0, 1234, 7, unproven))
        assert "With 95% confidence" in text
        assert "at most 1.2 % of the rows" in text
        assert "at most 100 % of the labels are wrong (7 of 1,234 audited rows were)" in text
        assert words in text
        assert ("nobody was asked" in text) == (unproven > 0)
