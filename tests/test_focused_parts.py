"""The parts of `focused`, by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from conftest import blobs
from samekind.algorithms.focused import FocusedParams
from samekind.algorithms.focused._kernels import lda_scores
from samekind.algorithms.focused.cluster_model import ClusterModel
from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.algorithms.focused.constants import (
    DISCRIMINANT,
    FEATURE_LIMITS,
    GRAPH,
    NEARNESS,
    NEW,
    PRIOR_DEVIATIONS,
    PRIOR_SURPRISE,
    PRIOR_WEIGHTS,
    WALK_ON,
)
from samekind.algorithms.focused.graph_predictor import LabelPropagation
from samekind.algorithms.focused.recovery import PurityTrials
from samekind.algorithms.focused.scheduler import AimScheduler
from samekind.algorithms.focused.scoring import ConditionalLogit, LinearDiscriminant
from samekind.points import ArrayPoints

NEITHER = np.zeros(3)

PRIOR = PRIOR_WEIGHTS["explore"]


class TestClusterPairs:
    def three(self):
        """Return clusters 0, 1, 2, each with a row, none of which refused another."""
        pairs = ClusterPairs()
        for cluster, probabilities in enumerate([[], [0.2], [0.1, 0.6]]):
            pairs.add_cluster()
            pairs.add_member(cluster, np.array(probabilities), [])
        return pairs

    def test_the_most_similar_pair_comes_first(self):
        pairs = self.three()
        assert pairs.unproven() == [(1, 2), (0, 1), (0, 2)]
        ((similarity, a, b),) = pairs.most_similar()
        assert (similarity, {a, b}) == (pytest.approx(0.6), {1, 2})
        ((similarity, a, b),) = pairs.most_similar(0)
        assert (similarity, {a, b}) == (pytest.approx(0.2), {0, 1})

    def test_some_pairs_at_once(self):
        pairs = self.three()
        assert [pair for _, *pair in pairs.most_similar(size=2)] == [[1, 2], [0, 1]]
        assert len(pairs.most_similar(size=9)) == 3
        pairs.separate(0, 1)
        assert pairs.most_similar(size=2)[0][1:] == (1, 2)
        assert (pairs.is_open(0, 1), pairs.is_open(0, 2)) == (False, True)

    def test_the_refused_are_different(self):
        pairs = self.three()
        pairs.add_member(2, np.array([0.1, 0.6]), [1])
        assert pairs.unproven() == [(0, 1), (0, 2)]
        pairs.separate(1, 0)
        pairs.separate(0, 2)
        assert pairs.unproven() == []
        assert pairs.most_similar() == []

    def test_what_was_different_from_one_is_different_from_both(self):
        pairs = self.three()
        pairs.separate(0, 2)
        pairs.merge(1, 2)
        assert pairs.unproven() == []

    def test_what_was_open_to_both_stays_open(self):
        pairs = self.three()
        pairs.merge(0, 2)
        assert pairs.unproven() == [(0, 1)]
        assert pairs.most_similar()[0][0] == pytest.approx(0.6)  # of the more similar one

    def test_the_merged_are_asked_about_no_more(self):
        pairs = self.three()
        pairs.merge(0, 1)
        pairs.add_cluster()
        pairs.add_member(3, np.array([0.5, 0.0, 0.1]), [])
        assert pairs.unproven() == [(0, 2), (0, 3), (2, 3)]

    def test_the_undecidable_stay_unproven_but_are_not_asked_about(self):
        pairs = self.three()
        pairs.mark_undecidable(1, 2)
        assert (1, 2) in pairs.unproven()
        assert set(pairs.most_similar()[0][1:]) == {0, 1}
        pairs.separate(2, 1)  # somebody could tell after all
        assert (1, 2) not in pairs.unproven()

    def test_many_clusters(self):
        pairs = ClusterPairs()
        for cluster in range(40):
            pairs.add_cluster()
            pairs.add_member(cluster, np.zeros(cluster), list(range(0, cluster, 2)))
        expected = {(a, b) for a, b in combinations(range(40), 2) if a % 2}
        assert set(pairs.unproven()) == expected


class TestConditionalLogit:
    def utilities(self, logit, *features):
        return np.array(features, dtype=float) @ logit.weights[:NEW]

    def test_near_clusters_are_likelier(self):
        near, far = self.utilities(ConditionalLogit(PRIOR), [0, 0, 0, 0], [-1, 0, 0, 0])
        assert near > far

    def test_far_rows_are_likelier_new(self):
        here, far = np.array([[1.0, -1, 0], [1, 1, 0]]) @ ConditionalLogit(PRIOR).weights[NEW:]
        assert far > here

    @pytest.mark.parametrize("target", [0, -1])
    def test_one_step_by_hand(self, target):
        """One cluster without features against "new" with its constant: a logistic regression."""
        logit = ConditionalLogit(PRIOR)
        logit.learn(np.zeros((1, 4)), np.array([1.0, 0, 0]), np.array([True]), target)
        share = 1 / (1 + np.exp(-PRIOR[NEW]))
        step = ((target < 0) - share) / (PRIOR_DEVIATIONS[NEW] ** -2 + share * (1 - share))
        expected = PRIOR.copy()
        expected[NEW] += step
        np.testing.assert_allclose(logit.weights, expected)

    def test_relies_on_the_feature_that_proves_right(self):
        """The nearest cluster is always wrong, the graph's always right."""
        logit = ConditionalLogit(PRIOR)
        features = np.zeros((2, 4))
        features[:, NEARNESS], features[:, GRAPH] = [0, -1], [-3, 0]
        alive = np.array([True, True])
        for _ in range(60):
            logit.learn(features, NEITHER, alive, 1)
        nearest, of_graph = features @ logit.weights[:NEW]
        assert of_graph > nearest + 2

    def test_no_feature_counts_against_what_it_says(self):
        logit = ConditionalLogit(PRIOR)
        features = np.zeros((2, 4))
        features[:, [NEARNESS, DISCRIMINANT, GRAPH]] = [[0], [-3]]
        for _ in range(200):
            logit.learn(features, NEITHER, np.array([True, True]), 1)
        assert (logit.weights[[NEARNESS, DISCRIMINANT, GRAPH]] >= 0).all()
        assert np.isfinite(logit.weights).all()

    def test_merged_clusters_have_no_say(self):
        rng = np.random.default_rng(0)
        features, of_new = rng.normal(size=(3, 4)), np.array([1.0, 0.5, -0.2])
        one, other = ConditionalLogit(PRIOR), ConditionalLogit(PRIOR)
        one.learn(features, of_new, np.array([True, False, True]), 2)
        other.learn(features[[0, 2]], of_new, np.array([True, True]), 1)
        np.testing.assert_allclose(one.weights, other.weights)


