"""``samekind bench``: what it takes, and what it says."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["EXAMPLES", "bench"]

MISTAKEN = 2
INTERRUPTED = 130

EXAMPLES = """[bold]Examples[/bold]

samekind bench shuttle --runs 10

samekind bench synthetic --out results

samekind bench peers

samekind bench ablation --data digits,shuttle

samekind bench noisy --errors 0,0.1,0.2
"""


def bench(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="synthetic, shuttle, kdd, digits, banking77, or all of them; peers, to compare with "
            "other packages; focused, to see whether it does what it must; ablation, for what its parts "
            "are worth; or noisy, for what it does when answers are wrong.",
        ),
    ],
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs of each algorithm on each data set.  "
            "[dim]\\[default: 100; focused, ablation, noisy: 10; peers: 3][/dim]",
        ),
    ] = None,
    runs_reweighted: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs on the reweighted KDD.  [dim]\\[default: those, but at most 20][/dim]",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes.  [dim]\\[default: one a core][/dim]"),
    ] = None,
    algorithms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Algorithms, with commas between them.  "
            "[dim]\\[default: uniform,basic,batched,focused][/dim]",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Data sets of focused, ablation and noisy, with commas.  [dim]\\[default: all][/dim]",
        ),
    ] = None,
    errors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P",
            help="Shares of wrong answers of noisy, with commas.  "
            "[dim]\\[default: 0,0.05,0.1,0.2,0.3,0.4][/dim]",
        ),
    ] = None,
    points: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N",
            help="Numbers of questions to count at, with commas.  [dim]\\[default: the paper's][/dim]",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=100,
            help="Rows of made data.  [dim]\\[default: of the synthetic, the paper's 1,000,000][/dim]",
        ),
    ] = None,
    batch: Annotated[
        str, typer.Option(metavar="N", help="Rows asked about at once; auto grows from one.")
    ] = "auto",
    limit: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="The longest that a peer may run.")
    ] = 300,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the tables to this file too."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for runs and results.")] = Path(
        "samekind-bench"
    ),
) -> int:
    """Run the paper's experiments: its tables, and ours beside them.

    Writes results.json and results.html into a folder. Every run is saved when it is finished; the same
    command goes on where a stopped one was.
    """
    from rich.console import Console

    from samekind.experiments.errors import BenchError

    chat = Console(stderr=True)
    out_console = Console() if sys.stdout.isatty() else Console(width=140)
    try:
        names = _split(algorithms)
        columns = None if points is None else [_whole("--points", text) for text in _split(points)]
        shares = [_share("--errors", text) for text in _split(errors)]
        if shares and what != "noisy":
            raise ValueError(f"{what} takes no --errors; noisy does.")
        if what == "peers":
            from samekind.experiments.peer_bench import run_peers
            from samekind.experiments.peer_page import print_peers

            compared = run_peers(
                runs=runs or 3,
                jobs=jobs,
                algorithms=names or None,
                points=columns,
                limit=limit,
                out=out,
                json_file=json_file,
                console=chat,
            )
            print_peers(compared, out_console)
            written = [out / "peers.html", out / "peers.json"]
        elif what in ("focused", "ablation", "noisy"):
            from samekind.experiments.noisy_bench import ERRORS, run_noisy
            from samekind.experiments.study_bench import run_ablation, run_focused
            from samekind.experiments.study_page import print_study

            if names or columns:
                raise ValueError(
                    f"{what} takes no --algorithms and no --points; choose its --data."
                )
            studies: dict[str, Callable[..., dict[str, Any]]] = {
                "focused": run_focused,
                "ablation": run_ablation,
                "noisy": partial(run_noisy, errors=shares or ERRORS),
            }
            study = studies[what](
                runs=runs or 10,
                jobs=jobs,
                data=_split(data) or None,
                n=n,
                out=out,
                json_file=json_file,
                console=chat,
            )
            print_study(study, out_console)
            written = [out / f"{what}.html", out / f"{what}.json"]
        else:
            from samekind.experiments.bench import PRACTICAL, run_bench
            from samekind.experiments.tables import print_tables

            size = batch if batch == "auto" else _whole("--batch", batch)
            results = run_bench(
                what,
                runs=runs or 100,
                runs_reweighted=runs_reweighted,
                jobs=jobs,
                algorithms=names or PRACTICAL,
                points=columns,
                n=n,
                batch=size,
                out=out,
                json_file=json_file,
                console=chat,
            )
            print_tables(results, out_console)
            written = [out / "results.html", out / "results.json"]
    except KeyboardInterrupt:
        command = shlex.join(["samekind", *sys.argv[1:]])
        _say(
            chat,
            f"\nStopped. Finished runs are in {out}. To go on, run the same command:\n  {command}",
        )
        return INTERRUPTED
    except (BenchError, ValueError) as error:
        _say(chat, f"error: {error}")
        return MISTAKEN
    for path in [*written, *([json_file] if json_file is not None else [])]:
        _say(out_console, str(path))
    return 0


def _split(given: list[str] | None) -> list[str]:
    return [part.strip() for text in given or [] for part in text.split(",") if part.strip()]


def _whole(option: str, text: str) -> int:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise ValueError(f"{option} must be whole numbers, got {text!r}.") from None


def _share(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} must be numbers such as 0.1, got {text!r}.") from None


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
