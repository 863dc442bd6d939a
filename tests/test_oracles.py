"""Who answers: labels and functions, and solve() with either."""

from __future__ import annotations

import sys
from collections import Counter
from math import sqrt

import numpy as np
import pandas as pd
import pytest

import samekind
from conftest import Expert, assert_recovered, blobs
from samekind import (
    DIFFERENT,
    SAME,
    UNSURE,
    CommandOracle,
    FunctionOracle,
    LabelOracle,
    Ledger,
    LedgerError,
    NoisyOracle,
    RuleOracle,
    solve,
)
from samekind.flow import check_answers, drive
from samekind.measures import adjusted_rand_index
from samekind.oracles import CommandError, as_oracle

X, Y = blobs()
PAIRS = np.array([[0, 1], [0, 2], [2, 1]])


class TestLabels:
    @pytest.mark.parametrize(
        "y",
        [
            [3, 7, 3],
            ["cat", "dog", "cat"],
            np.array(["a", "b", "a"], dtype=object),
            pd.Series(["x", "y", "x"], index=[9, 8, 7]),
            pd.Series(["x", "y", "x"], dtype="category"),
            pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01"]),
        ],
        ids=["int", "str", "object", "series", "category", "dates"],
    )
    def test_of_any_sort(self, y):
        said = LabelOracle(y)(PAIRS)
        assert said.dtype == np.int8
        assert said.tolist() == [DIFFERENT, SAME, DIFFERENT]
        assert len(LabelOracle(y)) == 3

    @pytest.mark.parametrize(
        "y",
        [
            [0.0, np.nan, 1.0],
            np.array(["a", None, "b"], dtype=object),
            np.array(["a", np.nan, "b"], dtype=object),
            pd.Series(["a", None, "b"]),
            pd.Series([1, None, 2], dtype="Int64"),
        ],
        ids=["nan", "None", "nan among texts", "series", "nullable"],
    )
    def test_a_missing_label_is_refused(self, y):
        with pytest.raises(ValueError, match="no label for row 1"):
            LabelOracle(y)

    def test_a_number_is_not_its_text(self):
        assert LabelOracle(np.array([1, "1"], dtype=object))(np.array([[0, 1]])).tolist() == [
            DIFFERENT
        ]

    def test_a_matrix_is_refused(self):
        with pytest.raises(ValueError, match=r"one label for each row, got shape \(3, 1\)"):
            LabelOracle([[0], [1], [0]])

    def test_must_be_as_many_as_the_rows(self):
        with pytest.raises(ValueError, match="X has 80 rows, but y has 79 labels"):
            solve(X, LabelOracle(Y[:-1]))


class TestFunctions:
    def test_answer_true_false_or_none(self):
        said = {(0, 1): True, (0, 2): False, (2, 1): None}
        oracle = FunctionOracle(lambda a, b: said[a, b])
        assert oracle(PAIRS).tolist() == [SAME, DIFFERENT, UNSURE]
        assert FunctionOracle(lambda a, b: np.bool_(True))(PAIRS).tolist() == [SAME] * 3

    def test_get_plain_ints(self):
        seen = []
        FunctionOracle(lambda a, b: seen.append((type(a), type(b))))(PAIRS)
        assert set(seen) == {(int, int)}

    @pytest.mark.parametrize("said", [2, -2, "yes", 0.5, 1.0, [True], np.array([1, 0])])
    def test_anything_else_is_refused(self, said):
        """And alike, whether one answer is given at a time or all at once."""
        with pytest.raises(ValueError, match=r"an answer is SAME .*, got .* for rows 0 and 1"):
            FunctionOracle(lambda a, b: said)(PAIRS)
        for batch in ([said, True, False], [said] * 3):
            with pytest.raises(ValueError, match=r"an answer|answers|inhomogeneous"):
                check_answers(batch, 3)

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            (1, SAME),
            (0, DIFFERENT),
            (-1, UNSURE),
            (np.uint8(0), DIFFERENT),
            (np.array(True), SAME),
            (None, UNSURE),
        ],
    )
    def test_numbers_mean_what_they_mean_in_a_batch(self, said, meant):
        assert FunctionOracle(lambda a, b: said)(PAIRS).tolist() == [meant] * 3
        assert check_answers([said, None, True], 3).tolist() == [meant, UNSURE, SAME]

    def test_are_named_in_the_ledger(self):
        def ann(a, b):
            return bool(Y[a] == Y[b])

        for oracle, who in ((ann, "ann"), (FunctionOracle(ann, name="Ann B."), "Ann B.")):
            ledger = Ledger()
            solve(X, oracle, budget=3, ledger=ledger, random_state=0)
            assert [entry.who for entry in ledger.lines()] == [who] * 3

    def test_an_error_ends_the_run_and_keeps_the_answers(self, tmp_path):
        """P1: what was answered is kept."""

        def tired(a, b):
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return bool(Y[a] == Y[b])

        left = 5
        with pytest.raises(KeyboardInterrupt):
            solve(X, tired, ledger=tmp_path / "mine.db", random_state=0)
        with Ledger(tmp_path / "mine.db") as ledger:
            assert len(ledger) == 5


