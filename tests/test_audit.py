"""The audit: a bound that holds whenever one looks, and what is kept apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta, hypergeom

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused.audit import Audit, Surveys
from samekind.algorithms.focused.audit_bounds import (
    most_wrong,
    most_wrong_at_any_time,
    upper_bound,
)
from samekind.algorithms.focused.certification import AuditAhead, Certification, n_doubtful_rows
from samekind.algorithms.state import ClusterState

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


class TestSurveys:
    def test_bounds_what_was_not_found(self):
        surveys = Surveys()
        assert surveys.undiscovered() == 1.0
        for _ in range(100):
            surveys.add(is_new=False)
        assert upper_bound(0, 100, 0.01) < surveys.undiscovered() <= upper_bound(0, 100, 0.005)

    def test_early_discoveries_do_not_count_for_ever(self):
        surveys = Surveys()
        for draw in range(256):
            surveys.add(is_new=draw < 12)
        assert surveys.undiscovered() < 0.6 * upper_bound(12, 256, 0.01)

    def test_holds_while_clusters_are_found(self):
        """Zipf clusters, found as they are drawn; who looks always is right in 99 % of the runs."""
        shares = 1 / np.arange(1, 40)
        shares /= shares.sum()
        failed = 0
        for seed in range(100):
            surveys, missing = Surveys(), shares.copy()
            looks = []
            for draw, cluster in enumerate(
                np.random.default_rng(seed).choice(39, size=160, p=shares), 1
            ):
                surveys.add(is_new=bool(missing[cluster] > 0))
                missing[cluster] = 0.0
                if draw % 16 == 0:
                    looks.append(surveys.undiscovered() < missing.sum())
            failed += any(looks)
        assert failed <= 3


class TestAudit:
    """Of 1,000 rows, some of which were learnt from."""

    def state(self, n_learnt=0, members=(), given_up=()):
        state = ClusterState(1)
        for row in range(n_learnt):
            state.discover(900 + row, np.zeros(1))
        for row in members:
            state.discover(row, np.zeros(1))
        for row in given_up:
            state.give_up(row)
        return state

    def certificate(self, audit, predicted=None, state=None, unproven=0):
        def clusters_of(rows):
            return np.array([(predicted or {}).get(row, 0) for row in rows.tolist()], dtype=np.intp)

        return audit.certificate(clusters_of, state or self.state(), 1000, unproven)

    def test_promises_nothing_at_first(self):
        promise = self.certificate(Audit())
        assert (promise.undiscovered, promise.wrong, promise.n_audited) == (1.0, 1.0, 0)
        assert str(promise) == "No promise yet: no row was audited."

    def test_counts_what_is_right_and_wrong(self):
        audit = Audit()
        for row in range(20):
            audit.add(row, 0)
        audit.add_refused(20, [0])
        promise = self.certificate(audit, state=self.state(30, range(20)), unproven=3)
        assert (promise.n_audited, promise.n_wrong, promise.n_unproven) == (21, 1, 3)
        # the 30 rows that were learnt from are right
        assert promise.wrong == most_wrong(1, 21, 970, 0.04) / 1000
        assert promise.wrong_at_any_time == most_wrong_at_any_time(1, 21, 970, 0.05) / 1000
        assert promise.confidence == pytest.approx(0.95)

    def test_rows_in_clusters_that_were_not_found_are_wrong_too(self):
        audit = Audit()
        for row in range(50):
            audit.add(row, 0)
        promise = self.certificate(audit, state=self.state(0, range(50)))
        assert promise.undiscovered == promise.wrong < 0.1

    def test_a_row_whose_cluster_is_known_is_not_labelled_wrongly(self):
        """That it was predicted elsewhere tells of the others only."""
        audit = Audit()
        for row in range(10):
            audit.add(row, 0)
        promise = self.certificate(audit, {3: 1}, self.state(0, range(10)))
        assert promise.n_wrong == 1
        assert promise.wrong == (most_wrong(1, 10, 1000, 0.04) - 1) / 1000

    def test_a_refused_row_is_wrong_until_it_is_asked_about_again(self):
        audit = Audit()
        audit.add_refused(5, [0])
        assert self.certificate(audit, {5: 1}).n_wrong == 1  # nobody knows
        assert audit.outdated(lambda rows: np.array([1])) == 5
        assert audit.outdated(lambda rows: np.array([0])) == -1
        assert audit.refused(5) == [0]
        audit.add(5, 1)
        assert self.certificate(audit, {5: 1}).n_wrong == 0
        assert audit.outdated(lambda rows: np.array([1])) == -1

    def test_rows_that_nobody_could_tell_are_not_right_and_stated_apart(self):
        audit = Audit()
        for row in range(30):
            audit.add(row, 0)
        for row in (40, 41):
            audit.add_undecided(row)
        promise = self.certificate(audit, state=self.state(0, range(30), (40, 41, 77)))
        assert (promise.n_audited, promise.n_wrong, promise.n_undecided) == (32, 2, 3)
        assert promise.wrong == (most_wrong(2, 32, 999, 0.04) - 2) / 1000
        assert "Nobody could tell of 3 rows, which have no labels." in str(promise)

    def test_what_is_learnt_from_leaves_it(self):
        audit = Audit()
        audit.add(3, 0)
        audit.add(4, 0)
        released = audit.release(3)
        assert released is not None
        assert released.cluster == 0
        assert audit.release(3) is None
        assert (3 in audit, 4 in audit, audit.n_draws) == (False, True, 1)

    def test_a_founder_counts_as_wrong_for_good(self):
        audit = Audit()
        audit.add(1, 0)
        audit.add_founder()
        promise = self.certificate(audit, state=self.state(1, [1]))
        assert (promise.n_audited, promise.n_wrong) == (2, 1)

    def test_merged_clusters_are_the_same(self):
        audit = Audit()
        audit.add(0, 0)
        audit.add(1, 2)
        audit.add_refused(2, [2])
        audit.merge(0, 2)
        assert self.certificate(audit).n_wrong == 1
        assert audit.refused(2) == [0]

    def test_rows_that_move(self):
        audit = Audit()
        audit.add(3, 0)
        audit.move(3, 1)
        audit.move(7, 1)
        assert self.certificate(audit, {3: 1}).n_wrong == 0
        assert 7 not in audit

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


class TestCertification:
    """How many doubtful rows to ask about before the audit is finished."""

    @pytest.mark.parametrize(
        ("chances", "audited", "wrong", "learns"),
        [
            (np.linspace(0.4, 0.0, 3000), 0, 0, True),  # hopeless as it is
            (np.linspace(0.02, 0.0, 3000), 20, 0, False),
            (np.full(3000, 0.02), 50, 1, False),  # what is wrong may be anywhere
        ],
    )
    def test_whether_to_learn_or_to_audit(self, chances, audited, wrong, learns):
        audit = AuditAhead(audited, wrong, n_rows=3000, n_learnt=400, tolerated=150)
        n = n_doubtful_rows(chances, chances.sum(), audit)
        assert n > 100 if learns else n == 0

    def test_the_audit_ahead_is_about_as_long_as_it_will_be(self):
        audit = AuditAhead(n_audited=0, n_wrong=0, n_rows=500, n_learnt=40, tolerated=25)
        n = audit.n_left(0.0, 0)
        assert most_wrong_at_any_time(0, n + 8, 500, 0.05) <= 25
        assert most_wrong_at_any_time(0, n - 8, 500, 0.05) > 25
        assert audit.n_left(10.0, 0) > 1.5 * n
        assert audit.n_left(30.0, 0) > 400
        assert AuditAhead(0, 0, 20, 40, 25.0).n_left(3.0, 0) == 0

    def certification(self, doubts, audited, refused=(), n_learnt=1):
        """Return it for a run in which the first rows were learnt, and some others audited."""
        state, audit = ClusterState(1), Audit()
        state.discover(0, np.zeros(1))
        for row in range(1, n_learnt):
            state.add_member(row, 0)
        for row in audited:
            state.add_member(row, 0)
            audit.add(row, 0)
        for row in refused:
            audit.add_refused(row, [0])
        predictor = SimpleNamespace(
            doubts=lambda: doubts, clusters_of=lambda rows: np.zeros(rows.size, dtype=np.intp)
        )
        learner = SimpleNamespace(
            state=state,
            audit=audit,
            points=SimpleNamespace(n=doubts.size),
            params=SimpleNamespace(stop="certified", tolerance=0.05),
            scheduler=SimpleNamespace(discovery_rate=0.0),
            model=SimpleNamespace(predictor=predictor),
        )
        certification = Certification(learner)
        certification.begin_wave(1)
        return certification

    def test_an_audited_row_has_its_turn_as_any_other(self):
        """Else doubtful rows would gather in the audit, which would be no uniform sample any more."""
        doubts = np.array([0.0, 0.1, 0.3, 0.9, 0.5])
        certification = self.certification(doubts, audited=[3], refused=[4])
        assert [certification.draw_doubtful() for _ in range(5)] == [3, 4, 2, 1, -1]

    def test_no_row_is_left_to_doubt(self):
        """Of all that were audited only a founder is left, which counts as wrong."""
        certification = self.certification(np.zeros(3), audited=[], n_learnt=3)
        certification._learner.audit.add_founder()
        certification.begin_wave(1)
        assert certification.draw_doubtful() == -1

    def test_audits_first_until_a_row_is_wrong(self):
        """Whatever the model doubts: those rows have to be audited anyway."""
        doubts = np.full(500, 0.2)
        assert self.certification(doubts, range(100, 110), n_learnt=60).should_audit()
        assert not self.certification(doubts, range(100, 110), [110], n_learnt=60).should_audit()

    def test_learns_as_ever_while_a_row_teaches_about_many_others(self):
        """A model of few rows that is often wrong is no use to audit, nor are its most doubtful rows."""
        doubts, wrong = np.full(3_000, 0.3), range(210, 220)
        assert not self.certification(doubts, range(200, 210), wrong, n_learnt=40).is_due
        assert self.certification(
            doubts, range(1600, 1610), range(1610, 1620), n_learnt=1500
        ).is_due
