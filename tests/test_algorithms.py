"""The algorithms by hand: who is asked first, how much is drawn, what is recovered, when it ends."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from math import floor, log

import numpy as np
import pytest
from scipy.stats import chisquare

from conftest import CountingPoints, Expert, answer, assert_recovered, blobs, keys
from samekind import DIFFERENT, SAME, UNSURE, LabelOracle, Session, solve
from samekind.algorithms import (
    GIVEN_UP,
    UNKNOWN,
    ClusterState,
    PaperParams,
    classify,
    find_algorithm,
)
from samekind.algorithms.paper.exact import heavy_bands
from samekind.algorithms.paper.quiet_test import is_quiet
from samekind.flow import Reply, drive
from samekind.points import ArrayPoints


def three_kinds():
    """Return kinds 0, 1, 2 at 0, 10 and 20, each known by the row of its number."""
    kinds = ClusterState(1)
    for row in range(3):
        kinds.discover(row, np.array([10.0 * row]))
    return kinds


def make(name, X, seed=0, **parameters):
    """Return an algorithm that is about to run."""
    algorithm = find_algorithm(name)
    params = algorithm.Params.make(name, parameters)
    return algorithm(ArrayPoints(X), params, np.random.default_rng(seed))


def converse(flow, replies):
    """Answer a flow's waves with scripted replies; return the waves and what it returned."""
    waves, replies = [next(flow).tolist()], iter(replies)
    try:
        while True:
            waves.append(flow.send(Reply(np.array(next(replies), dtype=np.int8))).tolist())
    except StopIteration as end:
        return waves, end.value


class TestClassify:
    def ask(self, positions, replies, kinds=None, grow=True, **options):
        rows, X = np.arange(3, 3 + len(positions)), np.array(positions)[:, None]
        flow = classify(rows, X, kinds or three_kinds(), PaperParams(**options), grow=grow)
        return converse(flow, replies)

    def test_nearest_centre_first(self):
        waves, found = self.ask([14.0], [[0], [0], [1]])
        assert waves == [[[3, 1]], [[3, 2]], [[3, 0]]]
        assert found.labels.tolist() == [0]
        assert found.n_asked.tolist() == [3]

    def test_in_the_order_of_discovery(self):
        waves, found = self.ask([19.0], [[0], [0], [1]], order="index")
        assert waves == [[[3, 0]], [[3, 1]], [[3, 2]]]
        assert found.labels.tolist() == [2]

    def test_a_wave_for_several_rows(self):
        """Row 3 is of kind 2, row 4 new, row 5 of the same new kind as 4."""
        kinds = three_kinds()
        waves, found = self.ask([19.0, 1.0, 11.0], [[1, 0, 0], [0, 0], [0, 0], [1]], kinds)
        assert waves == [
            [[3, 2], [4, 0], [5, 1]],
            [[4, 1], [5, 2]],
            [[4, 2], [5, 0]],
            [[5, 4]],
        ]
        assert found.labels.tolist() == [2, 3, 3]
        assert found.n_asked.tolist() == [1, 3, 4]
        assert kinds.members == [[0], [1], [2, 3], [4, 5]]

    def test_two_new_kinds_in_one_wave(self):
        waves, found = self.ask([0.0, 1.0], [[0, 0], [0, 0], [0, 0], [0]])
        assert waves[-1] == [[4, 3]]
        assert found.labels.tolist() == [3, 4]

    def test_unsure_asks_the_next_member(self):
        kinds = three_kinds()
        kinds.add_members(np.array([7, 8]), np.array([0, 0]))
        waves, found = self.ask([1.0], [[UNSURE], [UNSURE], [SAME]], kinds)
        assert waves == [[[3, 0]], [[3, 7]], [[3, 8]]]
        assert found.labels.tolist() == [0]

    def test_patience_ends(self):
        kinds = three_kinds()
        kinds.add_members(np.array([7, 8]), np.array([0, 0]))
        waves, found = self.ask([1.0], [[UNSURE], [UNSURE]], kinds, patience=2)
        assert waves == [[[3, 0]], [[3, 7]]]
        assert found.labels.tolist() == [GIVEN_UP]
        assert kinds.given_up == [3]

    def test_half_refused_rows_found_no_kind(self):
        waves, found = self.ask([1.0], [[UNSURE], [DIFFERENT], [DIFFERENT]])
        assert waves == [[[3, 0]], [[3, 1]], [[3, 2]]]
        assert found.labels.tolist() == [GIVEN_UP]

    def test_without_growing(self):
        kinds = three_kinds()
        waves, found = self.ask([1.0], [[0], [0], [0]], kinds, grow=False)
        assert len(waves) == 3
        assert found.labels.tolist() == [UNKNOWN]
        assert len(kinds) == 3