class TestSolve:
    @pytest.mark.parametrize(
        "oracle",
        [
            LabelOracle(Y),
            FunctionOracle(lambda a, b: bool(Y[a] == Y[b])),
            lambda a, b: bool(Y[a] == Y[b]),
            Expert(Y),
        ],
        ids=["labels", "function oracle", "function", "waves"],
    )
    def test_with_each_sort_of_oracle(self, oracle):
        assert_recovered(solve(X, oracle, random_state=0), X, Y)

    def test_one_question_at_a_time_for_a_function(self):
        labels = solve(X, LabelOracle(Y), algorithm="batched", random_state=0)
        one = solve(X, LabelOracle(Y), batch=1, algorithm="batched", random_state=0)
        asked = solve(X, lambda a, b: bool(Y[a] == Y[b]), algorithm="batched", random_state=0)
        assert asked.history_["questions"].tolist() == one.history_["questions"].tolist()
        assert len(labels.history_["questions"]) < len(one.history_["questions"])

    @pytest.mark.parametrize("oracle", [Y, None, "labels"])
    def test_what_cannot_answer_is_refused(self, oracle):
        with pytest.raises(
            TypeError, match=r"pass LabelOracle\(y\), or a function of two row numbers"
        ):
            solve(X, oracle)

    @pytest.mark.parametrize("said", [[1, 1], [5], ["yes"], []])
    def test_wrong_answers_of_an_oracle_are_refused(self, said):
        waves = type("Wrong", (), {"__call__": lambda self, pairs: said})()
        with pytest.raises(ValueError, match="answer"):
            solve(X, waves, batch=1, random_state=0)

    def test_a_ledger_that_cannot_be_opened(self, tmp_path):
        with pytest.raises(LedgerError, match="no such folder"):
            solve(X, LabelOracle(Y), ledger=tmp_path / "nowhere" / "mine.db")

    def test_progress_is_reported_after_every_wave(self, capsys):
        seen = []
        found = solve(X, LabelOracle(Y), random_state=0, on_progress=seen.append)
        assert [now.questions for now in seen] == sorted({now.questions for now in seen})
        assert seen[-1].questions == found.n_questions_
        assert seen[-1].recovered == found.n_recovered_
        assert capsys.readouterr().out == ""

    def test_progress_bar_ends_with_the_last_state(self, capsys):
        found = solve(X, LabelOracle(Y), random_state=0, budget=1000, progress=True)
        (shown,) = capsys.readouterr().out.strip().splitlines()
        assert shown.startswith(f"{found.n_questions_}/1,000 asked")
        assert f"3 of 3 kinds  {found.n_samples_:,} drawn" in shown

    def test_a_generator_gives_another_run_each_time(self):
        rng = np.random.default_rng(0)
        one, two = (solve(X, LabelOracle(Y), random_state=rng) for _ in range(2))
        assert one.random_state_ != two.random_state_
        again = solve(X, LabelOracle(Y), random_state=one.random_state_)
        assert again.members_[0].tolist() == one.members_[0].tolist()


def test_an_oracle_passes_as_itself():
    oracle = LabelOracle(Y)
    assert as_oracle(oracle) is oracle