class TestLinearDiscriminant:
    def learnt(self, per_cluster=15):
        """Two clusters at (0, 0) and (0, 2), both ten times as wide in x as in y."""
        rng, discriminant = np.random.default_rng(0), LinearDiscriminant(2)
        for _ in range(per_cluster):
            for cluster in range(2):
                discriminant.learn(rng.normal(size=2) * (5.0, 0.5) + (0, 2 * cluster), cluster)
        return discriminant

    def scores(self, discriminant, X, n_clusters):
        out = np.empty((len(X), n_clusters))
        lda_scores(np.array(X, dtype=float), discriminant.params, FEATURE_LIMITS[0], out)
        return out

    def test_says_nothing_while_nothing_is_known(self):
        discriminant = LinearDiscriminant(2)
        assert self.scores(discriminant, np.ones((3, 2)), 0).shape == (3, 0)
        discriminant.learn(np.zeros(2), 0)
        assert not self.scores(discriminant, np.ones((3, 2)), 1).any()

    def test_knows_the_shape_of_the_clusters(self):
        """(8, 0) is far from both centres, and in line with that of cluster 0."""
        scores = self.scores(self.learnt(), [[8, 0], [-8, 2]], 2)
        assert scores.argmax(axis=1).tolist() == [0, 1]
        assert (scores <= 0).all()
        np.testing.assert_array_equal(scores.max(axis=1), 0)

    def test_a_cluster_discovered_since_is_neither_favoured_nor_excluded(self):
        discriminant = self.learnt()
        before = self.scores(discriminant, [[0.0, 0.0]], 2)[0]
        after = self.scores(discriminant, [[0.0, 0.0]], 3)[0]
        np.testing.assert_array_equal(after[:2], before)
        assert before.min() <= after[2] <= before.max()

    def test_merged_clusters(self):
        discriminant = self.learnt()
        discriminant.merge(0, 1)
        scores = self.scores(discriminant, [[0.0, 0.0], [0.0, 2.0]], 2)
        assert (scores[:, 0] >= scores[:, 1]).all()

    def test_identical_rows(self):
        discriminant = LinearDiscriminant(2)
        for cluster in [0, 1] * 10:
            discriminant.learn(np.array([float(cluster), 0.0]), cluster)
        scores = self.scores(discriminant, [[0.0, 0.0], [1.0, 0.0]], 2)
        assert np.isfinite(scores).all()
        assert scores.argmax(axis=1).tolist() == [0, 1]


