"""`focused` from the inside: a toy worked by hand, the graph, two ways to one state, and P(same)."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from samekind import DIFFERENT, SAME, Session
from samekind.algorithms.focused import focused as module
from samekind.algorithms.focused import terrain, value
from samekind.algorithms.focused.labels import labels_of_rows
from samekind.algorithms.focused.same import PRIOR, features, fit_same, sigmoid
from samekind.points import ArrayPoints
from test_focused import mixture, run_of

# The example of docs/algorithms.md: rows on a line, two groups A = {0, 1} and B = {9, 10}.
TOY = [0, 1, 2, 6, 9, 10]
TOLD = [(0, 1), (4, 5), (0, 5)], [SAME, SAME, DIFFERENT]
# Two heaps that refuse each other, and a row halfway between them, which settles most.
HALFWAY = [0, 1, 2, 3, 4, 7, 10, 11, 12, 13, 14]
APART = [(2, 8)], [DIFFERENT]


def told(row_places, pairs, answers):
    """Return a session on a line that was told some answers."""
    session = Session(np.array(row_places, dtype=float)[:, None], goal="labels", random_state=0)
    session.learn(pairs, answers)
    return session


def transitions(terrain):
    """Return the chances of one step between any two nodes."""
    P = np.zeros((len(terrain.rows),) * 2)
    for node, (start, end) in enumerate(
        zip(terrain.out.first[:-1], terrain.out.first[1:], strict=True)
    ):
        P[node, terrain.out.to[start:end]] = terrain.out.step[start:end]
    return P


def dense(state):
    """Return the share of every group in every node's walk."""
    found = np.zeros((state.n, state.n_groups))
    node, slot = np.nonzero(state.shares > 0)
    found[node, state.ids[node, slot]] = state.shares[node, slot]
    return found


def solved(state):
    """Return the fresh nodes, and where walks from them end: (I - P_uu)^-1 P_ul times what is known."""
    P, fresh = transitions(state.terrain), state.group < 0
    inner = np.eye(fresh.sum()) - P[np.ix_(fresh, fresh)]
    ends = P[np.ix_(fresh, ~fresh)] @ dense(state)[~fresh]
    return np.flatnonzero(fresh), np.linalg.solve(inner, ends)


def doubts(state, belief):
    """Return 1 - P(same) of each row with its likeliest group, by the prior weights."""

    def logit(share):
        return np.log((share + 0.01) / (1 - share + 0.01))

    reached = belief.sum(axis=1)
    share = (belief.max(axis=1) + 0.02) / (reached + 0.02)
    lone = state.size[belief.argmax(axis=1)] == 1
    return 1 / (1 + np.exp(1.5 + logit(share) - 0.5 * logit(1 - reached) - lone))


def values(state):
    """Return the doubt that each fresh row's label would end: its own, and that of walks that meet it."""
    fresh, belief = solved(state)
    P, doubt = transitions(state.terrain), doubts(state, belief)
    found = {}
    for place, node in enumerate(fresh.tolist()):
        rest = np.delete(fresh, place)
        meets = np.linalg.solve(np.eye(rest.size) - P[np.ix_(rest, rest)], P[rest, node])
        found[node] = doubt[place] + meets @ np.delete(doubt, place)
    return found


@pytest.fixture
def by_value_alone(monkeypatch):
    """No far draws, no luck: the best question is asked."""
    monkeypatch.setattr(module, "FAR", {"labels": 0.0, "centers": 0.0})
    monkeypatch.setattr(value, "LUCK", 0.0)


