"""``python -m experiments``: a command for each experiment, and one that makes pages anew."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from experiments.design import Design

__all__ = ["app", "main"]

MISTAKEN, INTERRUPTED = 2, 130
T = TypeVar("T")

app = typer.Typer(
    name="python -m experiments",
    help="The paper's experiments, run again with ours beside them, and studies of “focused”.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

# What an option takes if it is not given stands in brackets, which are escaped: they would be markup.
Runs = Annotated[int, typer.Option(metavar="N", min=1, help="Runs of each on each data set.")]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes.  [dim]\\[default: one a core][/dim]"),
]
Algorithms = Annotated[str, typer.Option(metavar="NAMES", help="Algorithms, with commas.")]
DataSets = Annotated[
    str | None,
    typer.Option(
        "--data", metavar="NAMES", help="Data sets, with commas.  [dim]\\[default: all][/dim]"
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=100, help="Rows of made data.  [dim]\\[default: the usual number][/dim]"
    ),
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the results to this file too.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for runs, results and page.")]
OUT = Path("experiment-results")


@app.command()
def paper(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="synthetic, shuttle, kdd, digits, banking77, mixture, single data sets such as "
            "synthetic-p0.1, or all (but mixture).",
        ),
    ],
    runs: Runs = 100,
    runs_reweighted: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs on the reweighted KDD.  [dim]\\[default: those, but at most 20][/dim]",
        ),
    ] = None,
    algorithms: Algorithms = "uniform,basic,batched,focused",
    points: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Numbers of questions to count at, with commas.  [dim]\\[default: the paper's][/dim]",
        ),
    ] = None,
    n: Rows = None,
    batch: Annotated[
        str, typer.Option(metavar="N", help="Rows asked about at once; auto grows from one.")
    ] = "auto",
    jobs: Jobs = None,
    json_file: JsonFile = None,
    out: Out = OUT,
) -> None:
    """The paper's tables and figures, its numbers and ours side by side (results.json, results.html)."""

    def design() -> Design:
        from experiments.paper import PaperTables

        return PaperTables(
            data,
            runs=runs,
            runs_reweighted=runs_reweighted,
            algorithms=_split(algorithms) or [],
            points=None if points is None else _split_numbers("--points", points, int),
            n=n,
            batch="auto" if batch == "auto" else _split_numbers("--batch", batch, int)[0],
        )

    _run(design, jobs, out, json_file)


@app.command()
def focused(
    data: DataSets = None,
    runs: Runs = 10,
    n: Rows = None,
    jobs: Jobs = None,
    json_file: JsonFile = None,
    out: Out = OUT,
) -> None:
    """What “focused” must show, and whether it does (focused.json, focused.html)."""

    def design() -> Design:
        from experiments.studies import Requirements

        return Requirements(_split(data), runs=runs, n=n)

    _run(design, jobs, out, json_file)


@app.command()
def ablation(
    data: DataSets = None,
    runs: Runs = 10,
    n: Rows = None,
    jobs: Jobs = None,
    json_file: JsonFile = None,
    out: Out = OUT,
) -> None:
    """“focused” with each of its parts switched off (ablation.json, ablation.html)."""

    def design() -> Design:
        from experiments.studies import Ablation

        return Ablation(_split(data), runs=runs, n=n)

    _run(design, jobs, out, json_file)


@app.command()
def noisy(
    data: DataSets = None,
    errors: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Shares of wrong answers, with commas.")
    ] = "0,0.05,0.1,0.2,0.3,0.4",
    runs: Runs = 10,
    n: Rows = None,
    jobs: Jobs = None,
    json_file: JsonFile = None,
    out: Out = OUT,
) -> None:
    """“focused” when answers are wrong (noisy.json, noisy.html)."""

    def design() -> Design:
        from experiments.studies import WrongAnswers

        shares = _split_numbers("--errors", errors, float)
        return WrongAnswers(_split(data), errors=shares, runs=runs, n=n)

    _run(design, jobs, out, json_file)


@app.command()
def peers(
    data: DataSets = None,
    runs: Runs = 3,
    algorithms: Algorithms = "focused,batched",
    points: Annotated[
        str,
        typer.Option(metavar="NUMBERS", help="Numbers of questions to compare at, with commas."),
    ] = "100,300,1000,3000",
    limit: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="The longest that a peer may run.")
    ] = 300,
    jobs: Jobs = None,
    json_file: JsonFile = None,
    out: Out = OUT,
) -> None:
    """Our algorithms beside other packages (peers.json, peers.html)."""

    def design() -> Design:
        from experiments.comparison import Comparison

        return Comparison(
            _split(data),
            algorithms=_split(algorithms) or [],
            runs=runs,
            points=_split_numbers("--points", points, int),
            limit=limit,
        )

    _run(design, jobs, out, json_file)


@app.command()
def page(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Results of experiments, as JSON.")
    ],
) -> None:
    """Make pages anew from results, each beside its file; files of earlier formats are brought up to date."""
    with _explained():
        from experiments.page import write_page
        from experiments.results import read_results

        for path in files:
            results = read_results(path)
            results.write(path)
            write_page(results, path.with_suffix(".html"))
            typer.echo(path.with_suffix(".html"))


def _run(design: Callable[[], Design], jobs: int | None, out: Path, json_file: Path | None) -> None:
    with _explained(f"Finished runs are in {out}. To go on, run the same command:"):
        from rich.console import Console

        from experiments.design import run_experiment
        from experiments.page import print_results

        console = Console() if sys.stdout.isatty() else Console(width=140)
        chosen = design()
        chat = Console(stderr=True)
        results = run_experiment(chosen, jobs=jobs, out=out, json_file=json_file, console=chat)
        print_results(results, console)
        for path in (out / f"{chosen.file}.html", out / f"{chosen.file}.json", json_file):
            if path is not None:
                typer.echo(path)


@contextmanager
def _explained(interrupted: str = "") -> Iterator[None]:
    """Turn what goes wrong into an exit code and one message."""
    try:
        yield
    except KeyboardInterrupt:
        command = shlex.join(["python", "-m", "experiments", *sys.argv[1:]])
        typer.echo(f"\nStopped. {interrupted}\n  {command}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        from experiments.pool import ExperimentError

        if not isinstance(error, ExperimentError | ValueError | OSError):
            raise
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(MISTAKEN) from None


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _split_numbers(option: str, text: str, kind: Callable[[str], T]) -> list[T]:
    try:
        return [kind(part) for part in _split(text) or []]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers such as 0.1"
        raise ValueError(f"{option} must be {what}, got {text!r}.") from None


def main() -> None:
    """Run the command line."""
    app(prog_name="python -m experiments")
