"""``python -m experiments``: a command for each experiment, and one that makes pages anew."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from experiments.design import Design

MISTAKEN, INTERRUPTED = 2, 130
T = TypeVar("T")


def _several(kind: Callable[[str], T]) -> Callable[[str], list[T]]:
    """Return what splits a text at its commas."""

    def split(text: str) -> list[T]:
        try:
            return [kind(part.strip()) for part in text.split(",") if part.strip()]
        except ValueError:
            what = "whole numbers" if kind is int else "numbers such as 0.1"
            raise ArgumentTypeError(f"must be {what}, with commas, got {text!r}") from None

    return split


def _batch(text: str) -> int | str:
    return text if text == "auto" else int(text)


ABOUT = "The paper's experiments, run again with ours beside them, and studies of “focused”."
COMMANDS = {
    "paper": (
        "the paper's tables and figures, its numbers and ours side by side",
        "data --runs --algorithms --points --n --batch --jobs --json --out",
    ),
    "focused": (
        "what “focused” must show, and whether it does",
        "--data --runs --n --jobs --json --out",
    ),
    "ablation": (
        "“focused” with each of its parts switched off",
        "--data --parts --errors --points --runs --n --jobs --json --out",
    ),
    "noisy": (
        "“focused” when answers are wrong",
        "--data --errors --runs --n --jobs --json --out",
    ),
    "certificate": (
        "what “focused” promises, and what is true",
        "--data --runs --n --jobs --json --out",
    ),
    "unsure": (
        "“focused” when nobody can tell a tenth of the rows",
        "--data --runs --n --jobs --json --out",
    ),
    "piles": (
        "“focused” on texts and embeddings, with the questions that a person answers",
        "--data --runs --jobs --json --out",
    ),
    "peers": (
        "our algorithms beside other packages",
        "--data --runs --algorithms --points --limit --jobs --json --out",
    ),
    "person": ("a simulated person at the labelling page, by presses", "--data --runs --browser"),
    "copies": ("presses for a pile with copies, asked about once or each", "--data --runs"),
    "parents": ("groups of kinds that are split by a few presses each", "--data --runs"),
    "relatives": (
        "our algorithms beside others that ask same-cluster questions",
        "--data --runs --algorithms --jobs --json --out",
    ),
    "records": (
        "records that may be duplicates: ours, the literature's orderings, dedupe and Splink",
        "--data --runs --algorithms --peer-python --json",
    ),
    "page": ("make pages anew from results, each beside its file", "files"),
    "publish": ("write tables into docs/, from the results of a folder", "folder"),
}
GROUPS = "synthetic, synthetic-variance, shuttle, kdd, digits, banking77, mixture, one, or all but mixture"
OPTIONS: dict[str, tuple[Callable[[str], object], str, str]] = {
    "data": (str, "DATA", GROUPS),
    "files": (Path, "FILE", "results of experiments, as JSON"),
    "folder": (Path, "DIR", "folder with the results of “paper” or “relatives”, on all data"),
    "--data": (_several(str), "NAMES", "data sets, with commas; by default all"),
    "--runs": (
        int,
        "N",
        "runs of each: by default 100, of studies 10, people and relatives 5, peers 3",
    ),
    "--algorithms": (_several(str), "NAMES", "algorithms, with commas; by default the usual ones"),
    "--parts": (_several(str), "NAMES", "parts to switch off, with commas; by default each"),
    "--points": (_several(int), "NUMBERS", "of questions to count at, with commas"),
    "--errors": (_several(float), "NUMBERS", "shares of wrong answers, with commas"),
    "--n": (int, "N", "rows of made data; by default the usual number"),
    "--batch": (
        _batch,
        "N",
        "rows asked about at once, or auto, which grows from one; by default one",
    ),
    "--limit": (int, "SECONDS", "the longest that a peer may run; by default 300"),
    "--peer-python": (
        str,
        "PATH",
        "a Python that has dedupe and splink; without it they are left out",
    ),
    "--jobs": (int, "N", "processes; by default one a core"),
    "--json": (Path, "FILE", "write the results to this file, too"),
    "--out": (Path, "DIR", "folder for runs, results and page; by default experiment-results"),
}
SWITCHES = {"--browser": "on the page itself, in Chromium, not over its API"}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and return its exit code."""
    options = _parser().parse_args(arguments)
    from experiments.pool import ExperimentError

    try:
        if options.command == "page":
            _make_pages(options.files)
        elif options.command == "publish":
            _publish(options.folder)
        elif options.command == "person":
            _sit_down(options)
        elif options.command in ("copies", "parents"):
            _sort_further(options)
        elif options.command == "records":
            _find_duplicates(options)
        else:
            _run(options)
    except KeyboardInterrupt:
        command = shlex.join(["python", "-m", "experiments", *(arguments or sys.argv[1:])])
        said = "Stopped. Finished runs are kept. To go on, run the same command:"
        print(f"\n{said}\n  {command}", file=sys.stderr)
        return INTERRUPTED
    except (ExperimentError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return MISTAKEN
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser("python -m experiments", description=ABOUT)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (about, options) in COMMANDS.items():
        command = commands.add_parser(name, help=about, description=about)
        for option in options.split():
            if option in SWITCHES:
                command.add_argument(option, action="store_true", help=SWITCHES[option])
                continue
            kind, metavar, text = OPTIONS[option]
            many = "+" if option in ("data", "files") else None
            command.add_argument(option, type=kind, metavar=metavar, help=text, nargs=many)
    return parser


def _run(options: Namespace) -> None:
    from rich.console import Console

    from experiments.design import OUT, run_experiment
    from experiments.page import print_results

    design, out = _design(options), options.out or OUT
    results = run_experiment(
        design, jobs=options.jobs, out=out, json_file=options.json, console=Console(stderr=True)
    )
    print_results(results, Console() if sys.stdout.isatty() else Console(width=140))
    endings = (".html", ".md", ".json")
    for path in (*(out / f"{design.file}{ending}" for ending in endings), options.json):
        if path is not None:
            print(path)


def _design(options: Namespace) -> Design:
    """Return the experiment of a command, with the options that were given."""
    from experiments.ablation import Ablation
    from experiments.certificate import Certificates, HardRows
    from experiments.comparison import Comparison
    from experiments.paper import PaperTables
    from experiments.piles import Piles
    from experiments.relatives import Relatives
    from experiments.studies import Requirements, WrongAnswers

    designs: dict[str, Callable[..., Design]] = {
        "paper": PaperTables,
        "focused": Requirements,
        "ablation": Ablation,
        "noisy": WrongAnswers,
        "certificate": Certificates,
        "unsure": HardRows,
        "piles": Piles,
        "peers": Comparison,
        "relatives": Relatives,
    }
    shared = ("command", "jobs", "json", "out")
    given = {name: value for name, value in vars(options).items() if value is not None}
    return designs[options.command](**{k: v for k, v in given.items() if k not in shared})


def _sit_down(options: Namespace) -> None:
    from experiments.person import MARKS, main

    unknown = set(options.data or ()) - set(MARKS)
    if unknown:
        raise ValueError(f"{min(unknown)} cannot be sorted; these can: {', '.join(MARKS)}.")
    main(options.data, options.runs or 5, in_browser=options.browser)


def _sort_further(options: Namespace) -> None:
    experiment = import_module(f"experiments.{options.command}")
    known = experiment.ROWS if options.command == "copies" else experiment.GROUPS
    unknown = set(options.data or ()) - set(known)
    if unknown:
        raise ValueError(f"{min(unknown)} cannot be sorted; these can: {', '.join(known)}.")
    experiment.main(options.data, options.runs or 5)


def _find_duplicates(options: Namespace) -> None:
    from experiments.records import main

    main(options.data, options.runs or 10, options.algorithms, options.peer_python, options.json)


def _publish(folder: Path) -> None:
    from experiments.publish import publish

    for path in publish(folder):
        print(path)


def _make_pages(files: list[Path]) -> None:
    from experiments.page import write_page
    from experiments.results import read_results

    for path in files:
        write_page(read_results(path), path.with_suffix(".html"))
        print(path.with_suffix(".html"))
