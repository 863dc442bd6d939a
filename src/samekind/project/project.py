"""A project: what a page or a terminal needs to label items, and nothing of how it looks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

import samekind
from samekind.algorithms import DEFAULT, find_algorithm
from samekind.clusters import STOP_REASONS, Clusters
from samekind.data import Items
from samekind.engine import Session
from samekind.ledger import Ledger, LedgerLine, Revision
from samekind.project.edits import Edits
from samekind.project.exports import FILES
from samekind.project.overview import FoundClusters
from samekind.project.questions import Questions
from samekind.project.records import (
    AnsweredPair,
    AnswerPage,
    AnswerRecord,
    ClusterPage,
    ContradictionRecord,
    History,
    ItemView,
    Overview,
    PairQuestion,
    Question,
    RowMap,
    Status,
)
from samekind.project.words import (
    WORDS,
    ProjectError,
    act_in_words,
    left_in_words,
    name_of,
    plain,
    plain_item,
)

__all__ = ["Project"]

BATCH = 4  # rows asked about at once: the next question is there before this one is answered
LINEUP = 9  # clusters in a line-up, at most: as many as there are keys

P = ParamSpec("P")
T = TypeVar("T")


def exclusive(
    method: Callable[Concatenate[Project, P], T],
) -> Callable[Concatenate[Project, P], T]:
    """Let one thread at a time into a method of the project."""

    @wraps(method)
    def locked(self: Project, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class Project:
    """Questions for annotators about items, what they answered, and what was found.

    A thin driver of a `Session`: all that counts is in its ledger. A cluster goes by the number of the row
    that stands for it. Any thread may call any method.

    Parameters
    ----------
    items : Items
        What to ask about.
    ledger : None, path, URL or Ledger
        Where answers are kept.
    title : str or None
        What the items are called; by default the name of their file.
    session : Session or None
        One that is there already, instead of a ledger and settings.
    **settings
        Of the `Session`: budget, random_state, batch, algorithm, error_rate and so on. Unless told otherwise
        it asks for the sake of labels, not of centres, and in line-ups.

    Examples
    --------
    >>> from samekind.data import demo_items
    >>> project = Project(demo_items(), random_state=0)
    >>> [question] = project.next("ann")
    >>> project.answer(question.id, "different", who="ann")
    >>> project.status().clusters
    2
    """

    def __init__(
        self,
        items: Items,
        ledger: Ledger | str | Path | None = None,
        *,
        title: str | None = None,
        session: Session | None = None,
        **settings: Any,
    ) -> None:
        self.items = items
        self.title = plain(title or items.source)
        self._lock = threading.RLock()
        if session is None:
            session = Session(items, ledger=ledger, **_defaults(settings))
        self.session = session
        self.lineups = True  # whether line-ups are shown to anybody
        self._questions = Questions(session, self.item)
        self._edits = Edits(session, self.clusters)
        self._found: tuple[tuple[Revision, str | None], Clusters] | None = None

    # Asking

    @exclusive
    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody, at most so many, and keep them for them for two minutes.

        Asked again, they get the same ones. Nobody goes empty while there is a question: if others have them
        all, one is shared, and whoever is second to answer is told.
        """
        return self._questions.next(who, lineup=lineup and self.lineups, most=most)

    @exclusive
    def answer(self, question_id: str, answer: str | int, *, who: str = "") -> None:
        """Take an answer; it is on disk when this returns.

        To a pair: "same", "different", "unsure" or "skip". To a line-up: the cluster that it is in, "none",
        "unsure" or "skip". What is skipped is not charged and can be come back to.
        """
        self._questions.answer(question_id, answer, who)

    @exclusive
    def undo(self, count: int = 1, *, who: str | None = None) -> list[str]:
        """Take back the last acts, as many as you like; return in words what they were.

        An act is all that was answered at once.
        """
        acts: dict[tuple[float, str], list[LedgerLine]] = {}
        for line in self.session.take_back(count, who=who, together=True):
            acts.setdefault((line.when, line.who), []).insert(0, line)
        return [act_in_words(lines) for lines in acts.values()]

    @exclusive
    def skipped(self, most: int = 3) -> list[PairQuestion]:
        """Return questions that were skipped, to come back to."""
        return self._questions.skipped(most)

    @exclusive
    def finish(self) -> None:
        """Ask nothing more; `resume` goes on."""
        self.session.stop()

    @exclusive
    def resume(self) -> None:
        """Go on asking."""
        self.session.replay()

    @exclusive
    def status(self) -> Status:
        """Return where the work stands."""
        session = self.session
        session.catch_up()
        now, left = session.progress, session.questions_to_next_cluster()
        return Status(
            title=self.title,
            medium=self.items.medium,
            n_rows=session.points.n,
            questions=now.questions,
            clicks=session.ledger.n_acts,
            budget=now.budget,
            clusters=now.discovered,
            known_rows=session.n_known,
            done=session.done,
            stop_reason=session.stop_reason,
            stop_text=STOP_REASONS.get(session.stop_reason, str(session.stop_reason)),
            questions_to_next=None if left is None else max(1, round(left)),
            left_text=left_in_words(left, session.done),
            can_undo=len(session.ledger) > 0,
            skipped=len(self._questions.skipped_pairs()),
            contradictions=len(session.contradictions),
            lineups=self.lineups,
            revision=hash(session.ledger.revision) & 0xFFFFFFFFFFFF,
            version=samekind.__version__,
        )

    # What was found

    def item(self, row: int) -> ItemView:
        """Return what to show of a row."""
        return plain_item(self.items.show(row))

    def image(self, row: int) -> NDArray[np.uint8] | None:
        """Return a small grey picture of a row, where items are pictures."""
        return None if self.items.images is None else self.items.images[row]

    def name_of(self, members: list[int]) -> str | None:
        """Return what a cluster with these members is called."""
        return name_of(members, self.session.ledger)

    @exclusive
    def clusters(self) -> Clusters:
        """Return what is found so far."""
        state = self.session.ledger.revision, self.session.stop_reason
        if self._found is None or self._found[0] != state:
            self._found = state, self.session.clusters()
        return self._found[1]

    @exclusive
    def overview(self, members: int = 8) -> Overview:
        """Return all clusters found so far, each with some members."""
        revision = self.status().revision
        return self._shown().overview(members, revision)

    @exclusive
    def cluster(self, cluster: int, *, offset: int = 0, limit: int = 24) -> ClusterPage:
        """Return some items of a cluster."""
        return self._shown().page(self._edits.label_of(cluster), offset, limit)

    @exclusive
    def map(self) -> RowMap:
        """Return a picture of the rows."""
        return self._shown().map()

    @exclusive
    def history(self) -> History:
        """Return the clusters found over the questions."""
        return self._shown().history()

    @exclusive
    def export(self, name: str, path: Path) -> None:
        """Write what was found to a file; `EXPORTS` lists the names."""
        if name not in FILES:
            raise ProjectError(f"{name} cannot be exported; these can: {', '.join(FILES)}.")
        FILES[name].write(path, self)

    # What people do to clusters and answers

    @exclusive
    def rename(self, cluster: int, name: str, *, who: str = "") -> None:
        """Call a cluster something; "" takes its name away."""
        self._edits.rename(cluster, name, who)

    @exclusive
    def remove(self, cluster: int, rows: list[int], *, who: str = "") -> None:
        """Take some rows out of a cluster."""
        self._edits.remove(cluster, rows, who)

    @exclusive
    def merge(self, clusters: list[int], *, who: str = "") -> None:
        """Make several clusters one."""
        self._edits.merge(clusters, who)

    @exclusive
    def correct(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Answer a pair anew: whatever anybody answered before does not count any more."""
        self._edits.correct(a, b, answer, who)

    @exclusive
    def import_answers(self, csv_text: str, *, who: str = "") -> int:
        """Take in a CSV of pairs, with columns a, b and answer; return how many were news.

        They count at once. "Unsure" is no news.
        """
        return self._edits.import_answers(csv_text, who)

    @exclusive
    def answers(self, offset: int = 0, limit: int = 50) -> AnswerPage:
        """Return the answers that stand, newest first."""
        standing = [line for line in self.session.ledger.lines() if not line.retracted][::-1]
        return AnswerPage(
            [
                AnswerRecord(line.a, line.b, WORDS[line.answer], plain(line.who), *line[4:6])
                for line in standing[offset : offset + limit]
            ],
            len(standing),
        )

    @exclusive
    def contradictions(self) -> list[ContradictionRecord]:
        """Return answers that cannot all be true."""
        return [
            ContradictionRecord(
                plain(str(found)),
                [
                    AnsweredPair(self.item(s.a), self.item(s.b), WORDS[s.answer], plain(s.who))
                    for s in found.statements
                ],
            )
            for found in self.session.contradictions
        ]

    def close(self) -> None:
        """Let go of the ledger."""
        with self._lock:
            self.session.close()

    # Within

    def _shown(self) -> FoundClusters:
        session = self.session
        return FoundClusters(
            self.clusters(), session.points, self.item, self.name_of, session.confidence
        )


def _defaults(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a session for people: labels matter to them, not centres."""
    if not find_algorithm(settings.get("algorithm", DEFAULT)).asks_lineups:
        return settings
    return {"batch": BATCH, "lineup": LINEUP, "goal": "labels"} | settings