def test_rows_in_clusters_and_rows_given_up_are_counted_apart():
    kinds = three_kinds()
    kinds.add_member(7, 0)
    kinds.give_up(8)
    assert (len(kinds.given_up), kinds.n_closed) == (1, 5)


class TestToys:
    X = np.array([[0.0], [1.0]])

    @pytest.mark.parametrize("algorithm", ["uniform", "basic", "batched"])
    @pytest.mark.parametrize(("said", "centers"), [(SAME, [[0.5]]), (DIFFERENT, [[0.0], [1.0]])])
    def test_two_rows(self, algorithm, said, centers):
        session = Session(self.X, algorithm, random_state=0)
        assert keys(session.pending()) == [(0, 1)]
        session.tell(session.pending(), [said])
        found = session.clusters()
        assert found.stop_reason_ == "exhausted"
        assert found.n_questions_ == 1
        assert sorted(found.centers_.tolist()) == centers

    def test_a_target_beyond_what_there_is(self):
        found = solve(self.X, LabelOracle([0, 1]), target=100, random_state=0)
        assert (found.n_recovered_, found.stop_reason_) == (2, "exhausted")

    @pytest.mark.parametrize(
        ("order", "expected"),
        [
            ("index", [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1]]),
            ("nearest", [[1, 0], [2, 1], [2, 0], [3, 1]]),
        ],
    )
    @pytest.mark.parametrize("algorithm", ["uniform", "basic", "batched"])
    def test_the_whole_conversation(self, algorithm, order, expected):
        """Rows 0, 1, 2, 3 are drawn in turn; 3 is of the kind of 1, and next to it."""
        points = ArrayPoints([[0.0], [10.0], [20.0], [11.0]])
        sampler, script = points.sampler(), cycle(range(4))
        sampler.draw = lambda uniforms: np.array([next(script) for _ in uniforms])
        points.sampler = lambda: sampler
        expert = Expert([0, 1, 2, 1])
        found = answer(Session(points, algorithm, order=order, random_state=0), expert).clusters()
        assert [wave.tolist() for wave in expert.waves] == [[pair] for pair in expected]
        assert [members.tolist() for members in found.members_] == [[0], [1, 3], [2]]
        assert found.centers_.tolist() == [[0.0], [10.5], [20.0]]
        assert found.history_["questions"].tolist() == list(range(len(expected) + 1))
        assert found.history_["discovered"][-1] == 3
        assert found.n_samples_ == 4


class TestChoices:
    @pytest.mark.parametrize(
        ("counts", "expected"),
        [
            ({0: 10}, [0]),
            ({0: 5, 1: 5}, [0, 1]),  # p = 1/2 belongs to band 2
            ({4: 60, 7: 39, 9: 1}, [4, 7]),  # 1 % < 1/(9 log2 3)
            ({0: 95, 1: 5}, [0]),  # 5 % < 1/9
            ({0: 8, 1: 1}, [0, 1]),  # exactly 1/9
            ({0: 50} | dict.fromkeys(range(1, 51), 1), list(range(51))),  # heavy only together
        ],
    )
    def test_heavy_bands(self, counts, expected):
        assert heavy_bands(Counter(counts)) == expected

    def kinds(self, *n_uniform, recovered=()):
        kinds = ClusterState(1)
        for row, count in enumerate(n_uniform):
            kinds.discover(row, np.zeros(1))
            kinds.n_uniform[row] = count
        kinds.recover(recovered)
        return kinds

    @pytest.mark.parametrize(
        ("n_uniform", "n_draws", "recovered", "basic", "batched"),
        [
            ((10, 10), (90, 10), (), [], []),
            ((11, 10), (20, 19), (), [0], [0]),  # 20 of 39 is more than half
            ((11, 11), (20, 30), (), [1], [0, 1]),
            ((11, 5, 5), (20, 10, 10), (), [0], []),  # 20 of 40 is not
            ((11, 5, 5), (21, 10, 10), (), [0], [0]),  # draws count, not what was kept of them
            ((11, 11, 5), (99, 20, 5), (0,), [1], [1]),  # the recovered do not count
            ((11, 11), (20, 20), (0, 1), [], []),
        ],
    )
    def test_whom_to_recover(self, n_uniform, n_draws, recovered, basic, batched):
        for name, expected in (("basic", basic), ("batched", batched)):
            algorithm = make(name, np.zeros((1, 1)))
            algorithm.state = self.kinds(*n_uniform, recovered=recovered)
            heavy = algorithm.state.unrecovered_heavy(algorithm.params.heavy)
            drawn = Counter(dict(enumerate(n_draws)))
            assert (algorithm.choose(heavy, drawn) if heavy else []) == expected