class TestToy:
    def test_as_in_the_documentation(self):
        state = told(TOY, *TOLD)._run._state
        assert [sorted(own) for own in state.members if own] == [[0, 1], [4, 5]]
        fresh, belief = solved(state)
        assert fresh.tolist() == [2, 3]
        order = state.group[[0, 5]]
        np.testing.assert_allclose(belief[:, order], [[0.614, 0.361], [0.452, 0.523]], atol=6e-4)
        np.testing.assert_allclose(doubts(state, belief), [0.024, 0.034], atol=6e-4)
        np.testing.assert_allclose(list(values(state).values()), [0.030, 0.039], atol=1e-3)

    @pytest.mark.parametrize(("rows", "answers"), [(TOY, TOLD), (HALFWAY, APART)])
    def test_the_walk_is_a_linear_system(self, rows, answers):
        state = told(rows, *answers)._run._state
        fresh, belief = solved(state)
        np.testing.assert_allclose(dense(state)[fresh], belief, atol=3e-3)
        np.testing.assert_allclose(state.doubt[fresh], doubts(state, belief), rtol=0.02)

    @pytest.mark.usefixtures("by_value_alone")
    @pytest.mark.parametrize(
        ("rows", "answers", "asked"), [(TOY, TOLD, 3), (HALFWAY, APART, 5)], ids=["toy", "halfway"]
    )
    def test_the_next_question_puts_most_rows_right(self, rows, answers, asked):
        session = told(rows, *answers)
        worth = values(session._run._state)
        assert max(worth, key=worth.get) == asked
        [(row, member)] = session.pending()
        assert row == asked
        likeliest = session._run._state.likeliest[row]
        assert session.places_of([member]) == [likeliest]

    @pytest.mark.usefixtures("by_value_alone")
    def test_a_refused_row_passes_on_what_remains_likely(self):
        """It ends walks in a group of its own, and in what did not refuse it."""
        state = told(HALFWAY, [(2, 8), (2, 5)], [DIFFERENT, DIFFERENT])._run._state
        lone, refused, open_one = state.group[[5, 2, 8]]
        share = dense(state)[5]
        assert share[refused] < 1e-6 < share[open_one] < 1
        assert share[[lone, open_one]].sum() == pytest.approx(1)


class TestParity:
    """The live state, which follows answers one by one, and the one derived from all at once."""

    @pytest.mark.parametrize("goal", ["labels", "centers"])
    @pytest.mark.parametrize("seed", range(2))
    def test_live_is_derived(self, goal, seed):
        """P6: what is derived live is what all answers say."""
        X, y = mixture(seed=seed)
        run = run_of(X, y, seed, budget=250, goal=goal)._run
        live, derived = run._state, run.derived()
        groups = [{frozenset(own) for own in state.members if own} for state in (live, derived)]
        assert groups[0] == groups[1]
        number = {int(live.group[own[0]]): g for g, own in enumerate(derived.members)}
        labels = [number[g] for g in labels_of_rows(live, run.points).tolist()]
        assert (labels != labels_of_rows(derived, run.points)).mean() <= 0.02
        for state in (live, derived):
            assert state.shares.sum(axis=1).max() <= 1 + 1e-4
            assert state.total.max() <= 1 + 1e-6


class TestSame:
    """P(same), from synthetic answers."""

    W = np.array([1.0, 1.4, -0.3, -0.2, -1.0, 0.3, 0.4, -1.0])

    def answers(self, rates, m=3000, seed=0):
        rng = np.random.default_rng(seed)
        parts = [
            features(*rng.random(2), group=bool(rng.integers(2)), members=rng.integers(1, 9))
            for _ in range(m)
        ]
        phi, net, who = np.array(parts), rng.integers(-1, 2, m), rng.integers(len(rates), size=m)
        rate = np.mean(rates)
        truth = rng.random(m) < sigmoid(phi @ self.W + np.log((1 - rate) / rate) * net)
        return phi, net, truth ^ (rng.random(m) < np.array(rates)[who]), who, np.ones(m)

    @pytest.mark.parametrize("rate", [0.02, 0.1])
    def test_weights_and_rate_are_found(self, rate):
        """P18: with the error rate that they are found by."""
        fits = [fit_same(*self.answers([rate], seed=seed), told=None) for seed in range(5)]
        assert np.mean([same.rate for same in fits]) == pytest.approx(rate, rel=0.2)
        np.testing.assert_allclose(np.mean([s.w[:5] for s in fits], axis=0), self.W[:5], atol=0.3)
        for same in fits:
            np.testing.assert_allclose(same.w[5:], PRIOR[5:])  # nothing was seen of them
            assert same.says == pytest.approx(np.log((1 - same.rate) / same.rate))

    def test_one_of_two_answers_at_random(self):
        same = fit_same(*self.answers([0.02, 0.5]), told=None)
        assert same.rates[0] < 0.08
        assert same.rates[1] > 0.4
        good, bad, stranger = same.says_of(np.array([0, 1, 7]))
        assert good > 3 * abs(bad)
        assert stranger == pytest.approx(same.says)


class TestNeighbors:
    """Of up to 15 columns by a tree, of more by products."""

    @staticmethod
    def found(X, k=10):
        sample = terrain.map_terrain(ArrayPoints(X), 0).sample
        assert sample.rows.tolist() == list(range(len(X)))
        return terrain.nearest_neighbors(ArrayPoints(X), sample, k)

    def test_any_number_of_threads(self):
        """P27: neighbours by products."""
        X = np.random.default_rng(0).integers(0, 2, size=(500, 30)).astype(float)
        results = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                results.append(self.found(X)[1])
        np.testing.assert_array_equal(*results)
