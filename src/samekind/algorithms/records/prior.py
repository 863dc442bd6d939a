"""What two records of one entity look like, before anything was answered: Fellegi–Sunter.

Pairs are a mixture of matches and others; in each of the two, the levels of the fields are independent. EM
finds the shares from the pairs alone (Winkler, 1988). Two things keep it from finding some other mixture: it
begins with the most similar pairs, and a higher level never speaks against a match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from samekind.algorithms.records.levels import MISSING, N_LEVELS, Levels
from samekind.flow import FloatArray
from samekind.points import CandidatePairs

__all__ = ["FellegiSunter", "rising"]

MOST_PAIRS = 2**17  # that EM looks at
ITERATIONS = 60
STEADY = 1e-4  # change of the share of matches at which EM stops
BEGIN = 0.3  # matches for each record, at first: the most similar pairs
MOST_MATCHES = 0.95  # share of the pairs
PSEUDO = 1.0  # pairs added to each level, so that no share is 0
MOST_TOLD = 6.0  # log-odds that one field tells at most


class FellegiSunter(NamedTuple):
    """The log-odds that the level of each field tells, and the share of matches among the pairs."""

    weights: FloatArray
    """(fields, levels): log P(level | match) - log P(level | other)."""
    share: float

    @classmethod
    def fit(cls, candidates: CandidatePairs, levels: Levels, n: int) -> FellegiSunter:
        """Fit the mixture to candidate pairs of n records."""
        m = len(levels)
        step = max(1, m // MOST_PAIRS)
        codes = levels.codes[::step]
        compared = candidates.comparisons[::step]
        present = ~np.isnan(compared)
        alike = np.where(present, compared, 0).sum(axis=1) + candidates.similarity[::step]
        alike /= present.sum(axis=1) + 1
        size = len(codes)
        if not size:
            return cls(np.zeros((levels.n_fields, N_LEVELS)), 0.5)
        first = max(1, min(size // 2, int(BEGIN * n / step)))
        matches = np.zeros(size)
        matches[np.argsort(-alike, kind="stable")[:first]] = 1.0
        weights, share = np.zeros((levels.n_fields, N_LEVELS)), 0.0
        for _ in range(ITERATIONS):
            before, share = share, float(np.clip(matches.mean(), 1 / size, MOST_MATCHES))
            weights = _level_weights(codes, matches)
            odds = np.log(share / (1 - share)) + sum(
                weights[j, codes[:, j]] for j in range(codes.shape[1])
            )
            matches = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
            if abs(share - before) < STEADY * share:
                break
        return cls(weights, share)


def _level_weights(codes: np.ndarray, matches: FloatArray) -> FloatArray:
    n_fields = codes.shape[1]
    weights = np.zeros((n_fields, N_LEVELS))
    for j in range(n_fields):
        counts = np.bincount(codes[:, j], minlength=N_LEVELS).astype(float)
        of_matches = np.bincount(codes[:, j], weights=matches, minlength=N_LEVELS)
        overall = (counts + PSEUDO) / (counts.sum() + PSEUDO * N_LEVELS)
        own = of_matches + PSEUDO * overall * N_LEVELS
        rest = counts - of_matches + PSEUDO * overall * N_LEVELS
        told = np.log(own / own.sum()) - np.log(rest / rest.sum())
        told[MISSING + 1 :] = rising(told[MISSING + 1 :], counts[MISSING + 1 :] + PSEUDO)
        weights[j] = np.clip(told, -MOST_TOLD, MOST_TOLD)
    return weights


def rising(values: FloatArray, amounts: FloatArray) -> FloatArray:
    """Return the nearest values that never fall (pool adjacent violators).

    Examples
    --------
    >>> rising(np.array([1.0, 3.0, 2.0]), np.ones(3)).tolist()
    [1.0, 2.5, 2.5]
    """
    blocks: list[tuple[float, float, int]] = []
    for value, amount in zip(values.tolist(), amounts.tolist(), strict=True):
        block = (value, amount, 1)
        while blocks and blocks[-1][0] >= block[0]:
            mean, weight, size = blocks.pop()
            total = weight + block[1]
            block = (
                (mean * weight + block[0] * block[1]) / total,
                total,
                size + block[2],
            )
        blocks.append(block)
    return np.repeat([value for value, _, _ in blocks], [size for _, _, size in blocks])
