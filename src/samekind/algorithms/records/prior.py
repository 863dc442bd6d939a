"""What is believed of pairs before anything was answered: two views, each right on other tables.

`agreement` is Fellegi and Sunter's: pairs are a mixture of matches and others, in each of which the fields
agree independently; EM finds the shares (Winkler, 1988). It knows nothing of rivals. So it finds entities of
any size, but where most candidates are alike, as products are, it takes them all for matches.

`rivalry` takes those pairs for matches that are each other's best in most ways of seeing them, and learns
from these what others look like. It is right where few records have more than one duplicate, and says
nothing of large entities, whose records have many rivals that are nearly as good.

If the widest gap in the likeness of a record's neighbours follows its best match, in a third of the records
or more, entities are small: it begins with rivalry, else with agreement. The first answers decide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from samekind.algorithms.records._kernels import fit_logistic
from samekind.flow import BoolArray, FloatArray, IntArray
from samekind.points import CandidatePairs

__all__ = ["Priors", "levels_of", "told_by"]

# Agreement
EDGES = np.array(
    [0.3, 0.5, 0.65, 0.75, 0.82, 0.88, 0.94, 0.9995]
)  # at which a field's next level begins
N_LEVELS = len(EDGES) + 2  # with one for a missing value
MOST_PAIRS = 2**17  # that EM looks at
ITERATIONS = 60
BEGIN = 0.3  # matches for each record, at first: the most similar pairs
MOST_TOLD = 6.0  # log-odds that one field tells at most
DEPENDENT = 0.5  # fields are never independent: what they tell counts half

# Rivalry
MOST_RIVALRY = (
    2**20
)  # pairs; in more, each further view would take seconds, and agreement is used alone
MOST_WAYS = 0.5  # share of the views in which a pair is best for both: it is then taken for a match
ROUNDS = 3
SAMPLE = 5_000  # pairs of each class that a regression learns from
RIDGE = 20.0

STAND_OUT = 1 / 3  # share of records whose best match stands out, from which on entities are small
SURE = 5.0  # log-odds for and against, before anything was answered
EXTREME = 5.0


class Priors(NamedTuple):
    """Log-odds of all candidate pairs before any answer, and how pairs stand among their rivals."""

    agreement: FloatArray
    rivalry: FloatArray
    first: float
    """The log-odds that agreement is right rather than rivalry."""
    standing: NDArray[np.float32]
    """(m, k): for each view, the rank of a pair among those of its two records, and its lead."""

    @classmethod
    def of(cls, candidates: CandidatePairs, n: int) -> Priors:
        """Find both from candidate pairs of n records."""
        agreement = np.clip(_agreement(candidates, n), -EXTREME, EXTREME)
        m = len(agreement)
        if not m or m > MOST_RIVALRY:
            return cls(agreement, agreement, 0.0, np.empty((m, 0), np.float32))
        views = np.column_stack([candidates.views, _surprise(candidates.comparisons)])
        rivals = _Rivals(candidates.pairs)
        rivalry, standing = _rivalry(candidates, views, rivals)
        stand_out = rivals.share_that_stand_out(candidates.similarity) > STAND_OUT
        first = -SURE if stand_out else SURE
        rivalry = np.clip(rivalry, -EXTREME, EXTREME)
        return cls(agreement, rivalry, first, standing)

    def odds(self, pairs: IntArray, same: BoolArray) -> FloatArray:
        """Return the log-odds of all pairs by the view that explains these answers better, or by both."""
        told = self.first
        sign = np.where(same, 1.0, -1.0)
        for view, part in ((self.agreement, 1.0), (self.rivalry, -1.0)):
            told += part * float(log_expit(sign * view[pairs]).sum())
        share = float(expit(told))
        return share * self.agreement + (1 - share) * self.rivalry


# Agreement


def _agreement(candidates: CandidatePairs, n: int) -> FloatArray:
    """Return the log-odds by a mixture of two sorts of pairs."""
    m = len(candidates.pairs)
    if not m:
        return np.empty(0)
    levels = _levels(candidates)
    step = max(1, m // MOST_PAIRS)
    codes = levels[::step]
    matches = _most_similar(candidates, step, n)
    weights, share = np.zeros((levels.shape[1], N_LEVELS)), 0.0
    for _ in range(ITERATIONS):
        before, share = share, float(np.clip(matches.mean(), 1 / len(codes), 0.95))
        weights = np.array([told_by(code, matches) for code in codes.T])
        odds = logit(share) + _total(weights, codes)
        matches = expit(odds)
        if abs(share - before) < 1e-4 * share:
            break
    own = DEPENDENT * _total(weights, levels)
    return np.asarray(own + _bias_for(own[::step], share))


def _levels(candidates: CandidatePairs) -> NDArray[np.int8]:
    """Return the level of each field, 0 where it is missing, and that of the similarity over all of them.

    Its steps are quantiles, finer towards the likely matches: no value of it has a meaning by itself.
    """
    compared, overall = candidates.comparisons, candidates.similarity
    levels = levels_of(compared)
    edges = np.quantile(overall, 1 - 0.5 ** np.arange(1, len(EDGES) + 1))
    return np.column_stack([levels, 1 + np.digitize(overall, edges)]).astype(np.int8)


def levels_of(compared: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return the level of each likeness, 0 where it is missing."""
    return np.where(np.isnan(compared), 0, 1 + np.digitize(compared, EDGES)).astype(np.int8)


