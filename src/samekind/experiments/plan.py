"""Which runs a bench is to have, and which of them are still to be done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from samekind import __version__
from samekind.experiments.one_run import Setup
from samekind.experiments.pool import Task
from samekind.experiments.scenes import Scene

__all__ = ["Plan", "Saved", "make_setup"]

CAP = 3  # times the largest budget, for runs that are to recover a number of clusters

Saved = dict[tuple[str, int, str], dict[str, Any]]
"""Records by data set, number of the run, and algorithm."""


def make_setup(
    scene: Scene, points: Sequence[int] | None, n: int | None, batch: int | str
) -> Setup:
    """Return how far runs on a data set go, given what the user chose."""
    budget = max(points or scene.columns("fixed_budget"))
    return Setup(
        samekind=__version__,
        n=n if scene.made else None,
        budget=budget,
        cap=CAP * budget,
        target=max(scene.columns("fixed_recovery")),
        batch=batch,
    )


class Plan:
    """Runs 0, 1, … of some algorithms on some data sets.

    Parameters
    ----------
    scenes : sequence of Scene
        The data sets.
    algorithms : sequence of str
        The algorithms.
    numbers : dict
        How many runs each data set is to have.
    setups : dict
        The setup of each data set's runs.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        algorithms: Sequence[str],
        numbers: dict[str, int],
        setups: dict[str, Setup],
    ) -> None:
        self.scenes = list(scenes)
        self.algorithms = tuple(dict.fromkeys(algorithms))
        self.numbers = numbers
        self._setups = setups

    def among(self, records: Iterable[dict[str, Any]]) -> Saved:
        """Return the planned ones of these records, each once; those of other settings are left alone."""
        setups = {name: setup.as_dict() for name, setup in self._setups.items()}
        found: Saved = {}
        for record in records:
            data, run, algorithm = (record.get(key) for key in ("data", "run", "algorithm"))
            if (
                data in setups
                and record.get("setup") == setups[data]
                and isinstance(run, int)
                and run < self.numbers[data]
                and algorithm in self.algorithms
            ):
                found.setdefault((data, run, algorithm), record)
        return found

    def tasks(self, saved: Saved, path: Path) -> list[Task]:
        """Return what is still to be done: a task for each instance of a data set."""
        tasks = []
        for scene in self.scenes:
            for run in range(self.numbers[scene.name]):
                left = tuple(a for a in self.algorithms if (scene.name, run, a) not in saved)
                if left:
                    tasks.append(Task(scene.name, run, left, self._setups[scene.name], path))
        return tasks
