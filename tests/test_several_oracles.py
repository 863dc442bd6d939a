"""Several who answer: rules and models first, somebody better where it is worth it."""

from __future__ import annotations

import sys

import numpy as np
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
    Session,
    solve,
)
from samekind.engine import AskingRule, AuditAndDoubt, AuditedRates, Review
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


class Unchecked(AskingRule):
    """Asks nobody for a second opinion."""

    def review(self, session, pairs, answers, turn):
        nothing = np.zeros(len(pairs), dtype=bool)
        return Review(nothing, nothing)

    def is_useless(self, rates, checker_budget):
        return False


class TestPanel:
    def test_budgets_are_kept(self):
        person, ledger = Person(Y), Ledger()
        model = NoisyModel(Y, error=0.1)
        found = solve(
            X, [model, person], budget={"model": 60, "person": 20}, random_state=0, ledger=ledger
        )
        lines = list(ledger.lines())
        by = {name: [line for line in lines if line.who == name] for name in ("model", "person")}
        assert len(by["model"]) <= 60
        assert len(by["person"]) == len(person.asked) <= 20
        assert len(person.asked) >= 8  # the first answers are all checked
        assert any("were checked at random" in note for note in found.notes_)

    def test_the_persons_word_stands(self):
        ledger = Ledger()
        model = NoisyModel(Y, error=0.3, seed=2)
        solve(X, [model, Person(Y)], budget=[80, 30], random_state=0, ledger=ledger)
        checked = [(line.a, line.b) for line in ledger.lines() if line.who == "person"]
        truth = LabelOracle(Y)(np.array(checked))
        assert ledger.lookup(np.array(checked), infer=False).tolist() == truth.tolist()

    def test_a_second_opinion_does_not_start_the_run_over(self, monkeypatch):
        replays = []
        replay = Session._replay
        monkeypatch.setattr(Session, "_replay", lambda self: replays.append(1) or replay(self))
        person = Person(Y)
        solve(X, [NoisyModel(Y, error=0.05), person], budget=[60, 20], random_state=0)
        assert person.asked
        assert len(replays) == 1

    @staticmethod
    def with_a_person_at_the_end(seed, ledger=None):
        """Let a model that often calls the same different answer first, and then a person."""
        return solve(
            X,
            [NoisyModel(Y, error=(0.02, 0.35), seed=seed), Person(Y)],
            budget=[100, 40],
            goal="labels",
            rule=Unchecked(),
            batch=1,
            random_state=seed,
            ledger=ledger,
        )

    def test_who_is_left_is_asked_about_doubts(self):
        """When the model has answered what it may, no new row is drawn at first."""
        ledger = Ledger()
        assert self.with_a_person_at_the_end(0, ledger).n_questions_ == 140
        lines = list(ledger.lines())
        known = {row for line in lines[:100] for row in (line.a, line.b)}
        assert all(line.who == "person" for line in lines[100:])
        assert np.mean([{line.a, line.b} <= known for line in lines[100:115]]) > 0.8

    def test_who_is_left_mends_more_than_by_going_on(self, monkeypatch):
        def agreement():
            found = [self.with_a_person_at_the_end(seed) for seed in range(5)]
            return np.mean([adjusted_rand_index(Y, one.labels_) for one in found])

        mended = agreement()
        monkeypatch.setattr(Session, "settle", lambda self: None)
        assert mended > agreement() + 0.05

    def test_unsure_goes_to_the_next(self):
        person = Person(Y)
        unsure = NoisyModel(Y, error=0.0, unsure=0.3)
        ledger = Ledger()
        solve(X, [unsure, person], budget=[60, 60], random_state=0, ledger=ledger)
        doubtful = {
            (line.a, line.b)
            for line in ledger.lines()
            if line.who == "model" and line.answer == UNSURE
        }
        assert doubtful
        assert doubtful <= {tuple(sorted(pair)) for pair in person.asked} | set(person.asked)

    def test_who_answers_at_random_is_dropped_and_costs_little(self):
        shares, n_dropped = [], 0
        for seed in range(6):
            ledger = Ledger()
            random = NoisyModel(Y, error=0.5, seed=seed)
            found = solve(
                X, [random, Person(Y)], budget=[500, 60], random_state=seed, ledger=ledger
            )
            alone = solve(X, Person(Y), budget=60, random_state=seed)
            agrees = adjusted_rand_index(Y, found.labels_)
            shares.append(agrees / adjusted_rand_index(Y, alone.labels_))
            if "none of their answers counts" in found.notes_[0]:
                n_dropped += 1
                who = [ledger.annotators[number] for number in ledger.active()["who"].tolist()]
                assert set(who) == {"person"}
                assert sum(line.who == "model" for line in ledger.lines()) <= 30  # half of 60
        assert n_dropped >= 5  # by chance one in twenty seems to be of use
        assert np.mean(shares) >= 0.9

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

    def test_another_rule_can_decide(self):
        class Never(AskingRule):
            def review(self, session, pairs, answers, turn):
                nothing = np.zeros(len(pairs), dtype=bool)
                return Review(nothing, nothing)

            def is_useless(self, rates, checker_budget):
                return False

        person = Person(Y)
        solve(X, [NoisyModel(Y, error=0.0), person], budget=[30, 30], rule=Never(), random_state=0)
        assert len(person.asked) <= 30

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

    @pytest.mark.parametrize(
        ("budget", "error"),
        [(50, "must say it of each"), ([1], "has 1 numbers for 2"), ([1, -1], "of labels must be")],
    )
    def test_a_budget_says_it_of_each(self, budget, error):
        with pytest.raises(ValueError, match=error):
            solve(X, [NoisyModel(Y, error=0.0), LabelOracle(Y)], budget=budget)


class TestRates:
    def test_intervals_hold_the_rates(self):
        rng = np.random.default_rng(0)
        held = 0
        for _ in range(200):
            rates = AuditedRates()
            for truth in rng.integers(0, 2, 60).tolist():
                wrong = rng.random() < (0.12 if truth else 0.04)
                rates.count(1 - truth if wrong else truth, truth)
            low, high = rates.false_different[1:3]
            held += low <= 0.12 <= high
        assert held >= 180

    def test_chance_is_told_from_use(self):
        good, random = AuditedRates(20, 1, 20, 2), AuditedRates(20, 10, 20, 10)
        assert good.chance_of_use(0.5) > 0.95
        assert random.chance_of_use(0.5) < 0.05
        assert AuditAndDoubt().is_useless(random, 200)
        assert not AuditAndDoubt().is_useless(good, 200)
        assert not AuditAndDoubt().is_useless(AuditedRates(), 200)


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

    def test_by_similarity(self):
        rows = np.array([[1.0, 0.0], [0.99, 0.1], [0.0, 1.0], [0.7, 0.7]])
        rule = RuleOracle.similarity(rows, same=0.9, different=0.1)
        said = rule(np.array([[0, 1], [0, 2], [0, 3]]))
        assert said.tolist() == [SAME, DIFFERENT, UNSURE]
        with pytest.raises(ValueError, match="below same"):
            RuleOracle.similarity(rows, same=0.1, different=0.9)

    def test_a_column_without_values_says_nothing(self):
        rule = RuleOracle.column(["a", "", "a", "b"])
        assert rule(np.array([[0, 1], [0, 2], [0, 3]])).tolist() == [UNSURE, SAME, DIFFERENT]


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
