"""Of what kind are these rows? Likeliest kinds first, and no further than it pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.evidence import Evidence, Weighed
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.state import GIVEN_UP, ClusterState
from samekind.flow import DIFFERENT, SAME, UNANSWERED, Flow, Reply

__all__ = ["Asking", "Doubt", "weigh"]

PLAUSIBLE = 0.05  # chance that one of the kinds left holds a row, below which it is called new
WORTH_A_LOOK = 0.01  # the same for kinds in a line-up, where one more costs little
OBVIOUS = 0.9  # chance of a kind that is asked about alone, not in a line-up

LineUp = list[tuple[int, int]]
"""ClusterState to compare a row with, and a member of each. A line-up is one question to who answers it."""


class Doubt:
    """A row whose kind is being asked for."""

    def __init__(self, row: int, x: NDArray[np.float64], predicted: int) -> None:
        self.row = row
        self.x = x
        self.predicted = predicted
        self.kind: int | None = None  # GIVEN_UP when nobody can tell
        self.is_new = False
        self.certainty = 1.0  # of the kind, once it is known
        self.refused: list[int] = []
        self.half_refused: set[int] = set()  # UNSURE, and no member is left to ask about
        self.n_unsure = 0
        self.n_asked = 0
        self.asked: dict[int, list[int]] = {}  # members asked about, by kind
        self.chances = np.zeros(0)  # of each kind, before the first answer
        self.features: tuple[NDArray[np.float64], NDArray[np.float64]]

    def asked_rows(self) -> set[int]:
        """Return the rows it was compared with."""
        return {member for members in self.asked.values() for member in members}

    def hold(self, found: Weighed, i: int) -> None:
        """Take in how likely each kind is: row i of what was found."""
        self.weights, self.of_new = found.weights[i], float(found.new[i])
        if not self.n_asked:
            self.features = found.of_kinds[i], found.of_new[i]
            self.chances = found.chances[i]

    def candidate(self, certify: str) -> int:
        """Return the kind to ask next, or -1 when the row is to be called new."""
        out = [*self.refused, *self.half_refused]
        if out:
            self.weights[out] = 0.0
        if not self.weights.size:
            return -1
        best = int(self.weights.argmax())
        if not self.weights[best] > 0:
            return -1
        if certify == "lazy" and self.refused:
            rest = float(self.weights.sum())
            if rest < PLAUSIBLE * (rest + self.of_new):
                return -1
        return best

    def posterior(self) -> NDArray[np.float64]:
        """Return the chances of the kinds it could still be of, after those that refused it."""
        chances = self.chances
        if refused := [kind for kind in self.refused if kind < chances.size]:
            left = 1.0 - chances[refused].sum()
            chances = chances.copy()
            chances[refused] = 0.0
            if self.is_new and left > 0:
                chances /= left
        return chances


def weigh(doubts: Sequence[Doubt], evidence: Evidence) -> None:
    """Find out how likely each kind is for some rows."""
    rows, X = np.array([doubt.row for doubt in doubts]), np.array([doubt.x for doubt in doubts])
    found = evidence.weigh(rows, X)
    for i, doubt in enumerate(doubts):
        doubt.hold(found, i)


class Asking:
    """Asks about rows until their kinds are known, taking every answer for true.

    Rows that are new go to `start`, which founds their kinds at once, so that the rows still in doubt can be
    of them. Pairs that nobody can tell are added to `unsure`.
    """

    def __init__(
        self,
        evidence: Evidence,
        kinds: ClusterState,
        settings: FocusedParams,
        start: Callable[[Doubt], None],
        unsure: set[tuple[int, int]],
    ) -> None:
        self._evidence = evidence
        self._kinds = kinds
        self._settings = settings
        self._start = start
        self._unsure = unsure

    def settle(self, doubts: list[Doubt]) -> Flow[None]:
        """Ask until the kind of each row is known, in waves of one question, or line-up, a row."""
        n_kinds = -1
        while open_doubts := [doubt for doubt in doubts if doubt.kind is None]:
            if n_kinds != self._evidence.n_kinds:
                n_kinds = self._evidence.n_kinds
                weigh(open_doubts, self._evidence)
            wave: list[tuple[Doubt, LineUp]] = []
            for doubt in open_doubts:
                question = self.next_question(doubt)
                if question is not None:
                    wave.append((doubt, [question, *self._others(doubt, question[0])]))
                elif doubt.kind is None:
                    self._start(doubt)
                    break  # the others may be of the new kind
            else:
                if wave:
                    reply = yield np.array(
                        [(doubt.row, member) for doubt, line_up in wave for _, member in line_up]
                    )
                    self._take(wave, reply)

    def _others(self, doubt: Doubt, first: int) -> LineUp:
        """Return the other kinds of a line-up, each with a member: those that the row could plausibly be of.

        None where the first one is obvious.
        """
        found: LineUp = []
        if self._settings.lineup == 1:
            return found
        chances = self.chances(doubt)
        if chances[first] >= OBVIOUS:
            return found
        new = 1.0 - chances.sum()
        chances[first] = 0.0
        for kind in np.argsort(-chances, kind="stable").tolist():
            rest = chances.sum()
            if len(found) + 1 == self._settings.lineup or rest < WORTH_A_LOOK * (rest + new):
                break
            member = self.member(doubt, kind) if chances[kind] > 0 else -1
            chances[kind] = 0.0
            if member >= 0:
                found.append((kind, member))
        return found

    def _take(self, wave: list[tuple[Doubt, LineUp]], reply: Reply) -> None:
        """Take in the answers of a wave."""
        answers, size = reply.answers.tolist(), len(reply.answers)
        who = [-1] * size if reply.who is None else reply.who.tolist()
        skipped = [False] * size if reply.skipped is None else reply.skipped.tolist()
        said = zip(answers, who, skipped, strict=True)
        for doubt, line_up in wave:
            self._take_one(doubt, line_up, list(islice(said, len(line_up))))

    def _take_one(self, doubt: Doubt, line_up: LineUp, said: list[tuple[int, int, bool]]) -> None:
        """Take in what was said about a row, by whom, and whether it was skipped.

        Where it was found in a line-up, nothing else counts, and the rest of it need not be answered. Who is
        not sure of a line-up is not asked about the row again.
        """
        doubt.n_asked += 1
        found = any(answer == SAME for answer, _, _ in said)
        for (kind, member), (answer, by, skipped) in zip(line_up, said, strict=True):
            if answer == UNANSWERED or (found and answer != SAME):
                continue
            asked = doubt.asked.setdefault(kind, [])
            asked.append(member)
            if answer in (SAME, DIFFERENT):
                self.hear(doubt, kind, member, answer, by)
                continue
            doubt.n_unsure += 1
            self._unsure.add((min(doubt.row, member), max(doubt.row, member)))
            if skipped or len(line_up) > 1 or doubt.n_unsure >= self._settings.patience:
                doubt.kind = GIVEN_UP
            elif len(asked) == len(self._kinds.members[kind]):
                doubt.half_refused.add(kind)

    # What depends on whether answers can be wrong

    def next_question(self, doubt: Doubt) -> tuple[int, int] | None:
        """Return the kind to ask about next, and a member.

        None when the row's kind is decided, which is noted; one that stays open is new.
        """
        kind = doubt.candidate(self._settings.certify)
        if kind >= 0:
            return kind, self.member(doubt, kind)
        if doubt.half_refused:
            doubt.kind = GIVEN_UP
        return None

    def hear(self, doubt: Doubt, kind: int, member: int, answer: int, who: int) -> None:
        """Take in SAME or DIFFERENT about a row and a member of a kind."""
        if answer == SAME:
            doubt.kind = kind
        else:
            doubt.refused.append(kind)

    def chances(self, doubt: Doubt) -> NDArray[np.float64]:
        """Return the chance of each kind, after what was said; the rest is that of being new."""
        found: NDArray[np.float64] = doubt.weights / (doubt.weights.sum() + doubt.of_new)
        return found

    def member(self, doubt: Doubt, kind: int) -> int:
        """Return the member to ask about: the nearest that is a site, or after an UNSURE answer any other."""
        asked = doubt.asked.get(kind)
        if not asked:
            return self._evidence.nearest_member(doubt.x, kind)
        return next(member for member in self._kinds.members[kind] if member not in asked)
