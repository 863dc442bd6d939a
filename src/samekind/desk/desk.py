"""The desk at which a person answers: what a page or a terminal needs, and nothing of how it looks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from samekind.clusters import STOP_REASONS, Clusters
from samekind.desk.edits import Said, merged, parted
from samekind.desk.exports import FILES
from samekind.desk.gallery import draw_map, history, outline, page_of
from samekind.desk.imports import read_answers
from samekind.desk.names import LONGEST_NAME, name_of
from samekind.desk.questions import Questions
from samekind.desk.shapes import (
    Answered,
    Disagreement,
    KindPage,
    Outline,
    Pair,
    Question,
    Saying,
    Standing,
)
from samekind.desk.words import SPOKEN, WORDS, DeskError, deed_in_words, left_in_words
from samekind.engine import Session
from samekind.flow import UNSURE
from samekind.ledger import Ledger, LedgerLine
from samekind.things import Things

__all__ = ["Desk"]

BATCH = 4  # rows asked about at once: the next question is there before this one is answered
LINEUP = 9  # kinds in a line-up, at most: as many as there are keys

P = ParamSpec("P")
T = TypeVar("T")


def alone(
    method: Callable[Concatenate[Desk, P], T],
) -> Callable[Concatenate[Desk, P], T]:
    """Let one thread at a time into a method of the desk."""

    @wraps(method)
    def locked(self: Desk, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class Desk:
    """Questions for people about things, what they answered, and what was found.

    A thin driver of a `Session`: all that counts is in its ledger. A kind goes by the number of the row that
    stands for it. Any thread may call any method.

    Parameters
    ----------
    things : Things
        What to ask about.
    ledger : None, path, URL or Ledger
        Where answers are kept.
    title : str or None
        What the pile is called; by default the name of its file.
    session : Session or None
        One that is there already, instead of a ledger and settings.
    **settings
        Of the `Session`: budget, random_state, batch, algorithm, error_rate and so on. Unless told otherwise
        it asks for the sake of labels, not of centres, and in line-ups.

    Examples
    --------
    >>> from samekind.things import demo_things
    >>> desk = Desk(demo_things(), random_state=0)
    >>> [question] = desk.next("ann")
    >>> desk.answer(question.id, "different", who="ann")
    >>> desk.standing().kinds
    2
    """

    def __init__(
        self,
        things: Things,
        ledger: Ledger | str | Path | None = None,
        *,
        title: str | None = None,
        session: Session | None = None,
        **settings: Any,
    ) -> None:
        self.things = things
        self.title = title or things.source
        self._lock = threading.RLock()
        if session is None:
            session = Session(things.X, ledger=ledger, **_defaults(settings))
        self.session = session
        self.lineups = True  # whether line-ups are shown to anybody
        self._questions = Questions(session, self.name_of)
        self._found: tuple[Any, Clusters] | None = None

    # Asking

    @alone
    def next(self, who: str = "", *, lineup: bool = True, most: int = 1) -> list[Question]:
        """Return open questions for somebody, at most so many, and keep them for them for two minutes.

        Asked again, they get the same ones. Nobody goes empty while there is a question: if others have them
        all, one is shared, and whoever is second to answer is told.
        """
        return self._questions.next(who, lineup=lineup and self.lineups, most=most)

    @alone
    def answer(self, question_id: str, said: str | int, *, who: str = "") -> None:
        """Take an answer; it is on disk when this returns.

        To a pair: "same", "different", "unsure" or "skip". To a line-up: the kind that it is of, "none",
        "unsure" or "skip". What is skipped is not charged and can be come back to.
        """
        self._questions.answer(question_id, said, who)

    @alone
    def undo(self, count: int = 1, *, who: str | None = None) -> list[str]:
        """Take back the last things that were said, as deep as you like; return them in words."""
        acts: dict[tuple[float, str], list[LedgerLine]] = {}
        for line in self.session.take_back(count, who=who, together=True):
            acts.setdefault((line.when, line.who), []).insert(0, line)
        return [deed_in_words(lines) for lines in acts.values()]

    @alone
    def skipped(self, most: int = 3) -> list[Pair]:
        """Return questions that were skipped, to come back to."""
        return self._questions.skipped(most)

    @alone
    def finish(self) -> None:
        """Ask nothing more; `resume` goes on."""
        self.session.stop()

    @alone
    def resume(self) -> None:
        """Go on asking."""
        self.session.replay()

    @alone
    def standing(self) -> Standing:
        """Say where the work stands."""
        session = self.session
        now = session.progress
        next_kind = session.questions_to_next_cluster()
        return Standing(
            questions=now.questions,
            clicks=session.ledger.n_acts,
            budget=now.budget,
            kinds=now.discovered,
            known_rows=session.n_known,
            n_rows=session.points.n,
            done=session.done,
            stop_reason=session.stop_reason,
            stop_text=STOP_REASONS.get(session.stop_reason, str(session.stop_reason)),
            next_kind=None if next_kind is None else max(1, round(next_kind)),
            left_text=left_in_words(next_kind, session.done),
            can_undo=len(session.ledger) > 0,
            skipped=len(self._questions.skipped_pairs()),
            contradictions=len(session.contradictions),
            revision=hash(session.ledger.revision) & 0xFFFFFFFFFFFF,
        )

    # What was found

    @alone
    def clusters(self) -> Clusters:
        """Return what is found so far."""
        state = self.session.ledger.revision, self.session.stop_reason
        if self._found is None or self._found[0] != state:
            self._found = state, self.session.clusters()
        return self._found[1]

    @alone
    def outline(self, members: int = 8) -> Outline:
        """Return all kinds found so far, each with some members."""
        return outline(
            self.clusters(),
            self.session.points,
            self.name_of,
            self.session.confidence,
            members,
            self.standing().revision,
        )

    @alone
    def kind(self, kind: int, *, offset: int = 0, limit: int = 24) -> KindPage:
        """Return some rows of a kind."""
        points, cluster = self.session.points, self._cluster(kind)
        return page_of(self.clusters(), points, self.name_of, cluster, offset, limit)

    @alone
    def map(self) -> tuple[list[tuple[float, float, int, int, int]], list[int]]:
        """Return a picture of the rows: (x, y, place of the kind or -1, known, row), and the kinds."""
        return draw_map(self.clusters(), self.session.points)

    @alone
    def history(self) -> tuple[list[int], list[int]]:
        """Return the kinds found over the questions."""
        return history(self.clusters())

    @alone
    def export(self, name: str, path: Path) -> None:
        """Write what was found to a file; `EXPORTS` lists the names."""
        if name not in FILES:
            raise DeskError(f"{name} cannot be exported; these can: {', '.join(FILES)}.")
        FILES[name].write(path, self)

    def name_of(self, members: list[int]) -> str | None:
        """Return what a kind with these members is called."""
        return name_of(members, self.session.ledger)

    # What people do to kinds and answers

    @alone
    def rename(self, kind: int, name: str) -> None:
        """Call a kind something; "" takes its name away."""
        members = self._members(kind)
        text = " ".join(name.split())
        if len(text) > LONGEST_NAME:
            raise DeskError(f"A name has at most {LONGEST_NAME} characters, this has {len(text)}.")
        if not text.isprintable():
            raise DeskError("A name has only characters that can be seen.")
        self.session.ledger.name(members[0], text)

    @alone
    def remove(self, kind: int, rows: list[int], *, who: str = "") -> None:
        """Say that some rows do not belong to a kind."""
        members = self._members(kind)
        if not rows:
            raise DeskError("Say which rows do not belong here.")
        self._check_rows(rows)
        if set(members) <= set(rows):
            raise DeskError("That would leave nothing of the kind. Keep at least one row in it.")
        strangers = set(rows) - set(self._rows_of(kind))
        if strangers:
            raise DeskError(f"Row {min(strangers)} is not in this kind.")
        self._say(parted(members, rows, self.session.ledger.active()), who)

    @alone
    def merge(self, kinds: list[int], *, who: str = "") -> None:
        """Say that several kinds are one."""
        if len(set(kinds)) < 2:
            raise DeskError("Choose at least two kinds to make one of.")
        members = [self._members(kind) for kind in dict.fromkeys(kinds)]
        self._say(merged(members, self.session.ledger.active()), who)

    @alone
    def correct(self, a: int, b: int, answer: str, *, who: str = "") -> None:
        """Answer a pair anew: whatever anybody said of it before does not count any more."""
        self._check_rows([a, b])
        if answer not in WORDS:
            raise DeskError('The answer is "same", "different" or "unsure".')
        said = WORDS[answer]
        ledger = self.session.ledger
        pair = np.array([[a, b]])
        if ledger.lookup(pair, infer=False)[0] not in SPOKEN:
            raise DeskError("Nobody has answered this pair yet.")
        with self.session.edit():
            ledger.correct(a, b, said, who=who)

    @alone
    def answers(self, offset: int = 0, limit: int = 50) -> Answered:
        """Return the answers that stand, newest first."""
        standing = [entry for entry in self.session.ledger.lines() if not entry.retracted][::-1]
        return Answered(
            [
                Saying(e.a, e.b, SPOKEN[e.answer], e.who, e.when, e.asked)
                for e in standing[offset : offset + limit]
            ],
            len(standing),
        )

    @alone
    def contradictions(self) -> list[Disagreement]:
        """Return answers that cannot all be true."""
        return [
            Disagreement(
                str(found),
                [Saying(s.a, s.b, SPOKEN[s.answer], s.who, 0.0, True) for s in found.statements],
            )
            for found in self.session.contradictions
        ]

    @alone
    def import_answers(self, csv_text: str, *, who: str = "") -> int:
        """Take in a CSV of pairs, with columns a, b and answer; return how many were news.

        They count at once. "Unsure" is no news.
        """
        try:
            pairs, answers = read_answers(csv_text, self.session.points.n)
        except ValueError as error:
            raise DeskError(str(error)) from error
        known = self.session.ledger.lookup(pairs, infer=False)
        new = (known != answers) & (answers != UNSURE)
        if new.any():
            self.session.change(pairs[new], answers[new], who=who)
        return int(new.sum())

    def close(self) -> None:
        """Let go of the ledger."""
        with self._lock:
            self.session.close()

    # Within

    def _say(self, said: Said, who: str) -> None:
        """Say something by hand. What somebody without a name said before may have been said by the same."""
        pairs, answers = np.array([line[:2] for line in said]), np.array([line[2] for line in said])
        ledger = self.session.ledger
        nameless = [number for number, name in enumerate(ledger.annotators) if name == ""]
        same_person = np.isin(ledger.annotators_of(pairs), nameless).any()
        self.session.learn(pairs, answers, who="" if same_person else who)

    def _members(self, kind: int) -> list[int]:
        """Return the known rows of a kind that is named by any of them."""
        members = self.session.members_of(kind) if 0 <= kind < self.session.points.n else []
        if not members:
            raise DeskError(f"There is no kind {kind}. It may have been merged into another one.")
        return members

    def _cluster(self, kind: int) -> int:
        first = self._members(kind)[0]
        found = self.clusters()
        return next(k for k, members in enumerate(found.members_) if members[0] == first)

    def _rows_of(self, kind: int) -> list[int]:
        rows: list[int] = np.flatnonzero(self.clusters().labels_ == self._cluster(kind)).tolist()
        return rows

    def _check_rows(self, rows: list[int]) -> None:
        n = self.session.points.n
        wrong = [row for row in rows if not 0 <= row < n]
        if wrong:
            raise DeskError(f"There is no row {wrong[0]}: rows go from 0 to {n - 1}.")


def _defaults(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a session for people: labels matter to them, not centres."""
    if settings.get("algorithm", "focused") != "focused":
        return settings
    return {"batch": BATCH, "lineup": LINEUP, "goal": "labels"} | settings
