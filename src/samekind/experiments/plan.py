"""Which runs a bench is to have, and which of them are still to be done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from samekind import __version__
from samekind.experiments.follow import FocusedSetup
from samekind.experiments.noisy_run import NoisySetup
from samekind.experiments.one_run import Setup
from samekind.experiments.pool import AnySetup, Task
from samekind.experiments.scenes import SCENES, Scene

__all__ = ["Plan", "Saved", "make_focused_setup", "make_setup"]

CAP = 3  # times the largest budget, for runs that are to recover a number of clusters

Saved = dict[tuple[str, int, str], dict[str, Any]]
"""Records by data set, number of the run, and name of what ran."""


def make_setup(
    scene: Scene, points: Sequence[int] | None, n: int | None, batch: int | str
) -> Setup:
    """Return how far runs of the paper's algorithms go on a data set, given what the user chose."""
    budget = max(points or scene.columns("fixed_budget"))
    return Setup(
        samekind=__version__,
        n=n if scene.made else None,
        budget=budget,
        cap=CAP * budget,
        target=max(scene.columns("fixed_recovery")),
        batch=batch,
    )


def make_focused_setup(
    scene: Scene,
    marks: Sequence[int] | None,
    n: int | None,
    parameters: dict[str, str] | None = None,
    *,
    per_point: bool = False,
) -> FocusedSetup:
    """Return how a run of "focused" goes, looked at with so many questions, but never after its last mark."""
    last = scene.marks[-1]
    chosen = scene.marks if marks is None else tuple(sorted({min(m, last) for m in marks}))
    return FocusedSetup(__version__, n if scene.made else None, chosen, parameters or {}, per_point)


class Plan:
    """Runs 0, 1, … of some algorithms on some data sets.

    Parameters
    ----------
    numbers : dict
        How many runs each data set is to have.
    setups : dict
        For each data set the setups of what is to run on it, by name.
    """

    def __init__(self, numbers: dict[str, int], setups: dict[str, dict[str, AnySetup]]) -> None:
        self.numbers = numbers
        self.setups = setups

    def among(self, records: Iterable[dict[str, Any]]) -> Saved:
        """Return the planned ones of these records, each once; those of other settings are left alone."""
        wanted = {
            (data, name): setup.as_dict()
            for data, setups in self.setups.items()
            for name, setup in setups.items()
        }
        found: Saved = {}
        for record in records:
            data, run, name = (record.get(key, "") for key in ("data", "run", "algorithm"))
            if (
                (data, name) in wanted
                and record.get("setup") == wanted[data, name]
                and isinstance(run, int)
                and run < self.numbers[data]
            ):
                found.setdefault((data, run, name), record)
        return found

    def tasks(self, saved: Saved, path: Path) -> list[Task]:
        """Return what is still to be done: a task for each instance of a data set."""
        tasks = []
        for data, setups in self.setups.items():
            for run in range(self.numbers[data]):
                left = {k: setup for k, setup in setups.items() if (data, run, k) not in saved}
                if left:
                    tasks.append(Task(data, run, left, path))
        return tasks

    def seconds(self, task: Task) -> float:
        """Return roughly how long a task takes."""
        return sum(_seconds(SCENES[task.scene], setup) for setup in task.setups.values())


def _seconds(scene: Scene, setup: AnySetup) -> float:
    if isinstance(setup, Setup):
        return scene.seconds
    questions = setup.budget if isinstance(setup, NoisySetup) else setup.marks[-1]
    return scene.focused_seconds * questions / scene.marks[-1]