class TestFunctionOfOneOrOfTwo:
    """P25: what a function gets goes by the arguments that it requires."""

    PAIRS = np.array([[0, 1], [2, 2]])

    @pytest.mark.parametrize(
        "function",
        [
            lambda pairs: pairs[:, 0] == pairs[:, 1],
            lambda pairs, threshold=0.5: pairs[:, 0] == pairs[:, 1],
            lambda pairs, *, threshold=0.5: pairs[:, 0] == pairs[:, 1],
        ],
    )
    def test_one_required_argument_gets_all_pairs(self, function):
        assert as_oracle(function)(self.PAIRS).tolist() == [False, True]

    @pytest.mark.parametrize(
        "function",
        [lambda a, b: a == b, lambda a, b, c=0: a == b, lambda *rows: rows[0] == rows[1]],
    )
    def test_two_required_arguments_get_two_row_numbers(self, function):
        assert as_oracle(function)(self.PAIRS).tolist() == [0, 1]

    @pytest.mark.parametrize(
        "function", [lambda: True, lambda a, b, c: True, lambda a, *, b: True, 7, []]
    )
    def test_others_are_refused(self, function):
        with pytest.raises(TypeError, match="oracle"):
            as_oracle(function)


def test_a_program_without_items_to_show(tmp_path):
    assert as_oracle("command:" + sys.executable, []).name


def test_drive_closes_the_flow_when_the_oracle_fails():
    closed = []

    def flow():
        try:
            yield np.array([[0, 1]])
        finally:
            closed.append(True)

    def fail(pairs):
        raise OSError("no connection")

    with pytest.raises(OSError, match="no connection"):
        drive(flow(), fail)
    assert closed == [True]


class Person(LabelOracle):
    """Never errs, and remembers what they were asked."""

    name = "person"
    batch = 1

    def __init__(self, y):
        super().__init__(y)
        self.asked = []

    def __call__(self, pairs):
        self.asked += [tuple(pair) for pair in pairs.tolist()]
        return super().__call__(pairs)


class NoisyModel(NoisyOracle):
    name = "model"


