"""Experts who err: how often, whether they stick to it, and who they are."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest

import samekind
from conftest import blobs
from samekind import DIFFERENT, SAME, UNSURE, LabelOracle, Ledger, NoisyOracle, solve

Y = np.random.default_rng(0).integers(4, size=300)
PAIRS = np.column_stack(np.triu_indices(Y.size, 1))
TRUTH = LabelOracle(Y)(PAIRS)
RATES = {"Ann": 0.02, "Bob": 0.2, "Eve": 0.7}


def within_three_sigma(n_seen, n, share):
    return abs(n_seen - share * n) <= 3 * sqrt(n * share * (1 - share))


def wrong(said, truth=TRUTH):
    return said != truth


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("error", [0.05, 0.1, 0.2, 0.45])
def test_errs_as_often_as_it_should(error, persistent):
    errs = wrong(NoisyOracle(Y, error=error, persistent=persistent, seed=3)(PAIRS))
    for part in (TRUTH == SAME, TRUTH == DIFFERENT, PAIRS[:, 0] < 20, PAIRS[:, 1] % 2 == 0):
        assert within_three_sigma(errs[part].sum(), part.sum(), error)


def test_errors_of_a_row_are_as_uneven_as_chance_makes_them():
    """With 299 answers about each row, the numbers of wrong ones have a binomial's variance."""
    errs = np.zeros((Y.size, Y.size))
    errs[tuple(PAIRS.T)] = wrong(NoisyOracle(Y, error=0.2, seed=1)(PAIRS))
    counts = (errs + errs.T).sum(axis=1)
    assert counts.var() == pytest.approx(299 * 0.2 * 0.8, rel=0.25)


def test_never_or_always_wrong():
    assert (NoisyOracle(Y, error=0)(PAIRS) == TRUTH).all()
    assert (NoisyOracle(Y, error=1)(PAIRS) == 1 - TRUTH).all()


def test_persistent_errors_depend_on_the_pair_alone():
    oracle = NoisyOracle(Y, error=0.3, unsure=0.1, seed=5)
    said = oracle(PAIRS)
    assert said.dtype == np.int8
    np.testing.assert_array_equal(oracle(PAIRS[:, ::-1]), said)
    shuffled = np.random.default_rng(0).permutation(len(PAIRS))
    np.testing.assert_array_equal(oracle(PAIRS[shuffled]), said[shuffled])
    fresh = NoisyOracle(Y, error=0.3, unsure=0.1, seed=5)
    one_by_one = [int(fresh(PAIRS[i : i + 1])[0]) for i in range(500)]
    assert one_by_one == said[:500].tolist()
    assert oracle(PAIRS[:0]).tolist() == []


def test_seeds_differ():
    one, two = (wrong(NoisyOracle(Y, error=0.2, seed=seed)(PAIRS)) for seed in (0, 1))
    assert within_three_sigma(
        (one & two).sum(), len(PAIRS), 0.04
    )  # they know nothing of each other


def test_errors_that_do_not_persist():
    oracle = NoisyOracle(Y, error=0.2, persistent=False, seed=2)
    one, two = wrong(oracle(PAIRS)), wrong(oracle(PAIRS))
    assert within_three_sigma((one & two).sum(), len(PAIRS), 0.04)
    again = wrong(NoisyOracle(Y, error=0.2, persistent=False, seed=2)(PAIRS))
    np.testing.assert_array_equal(again, one)


def test_unsure_of_a_share_of_the_pairs():
    said = NoisyOracle(Y, error=0.1, unsure=0.25, seed=4)(PAIRS)
    unsure = said == UNSURE
    assert within_three_sigma(unsure.sum(), len(PAIRS), 0.25)
    assert within_three_sigma(wrong(said)[~unsure].sum(), (~unsure).sum(), 0.1)
    assert (NoisyOracle(Y, error=0.1, unsure=1.0)(PAIRS) == UNSURE).all()


class TestAnnotators:
    @pytest.mark.parametrize("persistent", [True, False])
    def test_each_errs_at_its_own_rate(self, persistent):
        oracle = NoisyOracle(Y, per_annotator=RATES, persistent=persistent)
        said = oracle(PAIRS)
        who = np.array(oracle.who)
        for name, rate in RATES.items():
            own = who == name
            assert within_three_sigma(own.sum(), len(PAIRS), 1 / 3)
            assert within_three_sigma(wrong(said)[own].sum(), own.sum(), rate)

    def test_a_pair_stays_with_who_has_it(self):
        oracle = NoisyOracle(Y, per_annotator=[0.1, 0.2], seed=7)
        oracle(PAIRS)
        who = oracle.who
        assert set(who) == {"annotator 1", "annotator 2"}
        oracle(PAIRS[:40, ::-1])
        assert oracle.who == who[:40]

    def test_nobody_is_named_without_them(self):
        oracle = NoisyOracle(Y, error=0.1)
        oracle(PAIRS)
        assert oracle.who is None

    def test_are_named_in_the_ledger(self):
        X, y = blobs()
        ledger, oracle = Ledger(), NoisyOracle(y, per_annotator=RATES)
        solve(X, oracle, budget=60, batch=10, ledger=ledger, error_rate=0.1, random_state=0)
        entries = list(ledger.lines())
        assert Counter(entry.who for entry in entries).keys() == RATES.keys()
        for entry in entries:
            assert oracle(np.array([[entry.a, entry.b]])).tolist() == [entry.answer]
            assert oracle.who == [entry.who]


def test_is_taken_wherever_labels_are():
    X, y = blobs()
    oracle = NoisyOracle(y, error=0.0)
    assert (oracle.batch, oracle.name) == (1, "noisy labels")
    assert samekind.solve(X, oracle, random_state=0).n_recovered_ == 3
    with pytest.raises(ValueError, match="X has 79 rows, but y has 80 labels"):
        solve(X[:-1], oracle)


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (ValueError, {}, "pass either error, .*such as error=0.1, or per_annotator"),
        (ValueError, {"error": 0.1, "per_annotator": [0.1]}, "pass either error"),
        (ValueError, {"error": 1.1}, r"error must be a number in \[0, 1\], got 1.1"),
        (ValueError, {"error": -0.1}, "got -0.1"),
        (ValueError, {"error": float("nan")}, "got nan"),
        (ValueError, {"error": "often"}, "got 'often'. 0.1 is one answer in ten"),
        (ValueError, {"error": 0.1, "unsure": 2}, r"unsure must be a number in \[0, 1\], got 2"),
        (ValueError, {"error": 0.1, "seed": -1}, "seed must be an int of at least 0, got -1"),
        (ValueError, {"error": 0.1, "persistent": "no"}, "persistent must be True or False"),
        (ValueError, {"per_annotator": {"Ann": 2.0}}, r"per_annotator\['Ann'\] must be a number"),
        (ValueError, {"per_annotator": []}, "per_annotator names nobody. Give at least one"),
        (TypeError, {"per_annotator": {1: 0.1}}, "names in per_annotator must be texts, got 1"),
        (TypeError, {"per_annotator": 0.1}, "must be a mapping from names to error rates, a list"),
        (TypeError, {"per_annotator": "Ann"}, "got 'Ann'"),
    ],
)
def test_wrong_parameters_are_named(error, options, message):
    with pytest.raises(error, match=message):
        NoisyOracle(Y, **options)
