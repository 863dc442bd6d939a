"""The data sets of the experiments, and after how many questions or clusters runs on them are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from experiments.targets import paper_columns
from samekind import datasets

__all__ = ["DATA", "GROUPS", "BenchmarkData", "choose_data", "data_of_group"]

XY = tuple[NDArray[Any], NDArray[Any]]
KDD_NOTE = (
    "The paper's KDD is the full file of 4,898,431 rows. This is its official 10 % extract: other "
    "data, so the paper's numbers are a guide here and not a mark to meet."
)
REWEIGHTED_NOTE = (
    "The rows of the 10 % extract, repeated until every class is as large as in the full file that "
    "the paper uses. Repeats are exact copies, so this is close to the paper's data and not the same."
)


@dataclass(frozen=True)
class BenchmarkData:
    """A data set and the columns of its tables.

    Attributes
    ----------
    load : callable
        Takes the number of the run and, for generated data, the number of rows (None: the usual one). Data
        that are the same in every run ignore both.
    seconds, focused_seconds : float
        About how long a run of the paper's algorithms, and one of "focused", takes; for the progress bar.
    marks : tuple of int
        After so many questions a run of "focused" is measured; it ends with the last one.
    generated : bool
        Whether every run has an instance of its own.
    paper : str or None
        The name of the data set in the paper's tables.
    note : str
        In what it differs from the paper's data.
    budgets, clusters : tuple of int
        Numbers of questions and of recovered clusters to measure at, where the paper has none.
    """

    name: str
    title: str
    load: Callable[[int, int | None], XY]
    seconds: float
    focused_seconds: float
    marks: tuple[int, ...]
    generated: bool = False
    paper: str | None = None
    note: str = ""
    budgets: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()

    def columns(self, metric: str) -> tuple[int, ...]:
        """Return what a table of the paper has as columns: the paper's own, or else ours."""
        columns = paper_columns(metric, self.paper)
        if not columns and metric != "fixed_budget":
            columns = paper_columns("fixed_recovery", self.paper)
        return columns or (self.budgets if metric == "fixed_budget" else self.clusters)


def _generate(run: int, n: int | None, *, usual: int, **parameters: Any) -> XY:
    X, y = datasets.make_synthetic(n or usual, random_state=run, **parameters)
    return X, y


def _load(run: int, n: int | None, *, loader: Callable[..., XY], **options: bool) -> XY:
    return loader(return_X_y=True, **options)


def _synthetic(p: float) -> BenchmarkData:
    name = f"synthetic-p{p:g}"
    return BenchmarkData(
        name,
        f"Synthetic, p = {p:g}",
        partial(_generate, usual=10**6, p=p),
        seconds=3.0,
        focused_seconds=20.0,
        marks=(500, 1_000, 2_000, 5_000, 10_000, *((20_000,) if p == 0.3 else ())),
        generated=True,
        paper=name,
    )


def _mixture(alpha: int) -> BenchmarkData:
    return BenchmarkData(
        f"mixture-{alpha}",
        f"Mixture of 30, sizes rank^-{alpha}",
        partial(_generate, usual=20_000, n_clusters=30, alpha=float(alpha)),
        seconds=0.5,
        focused_seconds=20.0,
        # Close together: they tell when the adjusted Rand index is good enough.
        marks=(*range(5, 150, 5), *range(150, 401, 25)),
        generated=True,
        note="Not in the paper. 20,000 rows in 10 dimensions.",
        budgets=(100, 200, 300, 400, 1_000, 2_000),
        clusters=(5, 10, 15, 20, 25, 30),
    )


DATA: dict[str, BenchmarkData] = {
    data.name: data
    for data in (
        _synthetic(0.0),
        _synthetic(0.1),
        _synthetic(0.3),
        BenchmarkData(
            "shuttle",
            "Shuttle",
            partial(_load, loader=datasets.load_shuttle),
            seconds=4.0,
            focused_seconds=3.0,
            marks=(100, 200, 500, 1_000, 2_000, 3_000),
            paper="shuttle",
        ),
        BenchmarkData(
            "kdd10",
            "KDD 10 %",
            partial(_load, loader=datasets.load_kdd),
            seconds=1.7,
            focused_seconds=60.0,
            marks=(500, 1_000, 2_000, 5_000, 10_000, 15_000),
            paper="kdd",
            note=KDD_NOTE,
        ),
        BenchmarkData(
            "kdd10-reweighted",
            "KDD 10 %, reweighted",
            partial(_load, loader=datasets.load_kdd, reweighted=True),
            seconds=9.0,
            focused_seconds=120.0,
            marks=(500, 1_000, 2_000, 5_000, 10_000, 15_000),
            paper="kdd",
            note=REWEIGHTED_NOTE,
        ),
        BenchmarkData(
            "digits",
            "Digits",
            partial(_load, loader=datasets.load_digits),
            seconds=0.3,
            focused_seconds=4.0,
            marks=(100, 150, 200, 250, 300, 400, 600, 1_000, 1_500),
            note="Not in the paper.",
            budgets=(100, 150, 200, 250, 300, 400, 600),
            clusters=(2, 4, 6, 8, 10),
        ),
        BenchmarkData(
            "banking77",
            "Banking77",
            partial(_load, loader=datasets.load_banking77),
            seconds=3.0,
            focused_seconds=300.0,
            marks=(500, 1_000, 2_500, 5_000),
            note="Not in the paper.",
            budgets=(2_500, 5_000, 7_500, 10_000, 15_000, 20_000),
            clusters=(10, 20, 40, 60, 70, 77),
        ),
        _mixture(1),
        _mixture(2),
    )
}

GROUPS: dict[str, tuple[str, ...]] = {
    "synthetic": ("synthetic-p0", "synthetic-p0.1", "synthetic-p0.3"),
    "kdd": ("kdd10", "kdd10-reweighted"),
    "mixture": ("mixture-1", "mixture-2"),
}
GROUPS["all"] = tuple(name for name in DATA if name not in GROUPS["mixture"])


def data_of_group(name: str) -> tuple[str, ...]:
    """Return the data sets of a group ("synthetic", "kdd", "mixture", "all"), or the one of that name."""
    if name not in DATA and name not in GROUPS:
        names = ", ".join([*GROUPS, *DATA])
        raise ValueError(f"there is no data set {name!r}. Choose among {names}.")
    return GROUPS.get(name, (name,))


def choose_data(names: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Return the chosen data sets, each once, by default all that are known to an experiment."""
    offered = list(dict.fromkeys(known))
    chosen = offered if names is None else list(dict.fromkeys(names))
    for name in chosen:
        if name not in offered:
            raise ValueError(f"data must be among {', '.join(offered)}, got {name!r}.")
    return chosen