class TestLabelPropagation:
    @pytest.mark.parametrize("d", [2, 40])  # searched in a tree, and by brute force
    def test_any_number_of_threads_makes_the_same_graph(self, d):
        """Many rows are equally near: which of them are taken must not be chance."""
        X = np.random.default_rng(0).integers(0, 2, size=(1_000, d)).astype(float)
        graphs = []
        for threads in (1, 2, 4):
            with threadpool_limits(threads):
                graphs.append(LabelPropagation(ArrayPoints(X))._edges[1])
        assert all(np.array_equal(graphs[0], graph) for graph in graphs)

    def test_between_two_labelled_rows(self):
        graph = LabelPropagation(ArrayPoints([[0.0], [1.0], [2.0]]))
        assert not graph.probabilities(2).any()
        graph.learn(0, 0)
        graph.learn(2, 1)
        expected = [[1, 0], [WALK_ON / 2, WALK_ON / 2], [0, 1]]
        np.testing.assert_allclose(graph.probabilities(2), expected, atol=2e-3)

    def two_blobs(self):
        X, y = blobs((30, 30), seed=3)
        return LabelPropagation(ArrayPoints(X)), y

    def test_no_label_reaches_a_blob_without_one(self):
        graph, y = self.two_blobs()
        graph.learn(int(np.flatnonzero(y == 0)[0]), 0)
        probabilities = graph.probabilities(1)[:, 0]
        assert not probabilities[y == 1].any()
        assert (probabilities[y == 0] > 0.2).all()
        assert (probabilities <= 1).all()

    def test_probabilities_add_up_to_no_more_than_one(self):
        graph, y = self.two_blobs()
        rows = np.random.default_rng(0).permutation(60)[:20]
        for cluster, row in enumerate(rows.tolist()):
            graph.learn(row, cluster)
        probabilities = graph.probabilities(20)
        assert probabilities.shape == (60, 20)
        assert probabilities.min() >= 0
        assert probabilities.sum(axis=1).max() <= 1 + 1e-5
        np.testing.assert_array_equal(probabilities[rows], np.eye(20))
        assert not probabilities[y == 0][:, y[rows] == 1].any()

    def test_merged_clusters_are_met_together(self):
        graph, _ = self.two_blobs()
        for cluster, row in enumerate([0, 1, 2]):
            graph.learn(row, cluster)
        before = graph.probabilities(3).copy()
        graph.merge(0, 2)
        after = graph.probabilities(3)
        np.testing.assert_allclose(after[:, 0], before[:, 0] + before[:, 2])
        assert not after[:, 2].any()

    @pytest.mark.parametrize("n", [3, 12, 40])
    def test_identical_rows(self, n):
        graph = LabelPropagation(ArrayPoints(np.full((n, 2), 0.1)))
        graph.learn(0, 0)
        assert np.isfinite(graph.probabilities(1)).all()
        assert (graph.probabilities(1).max(axis=0) <= 1).all()


