"""Which pairs to ask about next.

Most of the questions are about the pairs of which the model is least certain, those first that decide for
more records at once. Once nothing is in doubt, the likeliest of the rest come first, which proves all
entities with few questions: what is the same leaves fewer entities to compare. A share is drawn at random,
for the certificate.
"""

from __future__ import annotations

import numpy as np

from samekind.algorithms.answered_pairs import AnsweredPairs
from samekind.algorithms.records.scores import PairScores, chance_of
from samekind.flow import FloatArray, IntArray

__all__ = ["Chooser"]

SETTLED = 0.02  # probability of being wrong, below which a pair is in no doubt
LUCK = 0.1  # by which doubts differ at random, so that other seeds ask other questions
MOST_DECIDED = 3.0  # times the value of a pair of single records
WANTED_DIFFERENT = 0.55  # share of answers: people tire of strangers
PUSH = 0.2  # log-odds for every such answer more
MOST_PUSHED = 4.0


class Chooser:
    """Chooses candidate pairs by the model, and by what was answered."""

    def __init__(self, scores: PairScores, rng: np.random.Generator) -> None:
        self._scores = scores
        self._luck = rng.random(2**12)
        self._order: IntArray = np.arange(0)
        self._next = 0

    def looked_at_all(self) -> None:
        """Note that all pairs have new scores."""
        self._order = np.arange(0)

    def doubtful(self, count: int, answers: AnsweredPairs, n_different: int) -> IntArray:
        """Return the pairs that are most worth a question, best first; none if nothing is in doubt."""
        scores = self._scores
        open_pairs = scores.pool[~answers.decided[scores.pool]]
        odds = scores.odds[open_pairs] if answers.infers else self._held_by(open_pairs, answers)
        chance = chance_of(odds)
        if not open_pairs.size or np.minimum(chance, 1 - chance).max() < SETTLED:
            return np.arange(0)
        tired = n_different - WANTED_DIFFERENT * len(answers.given)
        shift = min(MOST_PUSHED, PUSH * max(tired, 0.0))
        moved = chance_of(odds - shift)
        luck = self._luck[(open_pairs * 40_503) % self._luck.size]
        value = np.minimum(moved, 1 - moved) * self._decided(open_pairs) * (1 + LUCK * luck)
        most = 4 * count  # some of them speak of the same entities
        top = np.arange(value.size)
        if value.size > most:
            top = np.sort(np.argpartition(-value, most)[:most])
        return open_pairs[top[np.argsort(-value[top], kind="stable")]]

    def _held_by(self, open_pairs: IntArray, answers: AnsweredPairs) -> FloatArray:
        """Return the log-odds of all that speaks for or against two entities being one, or one being two.

        Where answers may be wrong: what a pair decides rests on other pairs, too. So an answer that nobody
        would have expected is asked again by way of other records of the two entities.
        """
        scores = self._scores
        numbers, told = scores.told_by(answers)
        some = np.union1d(open_pairs, numbers)
        weights = scores.odds[some].astype(np.float64)
        np.add.at(weights, np.searchsorted(some, numbers), told)
        pairs = scores.pairs[some]
        one, other = np.sort(scores.entities[pairs], axis=1).T
        _, place = np.unique(one * len(scores.sizes) + other, return_inverse=True)
        between = np.bincount(place, weights)[place]
        own = np.where(one == other, weights, 0.0)
        n = scores.points.n
        held = np.bincount(pairs[:, 0], own, n) + np.bincount(pairs[:, 1], own, n)
        total = np.where(one == other, held[pairs].min(axis=1), between)
        return np.asarray(total[np.searchsorted(some, open_pairs)])

    def likeliest(self, count: int, answers: AnsweredPairs) -> IntArray:
        """Return the likeliest pairs that nothing is known of."""
        if not self._order.size:
            open_pairs = np.flatnonzero(~answers.decided)
            self._order = open_pairs[np.argsort(-self._scores.odds[open_pairs], kind="stable")]
            self._next = 0
        found: list[int] = []
        size = max(4 * count, 64)
        while self._next < self._order.size and len(found) < 4 * count:
            ahead = self._order[self._next : self._next + size]
            still = ahead[~answers.decided[ahead]]
            if not still.size:
                self._next += size
                continue
            found += still.tolist()
            break
        return np.array(found, dtype=np.intp)

    def _decided(self, pairs: IntArray) -> FloatArray:
        """Return how much each pair decides: for more where its records are in larger entities."""
        scores = self._scores
        one, other = scores.entities[scores.pairs[pairs]].T
        together = np.where(
            one == other, scores.sizes[one] - 1, scores.sizes[one] * scores.sizes[other]
        )
        return np.asarray(np.minimum(np.sqrt(together), MOST_DECIDED))
