"""Several who answer: rules and models first, somebody better where it is worth it (P23)."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from conftest import blobs
from samekind import (
    DIFFERENT,
    SAME,
    UNSURE,
    CommandOracle,
    LabelOracle,
    Ledger,
    NoisyOracle,
    RuleOracle,
    solve,
)
from samekind.measures import adjusted_rand_index
from samekind.oracles import CommandError

X, Y = blobs()
PAIRS = np.array([[0, 1], [0, 2], [2, 1]])


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
        person, ledger = Person(Y), Ledger()
        model = NoisyModel(Y, error=0.1)
        budget = {"person": 12, "model": 50}  # in another order than the oracles
        solve(X, [model, person], budget=budget, random_state=0, ledger=ledger)
        assert len(person.asked) <= 12

    @pytest.mark.parametrize("what", ["budget", "price"])
    def test_unknown_names_are_refused(self, what):
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

    @pytest.mark.parametrize("fault", ["", "crash", "hang", "nonsense"])
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
