"""Who answers: labels and functions, and solve() with either."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from conftest import Expert, assert_recovered, blobs
from samekind import (
    DIFFERENT,
    SAME,
    UNSURE,
    FunctionOracle,
    LabelOracle,
    Ledger,
    LedgerError,
    solve,
)
from samekind.flow import check_answers, drive
from samekind.oracles import as_oracle

X, Y = blobs()
PAIRS = np.array([[0, 1], [0, 2], [2, 1]])


class TestLabels:
    @pytest.mark.parametrize(
        "y",
        [
            [3, 7, 3],
            ["cat", "dog", "cat"],
            np.array([0.5, 1.5, 0.5]),
            np.array([True, False, True]),
            np.array(["a", "b", "a"], dtype=object),
            pd.Series(["x", "y", "x"], index=[9, 8, 7]),
            pd.Series(["x", "y", "x"], dtype="category"),
            pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01"]),
        ],
        ids=["int", "str", "float", "bool", "object", "series", "category", "dates"],
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
            (np.int64(1), SAME),
            (np.uint8(0), DIFFERENT),
            (np.bool_(False), DIFFERENT),
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
    """What a function gets goes by the arguments that it requires (P25)."""

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
