"""What follows from answers: against the closure of a small matrix, and in bulk."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, UNSURE
from samekind.ledger.inference import Explainer, Implications, Statement

N = 8
UNKNOWN = -2

pairs = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
statements = st.builds(
    lambda pair, answer: Statement(*pair, answer, "ann"), pairs, st.sampled_from([SAME, DIFFERENT])
)


def closure(said):
    """Return what follows for all pairs, as a matrix, or None if the statements contradict."""
    same = np.eye(N, dtype=bool)
    differ = np.zeros((N, N), dtype=bool)
    for a, b, answer, _ in said:
        for i, j in ((a, b), (b, a)):
            (same if answer == SAME else differ)[i, j] = True
    for k in range(N):
        same |= np.outer(same[:, k], same[k])
    differ = same @ differ @ same
    if (same & differ).any():
        return None
    return np.where(same, SAME, np.where(differ, DIFFERENT, UNKNOWN))


def explain(held, last):
    explainer = Explainer()
    for statement in held:
        explainer.hold(statement)
    return explainer.explain(last)


class TestImplications:
    """P4: what follows from other answers, beside a plain closure of all pairs."""

    @given(st.lists(statements, max_size=40), st.integers(1, 40))
    def test_against_the_closure(self, said, chunk):
        known, held, conflicting, expected = Implications(), [], [], []
        for start in range(0, len(said), chunk):
            some = said[start : start + chunk]
            found = known.add(
                np.array([s[:2] for s in some]), np.array([s.answer for s in some], dtype=np.int8)
            )
            conflicting += (found + start).tolist()
        for i, statement in enumerate(said):
            if closure([*held, statement]) is None:
                expected.append(i)
            else:
                held.append(statement)
        assert conflicting == expected
        everything = np.argwhere(np.ones((N, N)))
        got = known.get(everything, UNKNOWN)
        np.testing.assert_array_equal(got.reshape(N, N), closure(held))

    def test_unsure_says_nothing(self):
        known = Implications()
        assert known.add(np.array([[0, 1]]), np.array([UNSURE], dtype=np.int8)).size == 0
        assert known.get(np.array([[0, 1]]), UNKNOWN).tolist() == [UNKNOWN]


class TestExplain:
    """P4: the pairs involved, and no others."""

    def test_by_hand(self):
        said = [
            Statement(0, 1, SAME, "ann"),
            Statement(1, 2, SAME, "ann"),
            Statement(2, 3, SAME, "bob"),
            Statement(1, 3, SAME, "bob"),
        ]
        last = Statement(3, 0, DIFFERENT, "cy")
        found = explain(said, last)
        assert found.statements == (said[3], said[0], last)
        assert found.pairs == ((1, 3), (0, 1), (3, 0))
        assert str(found) == "1 = 3 (bob), 0 = 1 (ann), 3 ≠ 0 (cy)"

    @given(st.lists(statements, max_size=9), statements)
    def test_gives_the_fewest_statements_that_contradict(self, said, last):
        held = []
        for statement in said:
            if closure([*held, statement]) is not None:
                held.append(statement)
        if closure([*held, last]) is not None:
            return
        chain = explain(held, last).statements
        assert chain[-1] == last
        assert set(chain[:-1]) <= set(held)
        assert closure(chain) is None
        for fewer in combinations(held, len(chain) - 2):
            assert closure([*fewer, last]) is not None
