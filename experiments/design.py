"""What an experiment is, and how one is run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Console

from experiments.benchmark_data import BenchmarkData
from experiments.page import write_markdown, write_page
from experiments.pool import ExperimentError
from experiments.results import Results
from experiments.runner import Case, Runs, available_cores, do_runs
from experiments.trace import FocusedSetup
from samekind import Session

OUT = Path("experiment-results")


class Design(Protocol):
    """An experiment."""

    @property
    def file(self) -> str:
        """The name of its files, without their ending."""

    def cases(self) -> list[Case]:
        """Return what is to run."""

    def results(self, runs: Runs) -> Results:
        """Return what came out."""


def run_experiment(
    design: Design,
    *,
    jobs: int | None = None,
    out: str | Path = OUT,
    json_file: str | Path | None = None,
    console: Console | None = None,
) -> Results:
    """Do the runs of an experiment that are not done yet, and return its results.

    Parameters
    ----------
    design : Design
        The experiment.
    jobs : int or None
        Processes; None takes one for each core. The numbers do not depend on it (times do). With more
        than one, a script must call this under ``if __name__ == "__main__":``.
    out : str or Path
        The folder for ``runs.jsonl``, where every finished run is saved at once, for the results and a page.
    json_file : str or Path or None
        Where else to write the results.
    console : rich.console.Console or None
        Shows the progress; by default nothing is shown.
    """
    workers = available_cores() if jobs is None else check_positive("jobs", jobs)
    chat = Console(quiet=True) if console is None else console
    folder = Path(out)
    runs = do_runs(design.cases(), folder, workers, chat)
    if not runs.records:
        raise ExperimentError("there is no data to run on. " + " ".join(runs.missing.values()))
    results = design.results(runs)
    for path in (folder / f"{design.file}.json", json_file):
        if path is not None:
            results.write(Path(path))
    write_markdown(results, folder / f"{design.file}.md")
    write_page(results, folder / f"{design.file}.html")
    return results


def focused_setup(
    data: BenchmarkData,
    marks: Sequence[int] | None,
    n: int | None,
    parameters: dict[str, str] | None = None,
    *,
    per_point: bool = False,
) -> FocusedSetup:
    """Return how a run of "focused" goes that is measured at such marks, but never after its last one."""
    last = data.marks[-1]
    chosen = data.marks if marks is None else sorted({min(mark, last) for mark in marks})
    return FocusedSetup(tuple(chosen), parameters or {}, per_point, n=rows_of(data, n))


def rows_of(data: BenchmarkData, n: int | None) -> int | None:
    """Return the number of rows that was chosen, if it applies to the data."""
    return n if data.generated else None


def skipped(runs: Runs) -> dict[str, str]:
    """Return what results say of missing data; reasons may name folders, and are only shown."""
    return dict.fromkeys(runs.missing, "its data could not be loaded")


def check_positive(name: str, value: object, minimum: int = 1) -> int:
    """Return an int of at least `minimum`."""
    kind = "a positive int" if minimum == 1 else f"an int of at least {minimum}"
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be {kind}, got {value!r}.")
    return value


def check_rows(n: int | None) -> int | None:
    """Return how many rows generated data are to have, if that was chosen."""
    return None if n is None else check_positive("n", n, minimum=100)


def check_budgets(points: Iterable[int]) -> list[int]:
    """Return numbers of questions in their order."""
    return sorted({check_positive("points", point) for point in points})


def check_algorithms(names: Iterable[str]) -> list[str]:
    """Return names of algorithms, each once; a session refuses others at once."""
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        Session([[0.0], [1.0]], name).close()
    return chosen
