"""What follows from answers: against the closure of a small matrix, and in bulk."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, UNSURE
from samekind._intmap import IntMap
from samekind.flow import UNANSWERED
from samekind.ledger._latest import LatestAnswers
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

    @pytest.mark.parametrize("order", ["same first", "different first", "mixed"])
    @pytest.mark.parametrize("at_once", [True, False])
    def test_many_rows_in_any_order(self, order, at_once):
        rng = np.random.default_rng(0)
        n, k = 3000, 60
        rows = rng.permutation(2**31 - 1 - np.arange(n) * 700_000)  # large row numbers too
        kinds = rng.integers(k, size=n)
        heads = np.array([np.flatnonzero(kinds == kind)[0] for kind in range(k)])
        same = np.column_stack([np.arange(n), heads[kinds]])
        same = same[same[:, 0] != same[:, 1]]
        members = [np.flatnonzero(kinds == kind) for kind in range(k)]
        differ = np.array(  # any two members say it for their kinds
            [[rng.choice(members[i]), rng.choice(members[j])] for i, j in combinations(range(k), 2)]
        )
        said = np.vstack([same, differ])
        answers = np.repeat([SAME, DIFFERENT], [len(same), len(differ)]).astype(np.int8)
        by = {
            "same first": np.arange(len(said)),
            "different first": np.arange(len(said))[::-1],
            "mixed": rng.permutation(len(said)),
        }[order]
        known = Implications()
        for part in [by] if at_once else np.array_split(by, 50):
            assert known.add(rows[said[part]], answers[part]).size == 0
        asked = rng.integers(n, size=(20_000, 2))
        expected = (kinds[asked[:, 0]] == kinds[asked[:, 1]]).astype(np.int8)
        np.testing.assert_array_equal(known.get(rows[asked], UNKNOWN), expected)
        wrong = asked[asked[:, 0] != asked[:, 1]][:500]
        lies = 1 - (kinds[wrong[:, 0]] == kinds[wrong[:, 1]]).astype(np.int8)
        assert known.add(rows[wrong], lies).tolist() == list(range(500))


class TestExplain:
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


class TestIntMap:
    @given(
        st.lists(
            st.lists(
                st.tuples(
                    st.integers(0, 40) | st.integers(0, 2**63 - 1), st.integers(-(2**31), 2**31)
                ),
                max_size=80,
            ),
            max_size=6,
        ),
        st.lists(st.integers(0, 60) | st.integers(0, 2**63 - 1), max_size=20),
        st.lists(st.booleans(), min_size=6, max_size=6),
    )
    def test_as_a_dict(self, puts, others, one_by_one):
        known, expected = IntMap(), {}
        for items, singly in zip(puts, one_by_one, strict=False):
            if singly:
                for key, value in items:
                    known.put_one(key, value)
            else:
                keys = np.array([key for key, _ in items], dtype=np.int64)
                known.put(keys, np.array([value for _, value in items], dtype=np.int64))
            expected.update(items)
        wanted = [*expected, *others]
        got = known.get(np.array(wanted, dtype=np.int64), otherwise=-7)
        assert got.tolist() == [expected.get(key, -7) for key in wanted]
        assert [known.get_one(key, otherwise=-7) for key in wanted] == got.tolist()
        assert len(known) == len(expected)

    def test_keys_that_collide_in_their_low_bits(self):
        keys = np.arange(5000, dtype=np.int64) << 32
        known = IntMap()
        for part in np.array_split(keys, 7):
            known.put(part, part >> 32)
        assert known.get(keys, -1).tolist() == list(range(5000))


class TestLatestAnswers:
    @given(
        st.lists(
            st.tuples(pairs, st.sampled_from([SAME, DIFFERENT, UNSURE]), st.integers(0, 2)),
            max_size=60,
        ),
        st.integers(1, 40),
    )
    def test_as_a_dict_in_waves_of_any_size(self, lines, size):
        said, expected = LatestAnswers(), {}
        for start in range(0, len(lines), size):
            some = lines[start : start + size]
            before = len(expected)
            for pair, answer, who in some:
                earlier = expected.get(frozenset(pair), (UNSURE,))[0]
                expected[frozenset(pair)] = (earlier if answer == UNSURE else answer, who)
            n_new = said.put(
                np.array([pair for pair, *_ in some]),
                np.array([answer for _, answer, _ in some], dtype=np.int8),
                np.array([who for *_, who in some]),
            )
            assert n_new == len(expected) - before
        everything = np.argwhere(~np.eye(N, dtype=bool))
        wanted = [expected.get(frozenset(pair), (UNANSWERED, -1)) for pair in everything.tolist()]
        assert said.answers(everything).tolist() == [answer for answer, _ in wanted]
        assert said.annotators(everything).tolist() == [who for _, who in wanted]

    def test_many_pairs(self):
        said = LatestAnswers()
        everything = np.column_stack([np.arange(5000), np.arange(5000) + 2**30])
        for number, part in enumerate(np.array_split(everything, 7)):
            assert said.put(part, np.full(len(part), DIFFERENT, dtype=np.int8), number) == len(part)
        assert (said.answers(everything[:, ::-1]) == DIFFERENT).all()
        assert np.unique(said.annotators(everything)).tolist() == list(range(7))
