"""The paper's experiments: its tables and figures, ours beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from experiments.benchmark_data import DATA, BenchmarkData, data_of_group
from experiments.design import (
    check_algorithms,
    check_budgets,
    check_positive,
    check_rows,
    focused_setup,
    rows_of,
    skipped,
)
from experiments.foresight import PRACTICAL
from experiments.metrics import observations, read_at_marks, read_curve, read_paper, read_per_point
from experiments.results import Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import add_paper, summarize
from experiments.trace import PaperSetup

CAP = 3  # times the largest budget, for runs that are to recover a number of clusters


class PaperTables:
    """The tables and figures of the paper's Section 5 and appendix.

    Parameters
    ----------
    data : sequence of str
        Data sets or groups of them; see `experiments.benchmark_data`.
    runs : int
        Runs of every algorithm on every data set, but for those that ``data.toml`` gives fewer.
    algorithms : sequence of str
        Names of algorithms; "focused" may be among them, and has experiments of its own.
    points : iterable of int or None
        Budgets to count recovered clusters at, instead of the paper's and those of "focused", which asks
        no more than its usual ones in any case.
    n : int or None
        Rows of generated data, instead of the usual number; there is then nothing of the paper's
        to compare with.
    batch : int or "auto"
        Rows asked about at once. By default one, as in the paper; see `experiments.foresight`. "auto" starts
        with one and grows: then rows are asked about that are not needed any more.
    """

    file = "results"

    def __init__(
        self,
        data: Sequence[str] = ("all",),
        *,
        runs: int = 100,
        algorithms: Sequence[str] = PRACTICAL,
        points: Iterable[int] | None = None,
        n: int | None = None,
        batch: int | Literal["auto"] = 1,
    ) -> None:
        self.data = list(dict.fromkeys(name for group in data for name in data_of_group(group)))
        self.runs = check_positive("runs", runs)
        self.algorithms = check_algorithms(algorithms)
        self.points = None if points is None else check_budgets(points)
        self.n = check_rows(n)
        self.batch = batch if batch == "auto" else check_positive("batch", batch)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        cases = []
        for name in self.data:
            data = DATA[name]
            runs = min(self.runs, data.most_runs or self.runs)
            for algorithm in self.algorithms:
                if algorithm == "focused":
                    setup = focused_setup(data, self.points, self.n, per_point=True)
                    cases.append(
                        Case(name, algorithm, setup, runs, data.focused_seconds(setup.marks[-1]))
                    )
                else:
                    asking = self._setup(data)
                    cases.append(Case(name, algorithm, asking, runs, data.seconds[0]))
        return cases

    def _setup(self, data: BenchmarkData) -> PaperSetup:
        budget = max(self._columns("fixed_budget", data.name))
        target = max(data.columns("fixed_recovery"))
        timed_at = tuple(data.columns("sampling_time"))
        n = rows_of(data, self.n)
        return PaperSetup(budget, CAP * budget, target, self.batch, timed_at, n=n)

    def _columns(self, metric: str, data: str) -> Sequence[int]:
        if metric == "fixed_budget" and self.points is not None:
            return self.points
        return DATA[data].columns(metric)

    def results(self, runs: Runs) -> Results:
        """Return the tables, and the curves of recovered clusters."""
        readers = (read_paper(self._columns), read_at_marks, read_per_point, read_curve)
        other_size = [name for name in self.data if self.n is not None and DATA[name].generated]
        summary = add_paper(summarize(observations(runs.records, *readers)), other_size)
        asked = {
            record["data"]: record["setup"]["marks"][-1]
            for record in runs.records
            if record["algorithm"] == "focused"
        }
        details: Record = {"algorithms": self.algorithms, "n": self.n, "focused_questions": asked}
        return Results("paper", summary, details, skipped(runs))
