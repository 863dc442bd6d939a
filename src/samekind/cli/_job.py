"""One run from data to results: ask, write, and say what was found."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from samekind.cli._errors import INTERRUPTED, MISTAKEN, users_values
from samekind.cli._interrupts import Interrupts
from samekind.cli._models import unchecked_notes
from samekind.cli._passes import Passes
from samekind.cli._places import Place, shown_command
from samekind.cli._results import print_results, write_results
from samekind.engine import ContradictionWarning, Session, answer_with
from samekind.oracles import ChatError, CommandError, LabelOracle, Oracle
from samekind.progress import progress_bar
from samekind.project import Project
from samekind.report import compare
from samekind.terminal import answer_in_terminal, keys_at_hand

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.oracles import ChatOracle, CommandOracle


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
    who: str | None = None
    project: Place | None = None
    quiet: bool = False
    next_steps: list[str] = field(default_factory=list)
    passes: Passes | None = None


def run_job(job: Job) -> int:
    """Run a job, write its results and return the exit code."""
    chat = Console(stderr=True, quiet=job.quiet and not job.person)
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
                    answer_in_terminal(project, who=job.who, console=chat, keys=keys)
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
                project.kinds.notes = unchecked_notes(session, job.oracle)
            clusters = project.clusters()
            found = (clusters.labels_, clusters.n_discovered_)
            truth = None if labels is None else compare(labels, *found)
            project.exports.truth, project.exports.shows_labels = truth, not job.person
            project.overview.maps.waits = True
            written = write_results(job, project)
    if not job.quiet:
        print_results(job, clusters, written, truth)
    if clusters.stop_reason_ in ("user", "failed", "spent"):
        _say_how_to_go_on(chat, job)
    return INTERRUPTED if interrupts.count else MISTAKEN if failure else 0


def _let_answer(
    session: Session, oracle: Oracle, chat: Console, check: Callable[[object], None]
) -> None:
    shown = nullcontext(None) if chat.quiet else progress_bar(chat)
    with shown as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)  # the summary lists them
        heard = [listen for listen in (bar, check) if listen is not None]
        answer_with(session, oracle, lambda: [listen(session.progress) for listen in heard])


def _say_how_to_go_on(chat: Console, job: Job) -> None:
    if job.project is None:
        text = "To be able to go on after a stop, keep the answers: --project FILE.db"
    else:
        command = shlex.join(["samekind", *shown_command()])
        text = f"The answers are in {job.project}. To go on, run the same command:\n  {command}"
    chat.print("\n" + text, markup=False, highlight=False, soft_wrap=True)
