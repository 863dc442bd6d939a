"""The data sets of the experiments (``data.toml``), and where runs on them are measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from experiments import small_data
from experiments.targets import paper_columns, read_toml
from samekind import datasets


@dataclass(frozen=True)
class BenchmarkData:
    """A data set and the columns of its tables; ``data.toml`` says what the fields are."""

    name: str
    title: str
    make: dict[str, Any]
    marks: list[int]
    seconds: tuple[float, float]
    paper: str | None = None
    most_runs: int | None = None
    note: str = ""
    budgets: list[int] = field(default_factory=list)
    clusters: list[int] = field(default_factory=list)

    @property
    def generated(self) -> bool:
        """Whether every run has an instance of its own."""
        return "n" in self.make

    def load(self, run: int, n: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return rows and labels for a run; of generated data `n` rows, if that is not None."""
        parameters = {name: value for name, value in self.make.items() if name != "name"}
        if self.generated:
            parameters |= {"random_state": run} | ({} if n is None else {"n": n})
        else:
            parameters["return_X_y"] = True
        name = self.make["name"]
        make = getattr(datasets, name, None) or getattr(small_data, name)
        X, y = make(**parameters)
        return X, y

    def columns(self, metric: str) -> list[int]:
        """Return what a table of the paper has as columns: the paper's own, or else ours."""
        columns = paper_columns(metric, self.paper)
        if not columns and metric != "fixed_budget":
            columns = paper_columns("fixed_recovery", self.paper)
        return columns or (self.budgets if metric == "fixed_budget" else self.clusters)

    def focused_seconds(self, questions: int) -> float:
        """Return about how long a run of "focused" with so many questions takes."""
        return self.seconds[1] * questions / self.marks[-1]


DATA = {name: BenchmarkData(name, **fields) for name, fields in read_toml("data.toml").items()}
GROUPS = {
    "synthetic": ["synthetic-p0", "synthetic-p0.1", "synthetic-p0.3"],
    "synthetic-variance": [f"synthetic-variance-p{p}" for p in ("0", "0.1", "0.3")],
    "kdd": ["kdd10", "kdd10-reweighted"],
    "mixture": ["mixture-1", "mixture-2"],
    "small": ["overlapping", "rare", "wine", "breast-cancer", "banking77-minilm"],
    "piles": ["banking77-texts", "banking77-embedded", "banking77-last", "stackoverflow-texts"],
    "ablation": ["googlenews-texts", "hwu64-embedded", "fashion10k", "letter"],
    "relatives": ["synthetic-small", "shuttle-small", "mixture-small"],
    "peers": ["digits-1000", "mixture-1000"],
}
BY_NAME_ONLY = {"kdd-full"}  # takes a download and several GB of memory
_OF_STUDIES = {
    name
    for group in ("mixture", "small", "piles", "ablation", "relatives", "peers")
    for name in GROUPS[group]
}
GROUPS["all"] = [name for name in DATA if name not in _OF_STUDIES | BY_NAME_ONLY]


def data_of_group(name: str) -> list[str]:
    """Return the data sets of a group ("synthetic", "kdd", "mixture", "all" …), or the one of that name."""
    if name not in DATA and name not in GROUPS:
        names = ", ".join([*GROUPS, *DATA])
        raise ValueError(f"there is no data set {name!r}. Choose among {names}.")
    return GROUPS.get(name, [name])


def choose_data(names: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Return the chosen data sets, each once, by default all that are known to an experiment."""
    offered = list(dict.fromkeys(known))
    chosen = offered if names is None else list(dict.fromkeys(names))
    for name in chosen:
        if name not in offered:
            raise ValueError(f"data must be among {', '.join(offered)}, got {name!r}.")
    return chosen
