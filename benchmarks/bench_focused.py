"""Whole runs: their time and memory, and what they find for the questions. Run by asv."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.suite import mixture, rows


def solve(X: Any, y: Any, **options: Any) -> Any:
    import samekind

    return samekind.solve(X, samekind.LabelOracle(y), epsilon=None, random_state=0, **options)


def digits() -> tuple[Any, Any]:
    from samekind.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    kept = slice(0, rows(len(X)))
    return X[kept], y[kept]


class Large:
    """Many rows."""

    param_names = ["algorithm"]  # noqa: RUF012
    params = ["focused", "batched"]  # noqa: RUF012
    timeout = 300

    def setup(self, algorithm: str) -> None:
        self.X, self.y = mixture(200_000)
        self.budget = rows(1_000 if algorithm == "focused" else 20_000)
        solve(self.X, self.y, algorithm=algorithm, budget=50)  # compiles

    def time_solve(self, algorithm: str) -> None:
        solve(self.X, self.y, algorithm=algorithm, budget=self.budget)

    def peakmem_solve(self, algorithm: str) -> None:
        solve(self.X, self.y, algorithm=algorithm, budget=self.budget)

    def track_recovered(self, algorithm: str) -> int:
        return solve(self.X, self.y, algorithm=algorithm, budget=self.budget).n_recovered_

    track_recovered.unit = "clusters"


class Recovery:
    """Questions until so many clusters are recovered."""

    param_names = ["target"]  # noqa: RUF012
    params = [10, 30]  # noqa: RUF012
    timeout = 300

    def setup(self, target: int) -> None:
        self.X, self.y = mixture(200_000)

    def track_questions(self, target: int) -> int:
        target = min(target, len(np.unique(self.y)) // 3)  # of few rows, few
        return solve(self.X, self.y, target=target, budget=50_000).n_questions_

    track_questions.unit = "questions"


class Agreement:
    """Adjusted Rand index of all labels after so many questions."""

    param_names = ["data", "budget"]  # noqa: RUF012
    params = [["digits", "mixture"], [100, 300]]  # noqa: RUF012
    timeout = 300

    def setup(self, data: str, budget: int) -> None:
        self.X, self.y = digits() if data == "digits" else mixture(20_000, 30, 1.0)

    def track_ari(self, data: str, budget: int) -> float:
        from samekind.measures import adjusted_rand_index

        found = solve(self.X, self.y, budget=rows(budget), batch=1)
        return adjusted_rand_index(self.y, found.labels_)

    track_ari.unit = "ARI"