class TestPanel:
    @staticmethod
    def by(ledger, name):
        """Return the lines of one of them."""
        return [line for line in ledger.lines() if line.who == name]

    def test_budgets_are_kept(self):
        """P23: each by its own oracle."""
        person, ledger = Person(Y), Ledger()
        model = NoisyModel(Y, error=0.1)
        budget = {"model": 60, "person": 20}
        found = solve(X, [model, person], budget=budget, random_state=0, ledger=ledger)
        assert len(self.by(ledger, "model")) <= 60
        assert len(self.by(ledger, "person")) == len(person.asked) <= 20
        assert {one.name for one in found.annotators_} == {"model", "person"}

    def test_the_first_questions_are_put_to_both(self):
        person, ledger = Person(Y), Ledger()
        solve(
            X,
            [NoisyModel(Y, error=0.1), person],
            budget={"model": 60, "person": 20},
            random_state=0,
            batch=1,
            ledger=ledger,
        )
        first = [(line.who, line.a, line.b) for line in ledger.lines()][:10]
        assert [who for who, *_ in first] == ["model", "person"] * 5  # a quarter of 20
        assert [pair for _, *pair in first[::2]] == [pair for _, *pair in first[1::2]]

    def test_then_the_cheap_one_answers_and_at_last_the_best(self):
        ledger = Ledger()
        model, person = NoisyModel(Y, error=0.1), Person(Y)
        solve(X, [model, person], budget=[40, 20], random_state=0, batch=1, ledger=ledger)
        who = [line.who for line in ledger.lines()]
        assert who[10:45] == ["model"] * 35
        assert set(who[45:]) <= {"person"}

    def test_a_person_after_a_model_that_errs_makes_it_better(self):
        def agreement(person):
            found = [
                solve(
                    X,
                    [NoisyModel(Y, error=(0.02, 0.35), seed=seed), Person(Y)],
                    budget=[100, person],
                    random_state=seed,
                ).labels_
                for seed in range(5)
            ]
            return np.mean([adjusted_rand_index(Y, labels) for labels in found])

        assert agreement(60) > agreement(0)

    def test_a_run_that_was_cut_off_goes_on(self, tmp_path):
        """P26: what was paid is not paid again."""
        path = tmp_path / "p.db"

        def cut_off(progress):
            if progress.questions >= 25:
                raise KeyboardInterrupt

        first = Person(Y)
        options = {"budget": {"model": 60, "person": 20}, "random_state": 0, "ledger": path}
        with pytest.raises(KeyboardInterrupt):
            solve(X, [NoisyModel(Y, error=0.05), first], on_progress=cut_off, **options)
        second = Person(Y)
        found = solve(X, [NoisyModel(Y, error=0.05), second], **options)
        assert not set(first.asked) & set(second.asked)
        assert len(first.asked) + len(second.asked) <= 20
        assert "answered" in found.notes_[0]

    def test_cheapest_first(self):
        person = Person(Y)
        model = NoisyModel(Y, error=0.0)
        price = {"person": 100.0, "model": 1.0}
        solve(X, [person, model], budget={"person": 10, "model": 50}, price=price, random_state=0)
        assert len(person.asked) <= 10

    def test_a_budget_in_money_is_shared(self):
        """Half of it each: 60 answers for 1, and one for 50."""
        person, model = Person(Y), NoisyModel(Y, error=0.1)
        found = solve(X, [model, person], budget=120.0, price=[1, 50], random_state=0)
        assert len(person.asked) == 1
        assert found.n_questions_ == 61

    def test_a_budget_by_name_goes_to_that_one(self):
        """P23: in whatever order they are given."""
        person, ledger = Person(Y), Ledger()
        model = NoisyModel(Y, error=0.1)
        budget = {"person": 12, "model": 50}  # in another order than the oracles
        solve(X, [model, person], budget=budget, random_state=0, ledger=ledger)
        assert len(person.asked) <= 12

    @pytest.mark.parametrize("what", ["budget", "price"])
    def test_unknown_names_are_refused(self, what):
        """P23: before anything is asked."""
        given = {what: {"persons": 12, "model": 50}}
        with pytest.raises(ValueError, match=r"'model', 'person'; got 'persons'"):
            solve(X, [NoisyModel(Y, error=0.1), Person(Y)], **given)

    @pytest.mark.parametrize(
        ("budget", "error"),
        [(50, "must say it of each"), ([1], "has 1 numbers for 2"), ([1, -1], "of labels must be")],
    )
    def test_a_budget_says_it_of_each(self, budget, error):
        with pytest.raises(ValueError, match=error):
            solve(X, [NoisyModel(Y, error=0.0), LabelOracle(Y)], budget=budget)


class TestRules:
    def test_a_rule_abstains_and_the_next_one_is_asked(self):
        texts = [("refund " if label == 0 else "") + f"text {row}" for row, label in enumerate(Y)]
        rule, ledger = RuleOracle.contains(texts, "refund"), Ledger()
        person = Person(Y)
        found = solve(X, [rule, person], budget=[None, 80], random_state=0, ledger=ledger)
        lines = list(ledger.lines())
        assert not [line for line in lines if line.who == rule.name and line.answer == UNSURE]
        assert [line for line in lines if line.who == rule.name]
        assert len(person.asked) < len(lines)
        assert adjusted_rand_index(Y, found.labels_) > 0.95

    def test_a_column_without_values_says_nothing(self):
        rule = RuleOracle.column(["a", "", "a", "b"])
        assert rule(np.array([[0, 1], [0, 2], [0, 3]])).tolist() == [UNSURE, SAME, DIFFERENT]

    def test_a_column_with_missing_values_of_pandas(self):
        rule = RuleOracle.column(pd.Series(["a", pd.NA, "a", None], dtype="string"))
        assert rule(np.array([[0, 1], [0, 2], [1, 3]])).tolist() == [UNSURE, SAME, UNSURE]


