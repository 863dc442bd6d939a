"""The data sets of the bench, and what is counted on each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from samekind import datasets
from samekind.experiments.paper import paper_table

__all__ = ["GROUPS", "SCENES", "Scene", "scenes_of"]

Data = tuple[NDArray[Any], NDArray[Any]]
KDD_NOTE = (
    "The paper's KDD is the full file of 4,898,431 rows. This is its official 10 % extract: other "
    "data, so the paper's numbers are a guide here and not a mark to meet."
)
REWEIGHTED_NOTE = (
    "The rows of the 10 % extract, repeated until every class is as large as in the full file that "
    "the paper uses. Repeats are exact copies, so this is close to the paper's data and not the same."
)


@dataclass(frozen=True)
class Scene:
    """A data set and the columns of its tables.

    `load` takes the number of the run and, for made data, how many rows; data that is the same in
    every run ignores both. `paper` is the data set's name in the paper's tables. At the `marks`, numbers of
    questions, a run of "focused" is looked at; it ends with the last one. `seconds` and `focused_seconds`
    say roughly how long a run of another algorithm, and one of "focused", takes, for the progress bar.
    """

    name: str
    title: str
    load: Callable[[int, int | None], Data]
    seconds: float
    focused_seconds: float
    marks: tuple[int, ...]
    made: bool = False
    paper: str | None = None
    note: str = ""
    budgets: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()

    def columns(self, measure: str) -> tuple[int, ...]:
        """Return the columns of a table: the paper's, or else our own."""
        table = paper_table(measure, self.paper) or (
            paper_table("fixed_recovery", self.paper) if measure != "fixed_budget" else None
        )
        if table is not None:
            return table.columns
        return self.budgets if measure == "fixed_budget" else self.clusters


def _make(p: float, run: int, n: int | None) -> Data:
    X, y = datasets.make_synthetic(n or 10**6, p=p, random_state=run)
    return X, y


def _mix(alpha: float, run: int, n: int | None) -> Data:
    X, y = datasets.make_synthetic(n or 20_000, n_clusters=30, alpha=alpha, random_state=run)
    return X, y


def _load(load: Callable[..., Data], run: int, n: int | None, **options: bool) -> Data:
    return load(return_X_y=True, **options)


def _synthetic(p: float) -> Scene:
    name = f"synthetic-p{p:g}"
    return Scene(
        name,
        f"Synthetic, p = {p:g}",
        partial(_make, p),
        seconds=3.0,
        focused_seconds=20.0,
        marks=(500, 1_000, 2_000, 5_000, 10_000, *((20_000,) if p == 0.3 else ())),
        made=True,
        paper=name,
    )


def _mixture(alpha: int) -> Scene:
    return Scene(
        f"mixture-{alpha}",
        f"Mixture of 30, sizes rank^-{alpha}",
        partial(_mix, float(alpha)),
        seconds=0.5,
        focused_seconds=20.0,
        # Close together: they tell when the adjusted Rand index is good enough.
        marks=(*range(5, 150, 5), *range(150, 401, 25)),
        made=True,
        note="Not in the paper. 20,000 rows in 10 dimensions.",
        budgets=(100, 200, 300, 400, 1_000, 2_000),
        clusters=(5, 10, 15, 20, 25, 30),
    )


SCENES: dict[str, Scene] = {
    scene.name: scene
    for scene in (
        _synthetic(0.0),
        _synthetic(0.1),
        _synthetic(0.3),
        Scene(
            "shuttle",
            "Shuttle",
            partial(_load, datasets.load_shuttle),
            seconds=4.0,
            focused_seconds=3.0,
            marks=(100, 200, 500, 1_000, 2_000, 3_000),
            paper="shuttle",
        ),
        Scene(
            "kdd10",
            "KDD 10 %",
            partial(_load, datasets.load_kdd),
            seconds=1.7,
            focused_seconds=60.0,
            marks=(500, 1_000, 2_000, 5_000, 10_000, 15_000),
            paper="kdd",
            note=KDD_NOTE,
        ),
        Scene(
            "kdd10-reweighted",
            "KDD 10 %, reweighted",
            partial(_load, datasets.load_kdd, reweighted=True),
            seconds=9.0,
            focused_seconds=120.0,
            marks=(500, 1_000, 2_000, 5_000, 10_000, 15_000),
            paper="kdd",
            note=REWEIGHTED_NOTE,
        ),
        Scene(
            "digits",
            "Digits",
            partial(_load, datasets.load_digits),
            seconds=0.3,
            focused_seconds=4.0,
            marks=(100, 150, 200, 250, 300, 400, 600, 1_000, 1_500),
            note="Not in the paper.",
            budgets=(100, 150, 200, 250, 300, 400, 600),
            clusters=(2, 4, 6, 8, 10),
        ),
        Scene(
            "banking77",
            "Banking77",
            partial(_load, datasets.load_banking77),
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
    "shuttle": ("shuttle",),
    "kdd": ("kdd10", "kdd10-reweighted"),
    "digits": ("digits",),
    "banking77": ("banking77",),
    "mixture": ("mixture-1", "mixture-2"),
}
GROUPS["all"] = tuple(name for name in SCENES if name not in GROUPS["mixture"])


def scenes_of(what: str) -> list[Scene]:
    """Return the data sets of a group ("synthetic", "kdd", "all", …), or the one of that name."""
    if what in GROUPS:
        return [SCENES[name] for name in GROUPS[what]]
    if what in SCENES:
        return [SCENES[what]]
    names = ", ".join(dict.fromkeys([*GROUPS, *SCENES]))
    raise ValueError(f"there is no data set {what!r}. Choose one of {names}.")
