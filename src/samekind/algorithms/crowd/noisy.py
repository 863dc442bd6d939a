"""Crowds that err (Verroios, Garcia-Molina, ICDE 2015; the paper's VG15).

An answer is wrong with some probability, so nothing follows from a single one. The entities are those of the
largest likelihood, given the machine's likelihoods and all answers: every pair within an entity, and every
pair between two, adds its log-odds. Theirs is a clustering by connected components and spectral cuts; here it
is the correlation clustering that `records` uses, for the same likelihood. The next question is one on which
that clustering rests least firmly: between two entities, or between a record and the rest of its own,
whichever has the total log-odds nearest to nothing. Of the pairs there, the likeliest one that was not asked
about is taken. It ends when all candidate pairs were asked about, or all totals are beyond `firm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from samekind._validation import check_error_rate
from samekind.algorithms.base import Params
from samekind.algorithms.crowd.base import CrowdAlgorithm
from samekind.algorithms.records import entities_of
from samekind.flow import DIFFERENT, SAME, IntArray

__all__ = ["CrowdNoisy"]

LEAST_RATE = 1e-3


@dataclass(frozen=True, kw_only=True)
class NoisyParams(Params):
    """Parameters of "crowd-noisy".

    Attributes
    ----------
    error_rate : float
        The probability that an answer is wrong.
    firm : float or None
        Log-odds beyond which a part of the clustering is not asked about any more; None asks about all pairs.
    """

    error_rate: float = 0.05
    firm: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_error_rate(self.error_rate)
        if self.firm is not None and not self.firm > 0:
            raise ValueError(f"firm must be a positive number or None, got {self.firm!r}.")

    @property
    def trusts_answers(self) -> bool:
        """Whether every answer is true."""
        return False


class CrowdNoisy(CrowdAlgorithm[NoisyParams]):
    """Asks where the most likely clustering rests least firmly."""

    name: ClassVar[str] = "crowd-noisy"
    Params = NoisyParams

    def entities(self) -> IntArray:
        """Return the most likely entities."""
        return entities_of(self.points.n, self.pairs, self._evidence(), self.records.files)

    def _evidence(self) -> np.ndarray:
        rate = max(self.params.error_rate, LEAST_RATE)
        told = np.log((1 - rate) / rate)
        weights = self.odds.copy()
        for (a, b), answer in self.answers.given.items():
            number = self.answers.incidence.number_of(a, b)
            if number >= 0 and answer in (SAME, DIFFERENT):
                weights[number] += told if answer == SAME else -told
        return weights

    def _next_pairs(self, count: int) -> list[tuple[int, int]]:
        open_pairs = np.flatnonzero(~self.answers.decided)
        if not open_pairs.size:
            return []
        weights = self._evidence()
        entities = entities_of(self.points.n, self.pairs, weights, self.records.files)
        one, other = np.sort(entities[self.pairs], axis=1).T
        within = one == other
        # between two entities: the sum over their pairs; within: over those of the record held less firmly
        key = one.astype(np.int64) * (int(entities.max()) + 1) + other
        _, place = np.unique(key, return_inverse=True)
        between = np.bincount(place, weights)[place]
        n = self.points.n
        a, b = self.pairs.T
        own = np.where(within, weights, 0.0)
        held = np.bincount(a, own, n) + np.bincount(b, own, n)
        total = np.where(within, np.minimum(held[a], held[b]), -between)
        firm = total[open_pairs]
        order = np.lexsort((self._luck[open_pairs], -self.likelihood[open_pairs], firm))
        wave: list[tuple[int, int]] = []
        busy: set[int] = set()
        for number in open_pairs[order].tolist():
            if self.params.firm is not None and total[number] > self.params.firm:
                break
            ends = {int(one[number]), int(other[number])}
            if not ends & busy:
                busy |= ends
                wave.append((int(a[number]), int(b[number])))
                if len(wave) == count:
                    break
        return wave

    def _note(self, a: int, b: int) -> None:
        """Note that two rows were asked about; what entities they are in is said at the end."""
        for row in (a, b):
            if self.state.cluster_of_row(row) < 0:
                self.state.discover(row, self.points.row(row))