def _most_similar(candidates: CandidatePairs, step: int, n: int) -> FloatArray:
    compared = candidates.comparisons[::step]
    present = ~np.isnan(compared)
    alike = np.where(present, compared, 0).sum(axis=1) + candidates.similarity[::step]
    alike /= present.sum(axis=1) + 1
    first = max(1, min(len(alike) // 2, int(BEGIN * n / step)))
    matches = np.zeros(len(alike))
    matches[np.argsort(-alike, kind="stable")[:first]] = 1.0
    return matches


def told_by(code: NDArray[np.int8], matches: FloatArray) -> FloatArray:
    """Return the log-odds that each level of a field tells; a higher level never speaks against a match."""
    counts = np.bincount(code, minlength=N_LEVELS).astype(float)
    of_matches = np.bincount(code, weights=matches, minlength=N_LEVELS)
    overall = (counts + 1) / (counts.sum() + N_LEVELS)
    own = of_matches + overall * N_LEVELS
    rest = counts - of_matches + overall * N_LEVELS
    share = own / own.sum() / (own / own.sum() + rest / rest.sum())
    told = logit(share)
    told[1:] = _rising(told[1:], counts[1:] + 1)
    return np.asarray(np.clip(told, -MOST_TOLD, MOST_TOLD))


def _rising(values: FloatArray, amounts: FloatArray) -> FloatArray:
    """Return the nearest values that never fall (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []
    for value, amount in zip(values.tolist(), amounts.tolist(), strict=True):
        block = (value, amount, 1)
        while blocks and blocks[-1][0] >= block[0]:
            mean, weight, size = blocks.pop()
            total = weight + block[1]
            block = ((mean * weight + block[0] * block[1]) / total, total, size + block[2])
        blocks.append(block)
    return np.repeat([value for value, _, _ in blocks], [size for _, _, size in blocks])


def _total(weights: FloatArray, codes: NDArray[np.int8]) -> FloatArray:
    total = np.zeros(len(codes))
    for j, own in enumerate(weights):
        total += own[codes[:, j]]
    return total


def _bias_for(odds: FloatArray, share: float) -> float:
    """Return what to add to log-odds so that this share of the pairs are matches."""
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if expit(odds + middle).mean() > share else (middle, high)
    return low


# Rivalry


def _rivalry(
    candidates: CandidatePairs, views: NDArray[np.float32], rivals: _Rivals
) -> tuple[FloatArray, NDArray[np.float32]]:
    """Return the log-odds by regressions on what the best matches look like, and how pairs stand."""
    ranks, leads = zip(*(rivals.standing(view) for view in views.T), strict=True)
    rank, lead = np.column_stack(ranks), np.column_stack(leads)
    best = ((rank == 0) & (lead > 0)).mean(axis=1)
    standing = np.column_stack([np.log2(1 + rank), lead]).astype(np.float32)
    known = np.nan_to_num(candidates.features, nan=-1.0)
    missing = np.isnan(candidates.comparisons).mean(axis=1, keepdims=True)
    alone = _standardised(np.column_stack([views[:, -1:], known, missing]))
    among = _standardised(np.column_stack([views[:, -1:], known, missing, standing, best]))
    seeds = best >= MOST_WAYS
    target, odds = seeds, np.zeros(len(best))
    for _ in range(ROUNDS):
        if target.all() or not target.any():
            break
        one, other = _regress(alone, target), _regress(among, target)
        odds = (one + other) / 2
        target = (np.maximum(one, other) > 0) | seeds
    return odds, standing


class _Rivals:
    """The candidate pairs of each record, in the order of the records."""

    def __init__(self, pairs: NDArray[np.int32]) -> None:
        self._records = pairs.T.ravel()

    def standing(self, view: NDArray[np.floating]) -> tuple[IntArray, FloatArray]:
        """Return the rank of each pair among those of its records, and its lead: the worse of the two."""
        order, value, first, after = self._ranked(view)
        place = np.arange(len(value)) - first
        rival = np.where(place == 0, after, value[first])
        rank, lead = np.empty(len(value), np.intp), np.empty(len(value))
        rank[order], lead[order] = place, value - rival
        return rank.reshape(2, -1).max(axis=0), lead.reshape(2, -1).min(axis=0)

    def share_that_stand_out(self, view: NDArray[np.floating]) -> float:
        """Return the share of records whose best match is followed by the widest gap of all."""
        _, value, first, after = self._ranked(view)
        gap = np.where(np.r_[first[1:] == first[:-1], False], value - after, 0.0)
        starts = np.flatnonzero(first == np.arange(len(first)))
        return float((gap[starts] >= np.maximum.reduceat(gap, starts)).mean())

    def _ranked(
        self, view: NDArray[np.floating]
    ) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
        """Return pairs by record, best first: their order, values, where each record begins, next values."""
        value = np.tile(view.astype(np.float64), 2)
        order = np.lexsort((-value, self._records))
        record, value = self._records[order], value[order]
        same = record[1:] == record[:-1]
        first = np.maximum.accumulate(np.where(np.r_[True, ~same], np.arange(len(record)), 0))
        after = np.where(np.r_[same, False], np.r_[value[1:], 0.0], 0.0)
        return order, value, first, after


def _surprise(comparisons: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how rare it is among the pairs to be as alike as each is, over all fields."""
    total = np.zeros(len(comparisons))
    for alike in comparisons.T:
        known = np.flatnonzero(~np.isnan(alike))
        if known.size:
            below = np.searchsorted(np.sort(alike[known]), alike[known] - 1e-6)
            share = np.maximum(1 - below / known.size, 1 / len(alike))
            total[known] -= 1 + logit(share / (1 + share))  # the logarithm of the share
    return np.asarray(total / (5 * np.sqrt(comparisons.shape[1])), np.float32)


def _standardised(X: NDArray[np.floating]) -> FloatArray:
    X = X.astype(np.float64)
    return np.asarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))


def _regress(X: FloatArray, target: BoolArray) -> FloatArray:
    """Return the log-odds of all pairs by a logistic regression on some of each class, weighted for all."""
    rows, weights = [], []
    for value in (False, True):
        own = np.flatnonzero(target == value)
        some = own[:: max(1, own.size // SAMPLE)]
        rows.append(some)
        weights.append(np.full(some.size, own.size / max(some.size, 1)))
    at = np.concatenate(rows)
    theta = fit_logistic(X[at], target[at].astype(np.float64), np.concatenate(weights), RIDGE)
    odds = np.full(len(X), theta[0])
    for j, weight in enumerate(
        theta[1:].tolist()
    ):  # not by BLAS, whose last bits depend on the processor
        odds += weight * X[:, j]
    return odds