JUDGE = """
import json, sys, os
lines = 0
for line in sys.stdin:
    lines += 1
    asked = json.loads(line)
    if {fault!r} == "crash" and lines == 4:
        os._exit(3)
    if {fault!r} == "hang" and lines == 4:
        import time; time.sleep(60)
    if {fault!r} == "nonsense" and lines == 4:
        print("well, same I think", flush=True)
        continue
    word = "same" if asked["a"] % 3 == asked["b"] % 3 else "different"
    print(json.dumps({{"id": asked["id"], "answer": word}}), flush=True)
"""


class TestCommand:
    WAVE = np.array([[row, (row * 7 + 4) % 30] for row in range(20) if row != (row * 7 + 4) % 30])

    def oracle(self, fault="", **options):
        return CommandOracle([sys.executable, "-c", JUDGE.format(fault=fault)], **options)

    @pytest.mark.parametrize(
        "fault", ["", "crash", "nonsense", pytest.param("hang", marks=pytest.mark.slow)]
    )
    def test_every_answer_comes_from_the_program(self, fault):
        with self.oracle(fault, timeout=0.7, restarts=9, ahead=4) as oracle:
            said = oracle(self.WAVE)
        assert said.tolist() == [int(a % 3 == b % 3) for a, b in self.WAVE.tolist()]

    def test_a_pair_given_twice_is_asked_once(self):
        with CommandOracle([sys.executable, "-c", JUDGE.format(fault="")]) as oracle:
            said = oracle(PAIRS[[0, 1, 0, 0]])
        assert said.tolist() == [said[0], said[1], said[0], said[0]]

    def test_a_program_that_never_answers(self):
        oracle = CommandOracle([sys.executable, "-c", "raise SystemExit(7)"], restarts=1)
        with pytest.raises(CommandError, match="ended with code 7"):
            oracle(self.WAVE)

    def test_a_program_that_is_not_there(self):
        with pytest.raises(ValueError, match="cannot be run"):
            CommandOracle("no-such-program-here")

    def test_by_its_name_in_solve(self, tmp_path):
        script = tmp_path / "judge.py"
        script.write_text(
            JUDGE.format(fault="")
            .replace('asked["a"] % 3', "int(asked['a_text'])")
            .replace('asked["b"] % 3', "int(asked['b_text'])")
        )
        texts = [str(label) for label in Y.tolist()]
        ledger = Ledger()
        session_items = texts
        oracle = CommandOracle(f"{sys.executable} {script}", session_items)
        found = solve(X, oracle, random_state=0, ledger=ledger, budget=40)
        assert found.n_discovered_ >= 2
        assert ledger.annotators == [oracle.name]


MANY = np.random.default_rng(0).integers(4, size=300)
ALL_PAIRS = np.column_stack(np.triu_indices(MANY.size, 1))
TRUTH = LabelOracle(MANY)(ALL_PAIRS)
RATES = {"Ann": 0.02, "Bob": 0.2, "Eve": 0.7}


def within_three_sigma(n_seen, n, share):
    return abs(n_seen - share * n) <= 3 * sqrt(n * share * (1 - share))


def wrong(said, truth=TRUTH):
    return said != truth


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("error", [0.05, 0.1, 0.2, 0.45])
def test_errs_as_often_as_it_should(error, persistent):
    errs = wrong(NoisyOracle(MANY, error=error, persistent=persistent, seed=3)(ALL_PAIRS))
    for part in (TRUTH == SAME, TRUTH == DIFFERENT, ALL_PAIRS[:, 0] < 20, ALL_PAIRS[:, 1] % 2 == 0):
        assert within_three_sigma(errs[part].sum(), part.sum(), error)


def test_errors_of_a_row_are_as_uneven_as_chance_makes_them():
    """With 299 answers about each row, the numbers of wrong ones have a binomial's variance."""
    errs = np.zeros((MANY.size, MANY.size))
    errs[tuple(ALL_PAIRS.T)] = wrong(NoisyOracle(MANY, error=0.2, seed=1)(ALL_PAIRS))
    counts = (errs + errs.T).sum(axis=1)
    assert counts.var() == pytest.approx(299 * 0.2 * 0.8, rel=0.25)


def test_never_or_always_wrong():
    assert (NoisyOracle(MANY, error=0)(ALL_PAIRS) == TRUTH).all()
    assert (NoisyOracle(MANY, error=1)(ALL_PAIRS) == 1 - TRUTH).all()