class TestPurityTrials:
    def trials(self, *outcomes, n_clusters=3):
        trials = PurityTrials()
        for _ in range(n_clusters):
            trials.add_cluster()
        for predicted, cluster in outcomes:
            trials.add(predicted, cluster)
        return trials

    def test_fewer_foreign_rows_with_every_success(self):
        shares = [self.trials(*[(0, 0)] * made).foreign_share(0) for made in (0, 1, 5, 20, 60)]
        assert (np.diff(shares) < 0).all()
        assert shares[0] > 0.9
        assert shares[-1] < 0.1

    def test_more_with_every_failure(self):
        shares = [
            self.trials(*[(0, 0)] * (20 - wrong), *[(0, 1)] * wrong).foreign_share(0)
            for wrong in range(4)
        ]
        assert (np.diff(shares) > 0).all()

    def test_members_are_not_foreign(self):
        trials = self.trials(*[(0, 0)] * 10)
        assert trials.center_error(0, 100, 100) == 0
        assert trials.center_error(0, 100, 50) < trials.center_error(0, 100, 1)
        assert trials.center_error(0, 0, 0) == np.inf

    def test_a_quarter_is_confused(self):
        assert self.trials(*[(0, 0), (0, 1)] * 10).confused_with(0) == [1]
        assert self.trials(*[(0, 0), (0, 1)] * 3).confused_with(0) == []  # too few to say
        assert self.trials(*[(0, 0)] * 30, (0, 1)).confused_with(0) == []
        assert self.trials(*[(0, 0), (0, 1)] * 10).confused_with(1) == []

    def test_merging_forgives(self):
        trials = self.trials(*[(0, 1), (0, 0)] * 8)
        before = trials.foreign_share(0)
        trials.merge(0, 1)
        assert trials.confused_with(0) == []
        assert trials.foreign_share(0) < before
        trials = self.trials(*[(0, 2), (0, 0)] * 8)
        trials.merge(1, 2)
        assert trials.confused_with(0) == [1]

    def test_many_clusters(self):
        trials = self.trials((39, 39), (39, 5), n_clusters=40)
        assert trials.made[39] == 2
        assert trials.foreign_share(39) > trials.foreign_share(38) / 2


class TestClusterModel:
    @pytest.mark.parametrize("without", [(), ("graph",)])
    @pytest.mark.parametrize("goal", ["labels", "centers"])
    def test_counts_the_predicted_rows_where_no_centre_is_recovered(self, goal, without):
        X, y = blobs((300, 150, 50))
        model = ClusterModel(ArrayPoints(X), FocusedParams(goal=goal, without=without))
        for row in range(60):
            while y[row] >= model.scorer.n_clusters:
                model.scorer.add_cluster()
            model.learn(row, X[row], int(y[row]), surprising=True)
        sizes = model.scorer.sizes[:3].tolist()
        assert sizes == ([300, 150, 50] if goal == "labels" else [0, 0, 0])
        model.set_sizes(model.predictor.regions().counts)  # as when a centre is recovered
        assert model.scorer.sizes[:3].tolist() == [300, 150, 50]
        model.merge(0, 2)
        assert model.scorer.sizes[:3].tolist() == [350, 150, 0]

    def test_parts_of_one_blob_look_alike(self):
        """Two rows of one blob and one of another found clusters: the first two may well be one."""
        X, y = blobs((60, 60))
        model = ClusterModel(ArrayPoints(X), FocusedParams(goal="labels"))
        rows = [*np.flatnonzero(y == 0)[:2].tolist(), int(np.flatnonzero(y == 1)[0])]
        for cluster, row in enumerate(rows):
            model.scorer.add_cluster()
            model.learn(row, X[row], cluster, surprising=True)
        similarities = model.predictor.similarities()
        assert similarities[0, 1] == similarities[1, 0] > 0.3
        assert similarities[0, 1] > 5 * similarities[0, 2]
        assert model.predictor.similarities() is None  # nothing has changed


class TestAimScheduler:
    def test_questions_until_a_row_is_not_as_predicted(self):
        scheduler = AimScheduler("typical")
        assert scheduler.questions_to_surprise() == 1 / PRIOR_SURPRISE
        for _ in range(200):
            scheduler.spend("refine", 3)
            scheduler.learn("refine", 3, is_new=False, as_predicted=False)
            scheduler.spend("typical", 3)
            scheduler.learn("typical", 3, is_new=False, as_predicted=False)
        assert scheduler.questions_to_surprise() == pytest.approx(3, rel=0.02)
        for _ in range(200):
            scheduler.spend("refine", 1)
            scheduler.learn("refine", 1, is_new=False, as_predicted=True)
            scheduler.spend("typical", 1)
            scheduler.learn("typical", 1, is_new=False, as_predicted=True)
        assert scheduler.questions_to_surprise() > 100
