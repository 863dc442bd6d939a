"""Studies of "focused": whether it does what it must, and what wrong answers do."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.benchmark_data import DATA, choose_data
from experiments.design import (
    check_positive,
    check_rows,
    focused_setup,
    rows_of,
    skipped,
)
from experiments.metrics import METRICS, Asked, observations, read_asked, read_noisy
from experiments.results import SEEDS, Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import add_required, summarize
from experiments.targets import required_numbers, variant_name
from experiments.trace import NoisySetup

ERRORS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
QUESTIONS = {"digits": 300, "mixture-1": 130}
"""For each data set the questions of the run without errors."""
GOAL_CAP = 5  # times those, for runs that have not reached the goal by then
REFERENCE = variant_name({})


class Requirements:
    """Whether "focused" does what ``required.toml`` says; by default on all data sets that it names.

    `n` are rows of generated data.
    """

    file = "focused"

    def __init__(
        self, data: Sequence[str] | None = None, *, runs: int = 10, n: int | None = None
    ) -> None:
        required = required_numbers("focused")
        self.required = required[required["data"].isin(choose_data(data, required["data"]))]
        self.asked: dict[tuple[str, str], list[Asked]] = {
            (str(name), REFERENCE): list(zip(part["metric"], part["at"].astype(float), strict=True))
            for name, part in self.required.groupby("data", sort=False)
        }
        self.runs, self.n = check_positive("runs", runs), check_rows(n)

    def cases(self) -> list[Case]:
        """Return runs that are long enough for what is asked, and no longer."""
        cases = []
        for (name, algorithm), metrics in self.asked.items():
            data = DATA[name]
            ends = [data.marks[-1] if METRICS[metric].level else int(at) for metric, at in metrics]
            marks = {*ends, *(mark for mark in data.marks if mark < max(ends))}
            setup = focused_setup(data, list(marks), self.n)
            seconds = data.focused_seconds(setup.marks[-1])
            cases.append(Case(name, algorithm, setup, self.runs, seconds))
        return cases

    def results(self, runs: Runs) -> Results:
        """Return what is required beside what came out."""
        summary = summarize(observations(runs.records, read_asked(self.asked)))
        found = add_required(summary, self.required)
        return Results(self.file, found, {"runs": self.runs}, skipped(runs))


class WrongAnswers:
    """What "focused" does when answers are wrong, beside the same runs without errors.

    `data` are "digits", "mixture-1" or both, `errors` shares of wrong answers from 0 to below 0.5; `n` are
    rows of generated data.
    """

    file = "noisy"

    def __init__(
        self,
        data: Sequence[str] | None = None,
        *,
        errors: Sequence[float] = ERRORS,
        runs: int = 10,
        n: int | None = None,
    ) -> None:
        self.data = choose_data(data, QUESTIONS)
        self.errors = sorted({_check_error(error) for error in errors})
        if not self.errors:
            raise ValueError("errors names no share of wrong answers. Pass some, such as [0, 0.1].")
        self.runs, self.n = check_positive("runs", runs), check_rows(n)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        cases = []
        for name in self.data:
            data, questions = DATA[name], QUESTIONS[name]
            n, cap = rows_of(data, self.n), GOAL_CAP * questions
            setups = {REFERENCE: NoisySetup(None, questions, cap, n=n)}
            for error in self.errors:
                budget = budget_of(error, questions)
                setups[_with_errors(error)] = NoisySetup(error, budget, budget, n=n)
            for algorithm, setup in setups.items():
                seconds = data.focused_seconds(setup.budget)
                cases.append(Case(name, algorithm, setup, self.runs, seconds))
        return cases

    def results(self, runs: Runs) -> Results:
        """Return a line for each share of wrong answers and metric, and what is required."""
        references = {
            (record["data"], record["run"]): record
            for record in runs.records
            if record["algorithm"] == REFERENCE
        }
        required = required_numbers("noisy")
        required = required.assign(algorithm=required["at"].map(_with_errors))
        summary = add_required(
            summarize(observations(runs.records, read_noisy(references))), required
        )
        details: Record = {
            "runs": self.runs,
            "errors": self.errors,
            "questions": {name: QUESTIONS[name] for name in self.data},
        }
        seeds = SEEDS + "; which answers are wrong has that seed, too"
        return Results("noisy", summary, details, skipped(runs), seeds)


def budget_of(error: float, questions: int) -> int:
    """Return how many questions a run with errors has, given those of the run without.

    Examples
    --------
    >>> [budget_of(error, 100) for error in ERRORS]
    [500, 500, 500, 1000, 1500, 1500]
    """
    return questions * (5 if error <= 0.1 else 10 if error <= 0.2 else 15)


def _with_errors(error: float) -> str:
    return variant_name({"p": f"{error:g}"})


def _check_error(error: float) -> float:
    if isinstance(error, bool) or not 0 <= error < 0.5:
        raise ValueError(
            f"errors must be numbers from 0 to below 0.5, got {error!r}. 0.1 is one answer in ten."
        )
    return float(error)