def test_persistent_errors_depend_on_the_pair_alone():
    oracle = NoisyOracle(MANY, error=0.3, unsure=0.1, seed=5)
    said = oracle(ALL_PAIRS)
    assert said.dtype == np.int8
    np.testing.assert_array_equal(oracle(ALL_PAIRS[:, ::-1]), said)
    shuffled = np.random.default_rng(0).permutation(len(ALL_PAIRS))
    np.testing.assert_array_equal(oracle(ALL_PAIRS[shuffled]), said[shuffled])
    fresh = NoisyOracle(MANY, error=0.3, unsure=0.1, seed=5)
    one_by_one = [int(fresh(ALL_PAIRS[i : i + 1])[0]) for i in range(500)]
    assert one_by_one == said[:500].tolist()
    assert oracle(ALL_PAIRS[:0]).tolist() == []


def test_seeds_differ():
    one, two = (wrong(NoisyOracle(MANY, error=0.2, seed=seed)(ALL_PAIRS)) for seed in (0, 1))
    assert within_three_sigma(
        (one & two).sum(), len(ALL_PAIRS), 0.04
    )  # they know nothing of each other


def test_errors_that_do_not_persist():
    oracle = NoisyOracle(MANY, error=0.2, persistent=False, seed=2)
    one, two = wrong(oracle(ALL_PAIRS)), wrong(oracle(ALL_PAIRS))
    assert within_three_sigma((one & two).sum(), len(ALL_PAIRS), 0.04)
    again = wrong(NoisyOracle(MANY, error=0.2, persistent=False, seed=2)(ALL_PAIRS))
    np.testing.assert_array_equal(again, one)


def test_unsure_of_a_share_of_the_pairs():
    said = NoisyOracle(MANY, error=0.1, unsure=0.25, seed=4)(ALL_PAIRS)
    unsure = said == UNSURE
    assert within_three_sigma(unsure.sum(), len(ALL_PAIRS), 0.25)
    assert within_three_sigma(wrong(said)[~unsure].sum(), (~unsure).sum(), 0.1)
    assert (NoisyOracle(MANY, error=0.1, unsure=1.0)(ALL_PAIRS) == UNSURE).all()


class TestAnnotators:
    @pytest.mark.parametrize("persistent", [True, False])
    def test_each_errs_at_its_own_rate(self, persistent):
        oracle = NoisyOracle(MANY, per_annotator=RATES, persistent=persistent)
        said = oracle(ALL_PAIRS)
        who = np.array(oracle.who)
        for name, rate in RATES.items():
            own = who == name
            assert within_three_sigma(own.sum(), len(ALL_PAIRS), 1 / 3)
            assert within_three_sigma(wrong(said)[own].sum(), own.sum(), rate)

    def test_a_pair_stays_with_who_has_it(self):
        oracle = NoisyOracle(MANY, per_annotator=[0.1, 0.2], seed=7)
        oracle(ALL_PAIRS)
        who = oracle.who
        assert set(who) == {"annotator 1", "annotator 2"}
        oracle(ALL_PAIRS[:40, ::-1])
        assert oracle.who == who[:40]

    def test_nobody_is_named_without_them(self):
        oracle = NoisyOracle(MANY, error=0.1)
        oracle(ALL_PAIRS)
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
        (ValueError, {"error": 1.1}, r"error must be a number in \[0, 1\], got 1.1"),
        (ValueError, {"error": "often"}, "got 'often'. 0.1 is one answer in ten"),
        (ValueError, {"error": 0.1, "unsure": 2}, r"unsure must be a number in \[0, 1\], got 2"),
        (ValueError, {"error": 0.1, "seed": -1}, "seed must be an int of at least 0, got -1"),
        (ValueError, {"per_annotator": {"Ann": 2.0}}, r"per_annotator\['Ann'\] must be a number"),
        (TypeError, {"per_annotator": 0.1}, "must be a mapping from names to error rates, a list"),
    ],
)
def test_wrong_parameters_are_named(error, options, message):
    with pytest.raises(error, match=message):
        NoisyOracle(MANY, **options)
