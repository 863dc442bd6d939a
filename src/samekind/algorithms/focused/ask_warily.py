"""Of what kind are these rows, when answers may be wrong? A sequential test for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.ask import Asking, Doubt
from samekind.algorithms.focused.beliefs import Beliefs
from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.focused.params import FocusedParams
from samekind.algorithms.state import ClusterState
from samekind.flow import SAME

__all__ = ["WaryAsking"]

SURE = 0.94  # certainty at which a row is of a kind
SURE_NEW = 0.8  # or founds one
ENOUGH = 24  # questions about a row after which the likeliest kind is taken
FLOOR = 0.01  # share of the chances that is spread evenly, as nothing is impossible
LITTLE = 0.01  # chance of a kind that is not worth a question
FIRM = 0.8  # certainty of a member that is asked about rather than others


class WaryAsking(Asking):
    """Asks about rows until their kinds are certain enough.

    The chances that the model of the kinds gives are the prior, each answer about a member of a kind
    multiplies them by its likelihood, and questions go to the likeliest kind, each about another member.
    """

    def __init__(
        self,
        evidence: Evidence,
        kinds: ClusterState,
        settings: FocusedParams,
        start: Callable[[Doubt], None],
        unsure: set[tuple[int, int]],
        beliefs: Beliefs,
    ) -> None:
        super().__init__(evidence, kinds, settings, start, unsure)
        self._beliefs = beliefs

    def next_question(self, doubt: Doubt) -> tuple[int, int] | None:
        """Return the kind to ask about next, and a member.

        None when the row's kind is decided, which is noted; one that stays open is new.
        """
        prior = self.prior(doubt)
        chances = self._beliefs.posterior(doubt.row, prior)
        question = self._question(doubt, chances)
        if question is None:
            self._decide(doubt, prior, chances)
        return question

    def _question(self, doubt: Doubt, chances: NDArray[np.float64]) -> tuple[int, int] | None:
        """Return the likeliest kind that is worth a question, and a member; None when all was asked."""
        best = int(chances[:-1].argmax()) if chances.size > 1 else -1
        said = self._beliefs.heard.get(doubt.row, ())
        confirmed = any(
            answer == SAME and kind == best
            for kind, (_, answer, _) in self._beliefs.heard_of(doubt.row)
        )
        if confirmed and chances[best] >= SURE:
            return None
        unheard = self._unheard(doubt) if self._settings.certify == "full" else []
        if not unheard:
            if said and chances[-1] >= SURE_NEW:
                return None
            told_all = confirmed and chances[best] > 0.5 and self.member(doubt, best) < 0
            if len(said) >= ENOUGH or told_all:
                return None
        for kind in unheard or np.argsort(-chances[:-1], kind="stable").tolist():
            if not self._evidence.alive[kind]:
                continue
            if said and not unheard and chances[kind] < LITTLE:
                break
            member = self.member(doubt, kind)
            if member >= 0:
                return kind, member
        return None

    def _unheard(self, doubt: Doubt) -> list[int]:
        """Return the kinds about which nothing was asked yet."""
        return [
            kind
            for kind in np.flatnonzero(self._evidence.alive).tolist()
            if kind not in doubt.asked and self.member(doubt, kind) >= 0
        ]

    def _decide(
        self, doubt: Doubt, prior: NDArray[np.float64], chances: NDArray[np.float64]
    ) -> None:
        """Note the likeliest kind of a row; a new one is founded by the caller."""
        likeliest = int(chances[:-1].argmax()) if chances.size > 1 else -1
        kind = likeliest if chances[likeliest] > chances[-1] else -1
        doubt.certainty = float(chances[kind])
        if kind >= 0:
            doubt.kind = kind
            self._beliefs.certainty[doubt.row] = doubt.certainty
        self._beliefs.priors[doubt.row] = prior

    def prior(self, doubt: Doubt) -> NDArray[np.float64]:
        """Return the chances of the kinds, and of being new, before anybody was asked; none is 0 but for
        kinds that were merged into others.
        """
        chances = np.append(doubt.weights, doubt.of_new)
        known = np.append(np.sqrt(doubt.weights), 0.0)
        possible = np.append(self._evidence.alive, True)
        prior: NDArray[np.float64] = chances / chances.sum()
        modest = max(0.02, 1.5 / (20 + self._kinds.n_labelled))
        if known.any():
            prior = (1 - 2 * modest) * prior + modest * known / known.sum()
            prior[-1] += modest
        prior = (1 - FLOOR) * prior + FLOOR * possible / possible.sum()
        return np.maximum(prior, 1e-300)

    def hear(self, doubt: Doubt, kind: int, member: int, answer: int, who: int) -> None:
        """Take in SAME or DIFFERENT about a row and a member of a kind."""
        self._beliefs.hear(doubt.row, member, answer, who)

    def chances(self, doubt: Doubt) -> NDArray[np.float64]:
        """Return the chance of each kind, after what was said; the rest is that of being new."""
        return self._beliefs.posterior(doubt.row, self.prior(doubt))[:-1]

    def member(self, doubt: Doubt, kind: int) -> int:
        """Return the nearest member of a kind that was not asked about, firm ones first; -1: none is left."""
        asked = doubt.asked_rows()
        fallback = -1
        for member in self._evidence.near_members(doubt.x, kind):
            if member not in asked:
                if self._beliefs.certainty.get(member, 1.0) >= FIRM:
                    return member
                fallback = member if fallback < 0 else fallback
        return fallback