class TestGivenUp:
    """A draw of a row that nobody can tell does not show that nothing is left."""

    X, y = blobs((540, 360, 100), gap=30.0)

    def solve(self, algorithm, hard, **options):
        """Return what is found if nobody can tell the rows that are `hard`."""

        def oracle(pairs):
            answers = LabelOracle(self.y)(pairs)
            return np.where(hard[pairs].any(axis=1), UNSURE, answers).astype(np.int8)

        options = {"random_state": 0, "batch": "auto", **options}
        return solve(self.X, oracle, algorithm=algorithm, **options)

    @pytest.mark.parametrize(
        ("algorithm", "options"),
        [
            ("basic", {"epsilon": 0.1}),
            ("batched", {"epsilon": 0.1}),
            ("basic-exact", {}),
            ("noisy-exact", {"error_rate": 0.0}),
        ],
    )
    def test_a_far_cluster_that_nobody_can_tell_is_not_reducible(self, algorithm, options):
        """P4, P18: nothing is promised of it."""
        found = self.solve(algorithm, self.y == 2, **options)
        assert found.stop_reason_ == "unplaced"
        assert found.n_recovered_ == 2
        assert any("nobody could tell" in note for note in found.notes_)

    @pytest.mark.parametrize("algorithm", ["basic", "basic-exact"])
    def test_a_row_that_holds_little_of_the_cost_does_not_matter(self, algorithm):
        hard = np.arange(len(self.y)) == np.flatnonzero(self.y == 0)[0]
        found = self.solve(algorithm, hard, epsilon=0.5)
        assert found.stop_reason_ == "reducible"
        assert found.n_recovered_ == 3
        assert not any("nobody could tell" in note for note in found.notes_)

    def test_errors_are_as_rare_as_promised(self):
        """A tenth of the draws are outside or given up, and ε/4 is a tenth."""
        rng = np.random.default_rng(0)
        given_up = rng.random((20_000, 400)) < 0.1
        counts = given_up.cumsum(axis=1)
        for g in range(4):
            needed = next(n for n in range(1, 400) if is_quiet(n, g, 0.4, t=1))
            assert (counts[:, needed - 1] <= g).mean() <= 0.01


@pytest.mark.parametrize("algorithm", ["basic", "basic-exact"])
@pytest.mark.parametrize(("epsilon", "is_proven"), [(0.5, True), (0.79, True), (0.8, False)])
def test_reducible_beyond_what_is_proven_is_noted(algorithm, epsilon, is_proven):
    X, y = blobs((60, 40))
    found = solve(X, LabelOracle(y), algorithm=algorithm, epsilon=epsilon, random_state=0)
    assert found.stop_reason_ == "reducible"
    assert any("proof" in note for note in found.notes_) != is_proven


@pytest.mark.parametrize(("y", "is_noted"), [([0] * 6, False), ([0, 0, 0, 1, 1, 1], True)])
def test_a_round_that_recovers_more_than_the_guess_of_k_is_noted(y, is_noted):
    X = np.arange(6.0)[:, None]
    options = {"epsilon": 0.7, "random_state": 0, "batch": "auto"}
    found = solve(X, LabelOracle(y), algorithm="improved-exact", **options)
    assert any("K was guessed as 1" in note for note in found.notes_) == is_noted


