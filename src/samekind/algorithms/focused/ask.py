"""Of what kind are these rows? Likeliest kinds first, and no further than it pays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.kinds import GIVEN_UP, Kinds
from samekind.flow import DIFFERENT, SAME, Flow

__all__ = ["Doubt", "settle"]

PLAUSIBLE = 0.05  # chance that one of the kinds left holds a row, below which it is called new


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

    def weigh(self, evidence: Evidence) -> None:
        """Find out how likely each kind is."""
        features = evidence.features(np.array([self.row]), self.x[None])
        of_kinds, of_new = features[0][0], features[1][0]
        self.weights, self.of_new = evidence.choice.weigh(of_kinds, of_new, evidence.alive)
        if not self.n_asked:
            self.features = of_kinds, of_new
            self.chances = self.weights / (self.weights.sum() + self.of_new)

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


def settle(
    doubts: list[Doubt],
    evidence: Evidence,
    kinds: Kinds,
    certify: str,
    patience: int,
    on_new: Callable[[Doubt, int], None],
    unsure: set[tuple[int, int]],
) -> Flow[None]:
    """Ask until the kind of each row is known, in waves of one question a row.

    Rows that found a kind become known to the evidence, and to `on_new`, at once, so that the rows still in
    doubt can be of it. Pairs that nobody can tell are added to `unsure`.
    """
    n_kinds = -1
    while open_doubts := [doubt for doubt in doubts if doubt.kind is None]:
        if n_kinds != evidence.n_kinds:
            n_kinds = evidence.n_kinds
            for doubt in open_doubts:
                doubt.weigh(evidence)
        asking: list[tuple[Doubt, int, int]] = []
        for doubt in open_doubts:
            candidate = doubt.candidate(certify)
            if candidate >= 0:
                asking.append((doubt, candidate, _member(doubt, candidate, evidence, kinds)))
            elif doubt.half_refused:
                doubt.kind = GIVEN_UP
            else:
                doubt.kind = kinds.discover(doubt.row, doubt.x)
                doubt.is_new = True
                on_new(doubt, doubt.kind)
                evidence.found()
                evidence.learn(doubt.row, doubt.x, doubt.kind, surprising=True)
                break  # the others may be of the new kind
        else:
            if not asking:
                continue
            answers = yield np.array([[doubt.row, member] for doubt, _, member in asking])
            for (doubt, candidate, member), answer in zip(asking, answers.tolist(), strict=True):
                doubt.asked.setdefault(candidate, []).append(member)
                doubt.n_asked += 1
                if answer == SAME:
                    doubt.kind = candidate
                elif answer == DIFFERENT:
                    doubt.refused.append(candidate)
                else:
                    doubt.n_unsure += 1
                    unsure.add((min(doubt.row, member), max(doubt.row, member)))
                    if doubt.n_unsure >= patience:
                        doubt.kind = GIVEN_UP
                    elif len(doubt.asked[candidate]) == len(kinds.members[candidate]):
                        doubt.half_refused.add(candidate)


def _member(doubt: Doubt, kind: int, evidence: Evidence, kinds: Kinds) -> int:
    """Return the member to ask about: the nearest that is a site, or after an UNSURE answer any other."""
    asked = doubt.asked.get(kind)
    if not asked:
        return evidence.nearest_member(doubt.x, kind)
    return next(member for member in kinds.members[kind] if member not in asked)
