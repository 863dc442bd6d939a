"""One run from data to results: ask, write the files, and say what was found."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from samekind.cli._console import Interrupts, Passes
from samekind.cli._errors import INTERRUPTED, MISTAKEN, UserError, users_values
from samekind.cli._models import unchecked_notes
from samekind.cli._places import Place, shown_command
from samekind.cli._projects import replace_file
from samekind.clusters import Clusters
from samekind.engine import ContradictionWarning, Session, answer_with
from samekind.oracles import ChatError, CommandError, LabelOracle, Oracle
from samekind.progress import progress_bar
from samekind.project import Project, find_export
from samekind.project.exports import tables
from samekind.report import Comparison, compare
from samekind.terminal import answer_in_terminal, keys_at_hand

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.oracles import ChatOracle, CommandOracle


PROJECT = "project.db"


@dataclass(frozen=True)
class Job:
    """What to cluster, who answers, and where the results go.

    The labels of the items answer the questions, or, if a `person` or another `oracle` does, are only
    compared with at the end. `passes` shows how far long passes over data in files are.
    """

    items: Items
    out: Path
    title: str
    settings: dict[str, Any]
    person: bool = False
    oracle: ChatOracle | CommandOracle | None = None
    project: Place | None = None
    next_steps: list[str] = field(default_factory=list)
    passes: Passes | None = None


def run_job(job: Job) -> int:
    """Run a job, write its results and return the exit code."""
    chat = Console(stderr=True)
    passes = job.passes if job.passes is not None else Passes(chat)
    failure = ""
    with Interrupts() as interrupts, passes:
        passes.check = interrupts.check
        with users_values(job.project):
            labels = job.items.labels
            oracle: Oracle | None = job.oracle
            if oracle is None and labels is not None:
                oracle = LabelOracle(getattr(labels, "codes", labels))
            session = Session(job.items, ledger=job.project, **job.settings)
        with session:
            if len(session.ledger):
                many = "s from before are" if len(session.ledger) > 1 else " from before is"
                known = f"{len(session.ledger):,} answer{many} in {job.project}."
                chat.print(known, markup=False, highlight=False, soft_wrap=True)
            project = Project(job.items, session=session, title=job.title)
            passes.check = lambda: None  # from here on there is something to write after Ctrl-C
            try:
                if job.person:
                    keys = keys_at_hand(interrupts.while_reading)
                    answer_in_terminal(project, console=chat, keys=keys)
                elif not session.done:
                    assert oracle is not None
                    with passes.silent():
                        _let_answer(session, oracle, chat, interrupts.check)
            except (ChatError, CommandError) as error:
                failure = str(error)
                session.stop("failed")
                chat.print(f"\n{failure}", markup=False, highlight=False, soft_wrap=True)
                chat.print("What is known so far is being written.")
            except KeyboardInterrupt:
                if interrupts.count > 1:  # perhaps in the middle of something: write nothing
                    _say_how_to_go_on(chat, job)
                    return INTERRUPTED
                session.stop()
                chat.print("\nStopped. What is known so far is being written.")
            if job.oracle is not None:
                project.kinds.notes += unchecked_notes(session, job.oracle)
            clusters = project.clusters()
            truth = None
            if (own := job.items.whole.labels) is not None:
                truth = compare(own, clusters.labels_, clusters.n_discovered_)
            project.exports.truth, project.exports.shows_labels = truth, not job.person
            project.overview.maps.waits = True
            written = _write_results(job, project)
    _print_results(job, clusters, written, truth)
    if clusters.stop_reason_ in ("user", "failed", "spent"):
        _say_how_to_go_on(chat, job)
    return INTERRUPTED if interrupts.count else MISTAKEN if failure else 0


def _let_answer(
    session: Session, oracle: Oracle, chat: Console, check: Callable[[object], None]
) -> None:
    with progress_bar(chat) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)  # the summary lists them
        answer_with(session, oracle, lambda: [listen(session.progress) for listen in (bar, check)])


def _say_how_to_go_on(chat: Console, job: Job) -> None:
    if job.project is None:
        text = "To be able to go on after a stop, keep the answers: --project FILE.db"
    else:
        command = shlex.join(["samekind", *shown_command()])
        text = f"The answers are in {job.project}. To go on, run the same command:\n  {command}"
    chat.print("\n" + text, markup=False, highlight=False, soft_wrap=True)


def prepare_folder(out: Path, keep: Path | None = None, files: Sequence[Path] = ()) -> None:
    """Make the folder before anything is asked; refuse to write over the file to keep, or beside `files`."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out must be a folder, but {out} is a file. Name another one.")
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise UserError(f"there is no permission to write in {out}. Name another folder: --out DIR")
    places = [file.parent.resolve() for file in files]
    within = keep is not None and keep.is_dir() and out.resolve().is_relative_to(keep.resolve())
    if out.resolve() in places or within:  # would be read with them the next time
        raise UserError(
            f"the results would lie among the data, in {out}. Name another folder: --out DIR"
        )
    for name in ("report", "csv", "parquet", "centers", "npz"):
        path = out / find_export(name).file
        if keep is not None and keep.exists() and path.exists() and path.samefile(keep):
            raise UserError(
                f"the results would replace the data, {keep}. Name another folder: --out DIR"
            )


def _write_results(job: Job, project: Project) -> list[tuple[Place, str]]:
    """Write all files; return each with what it holds."""
    found = project.clusters()
    is_large = project.items.is_streamed and found.n_rows_ > tables.MANY
    names = ["parquet" if is_large else "csv", "centers", "npz"]
    if all(find_spec(package) for package in ("jinja2", "plotly", "PIL")):
        names.insert(0, "report")
    else:
        job.next_steps.append("For a report with plots: pip install 'samekind[report]'")
    written: list[tuple[Place, str]] = []
    for export in map(find_export, names):
        path = job.out / export.file
        replace_file(path, lambda beside, export=export: project.export(export.name, beside))  # type: ignore[misc]
        written.append((path, export.about))
    if job.project is not None:
        written.append((job.project, "the answers"))
    return written


def _print_results(
    job: Job, clusters: Clusters, written: list[tuple[Place, str]], truth: Comparison | None
) -> None:
    """Print the summary and where everything is."""
    out = Console()
    table = clusters.summary()
    if truth is not None:
        table.add_row("kinds in the labels", f"{len(truth.classes):,}")
        table.add_row("adjusted Rand index", f"{truth.agreement:.3f}")
    out.print(table)
    width = max(len(str(path)) for path, _ in written)
    lines = [f"{path!s:<{width}}  {what}" for path, what in written]
    for line in ["", *lines, *(["", *job.next_steps] if job.next_steps else [])]:
        out.print(Text(line), soft_wrap=True)