class TestExactConstants:
    """The number of draws at the end of each phase, for one kind or two."""

    def draws(self, algorithm, y, epsilon):
        points = CountingPoints(np.arange(float(len(y)))[:, None])
        session = Session(points, algorithm, epsilon=epsilon, random_state=0)
        found = answer(session, Expert(y)).clusters()
        rounds = points.draws_by_round()
        assert sum(map(sum, rounds)) == found.n_samples_
        assert len(rounds) == found.n_rounds_
        assert found.stop_reason_ == "reducible"
        return [set(np.cumsum(sizes).tolist()) for sizes in rounds]

    @pytest.mark.parametrize("epsilon", [0.5, 1.0])
    def test_basic(self, epsilon):
        first, last = self.draws("basic-exact", [0] * 5, epsilon)
        assert {1, floor(96 * log(10) / epsilon) + 1} <= first
        assert floor(2**12 * log(10) / epsilon**2) + 1 in first
        assert max(last) == floor(8 / epsilon * log(20)) + 1

    def test_basic_with_two_kinds(self):
        first, second, last = self.draws("basic-exact", [0, 0, 0, 1, 1], 1.0)
        assert {floor(96 * 2 * log(20)) + 1, floor(2**12 * 2 * log(20)) + 1} <= first
        assert {floor(96 * log(20)) + 1, floor(2**12 * log(20)) + 1} <= second
        assert max(last) == floor(8 * log(30)) + 1

    def test_improved(self):
        first, last = self.draws("improved-exact", [0] * 5, 1.0)
        assert {1, floor(1600 * log(10)) + 1, floor(2**17 * log(10)) + 1} <= first
        assert max(last) == floor(8 * log(20)) + 1


class Watched(ClusterState):
    """Notes the uniform samples of each kind."""

    def __init__(self, d):
        super().__init__(d)
        self.samples = {}

    def add_uniform(self, kind, x):
        self.samples.setdefault(kind, []).append(float(x[0]))
        super().add_uniform(kind, x)

    def set_uniform(self, kind, samples):
        self.samples[kind] = []
        super().set_uniform(kind, samples)


@pytest.mark.parametrize(("algorithm", "options"), [("basic-exact", {}), ("basic", {"heavy": 500})])
def test_rejection_sampling_is_uniform_within_a_cluster(algorithm, options):
    """A far cluster whose rows' costs differ by a factor of nine, drawn by D² from a near one."""
    far = np.linspace(5, 15, 200)
    X = np.concatenate([np.linspace(-0.01, 0.01, 3800), far])[:, None]
    y = np.repeat([0, 1], [3800, 200])
    run, kinds = make(algorithm, X, seed=1, target=2, batch=64, **options), Watched(1)
    run.state = kinds
    reason = drive(run.run(), LabelOracle(y))
    assert reason == "target"
    samples = next(s for kind, s in kinds.samples.items() if y[kinds.members[kind][0]] == 1)
    assert len(samples) >= 500
    seen = np.histogram(samples, bins=10, range=(5, 15))[0]
    assert chisquare(seen).pvalue > 0.01
    by_cost = [np.sum(part**2) for part in far.reshape(10, 20)]
    assert chisquare(seen, np.array(by_cost) * sum(seen) / sum(by_cost)).pvalue < 1e-6


def test_d2_sampling_finds_the_small_far_cluster():
    """Ten rows in 5,010: UNIFORM hardly sees them, BASIC recovers them."""
    X, y = blobs((5000, 10), gap=1000.0)
    options = {"budget": 300, "random_state": 0, "batch": 1, "epsilon": None}
    assert_recovered(solve(X, LabelOracle(y), algorithm="basic", **options), X, y)
    assert solve(X, LabelOracle(y), algorithm="uniform", **options).n_recovered_ == 1


class TestStopReasons:
    X, y = blobs((300, 200))

    @pytest.mark.parametrize(
        ("X", "options", "reason"),
        [
            (X, {}, "reducible"),
            (np.round(X), {}, "covered"),
            (X, {"epsilon": None}, "exhausted"),
            (X, {"target": 1}, "target"),
            (X, {"budget": 5}, "budget"),
        ],
    )
    def test_each(self, X, options, reason):
        found = solve(X, LabelOracle(self.y), algorithm="basic", random_state=0, **options)
        assert found.stop_reason_ == reason
