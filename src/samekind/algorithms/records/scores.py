"""The log-odds of all candidate pairs, and the entities they make, kept up to date as answers come.

After an answer the model is fitted anew, and a pool of doubtful pairs is scored with it: all of them where
they are not many. Of more, the rest is scored, and the entities are found, less and less often: whenever
there are half as many more answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.answered_pairs import AnsweredPairs
from samekind.algorithms.records.clustering import entities_of
from samekind.algorithms.records.levels import Levels
from samekind.algorithms.records.pair_model import PairModel
from samekind.algorithms.records.prior import FellegiSunter
from samekind.flow import DIFFERENT, SAME, FloatArray, IntArray
from samekind.points import RecordPoints

__all__ = ["PairScores", "chance_of", "prior_odds"]

FEW_PAIRS = 2**17  # that can all be looked at after every answer
POOL = 2**16  # doubtful pairs of more
FIRST_LOOK = 8  # answers after which all of more is looked at again; then after half as many more
REFIT = 64  # one more answer in so many, and the model is fitted again
CERTAIN = 1e4  # log-odds of an answer that is true
LEAST_RATE = 1e-3  # of wrong answers, where some may be


class PairScores:
    """What the model says of pairs, and which entities that makes together with the answers."""

    def __init__(self, points: RecordPoints, *, error_rate: float, estimates: bool) -> None:
        self.points = points
        self.pairs = points.candidates.pairs
        levels = Levels.of(points.candidates)
        prior = FellegiSunter.fit(points.candidates, levels, points.n)
        self.model = PairModel(levels, prior, error_rate=error_rate, estimates=estimates)
        self.odds: NDArray[np.float32] = np.zeros(len(self.pairs), dtype=np.float32)
        self.entities: IntArray = np.arange(points.n)
        """(n,) by what was learnt alone."""
        self.sizes: IntArray = np.ones(points.n, dtype=np.intp)
        """(entities,)."""
        self.pool: IntArray = np.arange(0)
        self._trusted = error_rate == 0 and not estimates
        self._fitted_at = self._looked_at = -1

    @property
    def told(self) -> float:
        """The log-odds that one answer tells."""
        if self._trusted:
            return CERTAIN
        rate = max(self.model.error_rate, LEAST_RATE)
        return float(np.log((1 - rate) / rate))

    def restart(self) -> None:
        """Look at everything at the next update: what was answered has changed."""
        self._fitted_at = self._looked_at = -1

    def update(self, learnt: AnsweredPairs) -> bool:
        """Fit the model to what was answered, as often as that pays; return whether all was looked at."""
        count = len(learnt.given)
        if self._fitted_at < 0 or count - self._fitted_at > self._fitted_at // REFIT:
            self._fit(learnt)
            self._fitted_at = count
            if len(self.pool):
                self.model.score(self.odds, self.pool)
        step = 1 if len(self.pairs) <= FEW_PAIRS else max(FIRST_LOOK, self._looked_at // 2)
        if self._looked_at < 0 or count - self._looked_at >= step:
            self._look_at_all(learnt)
            self._looked_at = count
            return True
        return False

    def weights_with(self, answers: AnsweredPairs) -> NDArray[np.float32]:
        """Return the log-odds of the candidate pairs by the model and these answers."""
        return self._with_answers(answers)[0]

    def entities_with(self, answers: AnsweredPairs, threshold: float = 0.0) -> IntArray:
        """Return the entities that the model and all these answers make, above log-odds of `threshold`."""
        weights, extra, extra_weights = self._with_answers(answers)
        if threshold:
            weights -= np.float32(threshold)
        pairs = np.concatenate([self.pairs, extra]) if len(extra) else self.pairs
        if len(extra):
            weights = np.concatenate([weights, extra_weights])
        return entities_of(self.points.n, pairs, weights, self.points.files)

    def told_by(self, answers: AnsweredPairs) -> tuple[IntArray, FloatArray]:
        """Return the candidate pairs that were answered, and the log-odds that the answers tell of them."""
        numbers, told = [], []
        for (a, b), answer in answers.given.items():
            number = answers.incidence.number_of(a, b)
            if number >= 0:
                numbers.append(number)
                told.append(self._answered(answer))
        return np.array(numbers, dtype=np.intp), np.array(told)

    def chances(self, numbers: IntArray, answers: AnsweredPairs) -> FloatArray:
        """Return how likely some candidate pairs are matches, by the model and what was answered of them."""
        odds = self.odds[numbers].astype(np.float64)
        for place, (a, b) in enumerate(self.pairs[numbers].tolist()):
            odds[place] += self._answered(answers.relation(a, b))
        return chance_of(odds)

    def _answered(self, answer: int | None) -> float:
        return self.told if answer == SAME else -self.told if answer == DIFFERENT else 0.0

    def _fit(self, learnt: AnsweredPairs) -> None:
        numbers, same = [], []
        for (a, b), answer in learnt.given.items():
            number = learnt.incidence.number_of(a, b)
            if number >= 0 and answer in (SAME, DIFFERENT):
                numbers.append(number)
                same.append(answer == SAME)
        self.model.fit(np.array(numbers, dtype=np.intp), np.array(same, dtype=bool))

    def _look_at_all(self, learnt: AnsweredPairs) -> None:
        self.model.score(self.odds)
        if len(self.pairs) <= FEW_PAIRS:
            self.pool = np.arange(len(self.pairs))
        else:
            open_pairs = np.flatnonzero(~learnt.decided)
            doubt = np.abs(self.odds[open_pairs])
            if open_pairs.size > POOL:
                open_pairs = open_pairs[np.argpartition(doubt, POOL)[:POOL]]
            self.pool = np.sort(open_pairs)
        self.entities = self.entities_with(learnt)
        self.sizes = np.bincount(self.entities)

    def _with_answers(
        self, answers: AnsweredPairs
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
        """Return the log-odds of the candidate pairs, and other pairs that were answered, with theirs."""
        weights = self.odds.copy()
        extra: list[tuple[int, int]] = []
        extra_weights: list[float] = []
        for (a, b), answer in answers.given.items():
            told = self._answered(answer)
            number = answers.incidence.number_of(a, b)
            if number >= 0:
                weights[number] += told
            elif told:
                extra.append((a, b))
                extra_weights.append(told)
        return (
            weights,
            np.array(extra, dtype=np.int64).reshape(-1, 2),
            np.array(extra_weights, dtype=np.float32),
        )


def prior_odds(records: RecordPoints) -> NDArray[np.float32]:
    """Return the log-odds of all candidate pairs before anything was answered."""
    levels = Levels.of(records.candidates)
    prior = FellegiSunter.fit(records.candidates, levels, records.n)
    odds: NDArray[np.float32] = np.zeros(len(levels), dtype=np.float32)
    PairModel(levels, prior).score(odds)
    return odds


def chance_of(odds: NDArray[np.floating]) -> FloatArray:
    """Return probabilities of log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))), dtype=np.float64)
