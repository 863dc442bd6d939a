"""What an act of a user takes in a project with a long history: seconds, against those that are promised."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import samekind
from benchmarks.ratios import Ratio, Setting
from benchmarks.ratios.clock import compile_all, seconds

if TYPE_CHECKING:
    from samekind.project import Project

__all__ = ["acts"]

PROMISED = 0.3  # seconds for a change of the past
NEXT_QUESTION = 0.1  # seconds from an answer to the next question, for 95 of 100
TIMES = 9


def acts(setting: Setting) -> Iterator[Ratio]:
    """A page's acts on 10^5 rows: after 10^4 answers of people, and after 10^5 in all."""
    compile_all()
    n, few, many = setting.rows(100_000), setting.questions(10_000), setting.questions(100_000)
    from samekind.data import Items
    from samekind.datasets import make_synthetic
    from samekind.project import Project

    X, y = make_synthetic(n, n_clusters=30, alpha=1.0, random_state=0)
    items = Items.of_array(X, "rows", [f"x{k}" for k in range(X.shape[1])])
    with tempfile.TemporaryDirectory(dir=setting.scratch) as folder:
        path = Path(folder) / "mine.db"
        with closing(Project(items, path, random_state=0, epsilon=None, sheet=0)) as project:
            _answer_at_once(project, y, few)
            times = [_click(project, y) for _ in range(200)]
            yield _within(
                f"{n:,} rows, {few:,} answers: from an answer to the next question, 95 % of them",
                float(np.quantile(times, 0.95)),
                NEXT_QUESTION,
            )
            _write_history(project, y, many)
            what = f"{len(project.session.ledger):,} answers"
            yield _within(f"{what}: an answer, and the next question", _times(project, y, _click))
            for name, act in (
                ("a correction", _correct),
                ("to undo the last answer", _undo),
                ("to undo an answer of long ago", _undo_of_another),
                ("to make one of two clusters, and two again", _merge),
            ):
                yield _within(f"{what}: {name}", _times(project, y, act))
            _contradict(project, setting.questions(5_000))
            what = f"{project.status().contradictions:,} contradictions"
            yield _within(f"{what}: an answer, and the next question", _times(project, y, _click))
            yield _within(f"{what}: to undo the last answer", _times(project, y, _undo))


def _within(what: str, taken: float, promised: float = PROMISED) -> Ratio:
    return Ratio(what, f"{taken * 1e3:.0f} ms", taken / promised, 1.0)


def _times(project: Project, y: Any, act: Callable[[Project, Any], float]) -> float:
    return median(act(project, y) for _ in range(TIMES))


def _answer_at_once(project: Project, y: Any, questions: int) -> None:
    oracle, session = samekind.LabelOracle(y), project.session
    while session.n_questions < questions and not session.done:
        pairs = session.pending()
        session.tell(pairs, oracle(pairs), who="ann")


def _write_history(project: Project, y: Any, answers: int) -> None:
    """Add answers about rows that nobody was asked about yet, at once."""
    session = project.session
    rng, size = np.random.default_rng(0), answers - len(session.ledger)
    unknown = np.flatnonzero([not session.members_of(row) for row in range(len(y))])
    wave = np.isin(unknown, session.pending())
    pairs = rng.choice(unknown[~wave], (2 * size, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = rng.permutation(pairs)[: max(size, 0)].astype(np.intp)
    session.learn(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], who="bob")


def _click(project: Project, y: Any) -> float:
    [question] = project.next("ann", lineup=False)
    assert question.type == "pair"
    said = "same" if y[question.a.row] == y[question.b.row] else "different"

    def click() -> None:
        project.answer(question.id, said, who="ann")
        project.next("ann", lineup=False)
        project.status()

    return seconds(click)


def _correct(project: Project, y: Any) -> float:
    record = next(r for r in project.answers.page(limit=10**6).answers if r.who == "ann")
    other = "different" if record.answer == "same" else "same"
    return seconds(lambda: project.answers.correct(record.a, record.b, other, who="cy"))


def _undo(project: Project, y: Any) -> float:
    _click(project, y)
    return seconds(lambda: project.undo(who="ann"))


def _undo_of_another(project: Project, y: Any) -> float:
    return seconds(lambda: project.undo(who="ann"))


def _merge(project: Project, y: Any) -> float:
    kinds = [kind.cluster for kind in project.kinds.refs()[:2]]
    merged = seconds(lambda: project.kinds.merge(kinds, who="ann"))
    return max(merged, seconds(lambda: project.undo(who="ann")))


def _contradict(project: Project, count: int) -> None:
    """Let somebody say the contrary of what others said."""
    active = project.session.ledger.active()
    said = active[(active["answer"] >= 0)][:count]
    pairs = np.column_stack([said["a"], said["b"]])
    project.session.learn(pairs, 1 - said["answer"], who="dot")
