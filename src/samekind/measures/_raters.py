"""How much several people agree, beyond what chance would give."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"]

Floats = NDArray[np.float64]
TIMES, TAIL = 1000, 0.025  # of the bootstrap: samples, and what lies beyond either end


class Agreement(NamedTuple):
    """A measure of agreement with a 95 % interval, and the number of units that it is from.

    1 is perfect agreement, 0 what chance would give; NaN where there is no telling: no unit that two people
    rated, or all ratings are the same.
    """

    value: float
    low: float
    high: float
    n_units: int


def cohen_kappa(one: ArrayLike, other: ArrayLike, *, seed: int = 0) -> Agreement:
    """Return Cohen's κ of two people: (observed - expected agreement) / (1 - expected agreement) [1]_.

    Parameters
    ----------
    one, other : array-like of shape (units,)
        What each of them says of the same units.
    seed : int
        Of the bootstrap over units.

    References
    ----------
    .. [1] J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
       Measurement 20 (1960) 37-46.

    Examples
    --------
    >>> from samekind.measures import cohen_kappa
    >>> round(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]).value, 2)
    0.5
    """
    a, b = np.asarray(one), np.asarray(other)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"two people must rate the same units, got {a.shape} and {b.shape}.")
    kinds, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    first, second = places[: a.size], places[a.size :]
    cells = np.zeros((a.size, kinds.size, kinds.size))
    cells[np.arange(a.size), first, second] = 1.0

    def kappa(table: Floats) -> Floats:
        n = table.sum(axis=(-2, -1))
        agreed = np.trace(table, axis1=-2, axis2=-1) / n
        expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / n**2
        found: Floats = (agreed - expected) / (1.0 - expected)
        return found

    return _bootstrapped(kappa, cells, seed)


def fleiss_kappa(counts: ArrayLike, *, seed: int = 0) -> Agreement:
    """Return Fleiss' κ of several people, not always the same ones, as many for each unit [1]_.

    Parameters
    ----------
    counts : array-like of shape (units, categories)
        How many people put each unit into each category; the same number in all for each unit.
    seed : int
        Of the bootstrap over units.

    References
    ----------
    .. [1] J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76
       (1971) 378-382.

    Examples
    --------
    >>> from samekind.measures import fleiss_kappa
    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1]]).value, 3)
    0.55
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or (table.size and np.unique(table.sum(axis=1)).size > 1):
        raise ValueError(
            "counts must have a row for each unit, with the same number of ratings each."
        )
    n_raters = float(table[0].sum()) if table.size else 0.0
    if n_raters < 2:
        return Agreement(np.nan, np.nan, np.nan, 0)
    agreed = ((table**2).sum(axis=1) - n_raters) / (n_raters * (n_raters - 1))
    parts = np.column_stack([agreed, table, np.ones(len(table))])

    def kappa(sums: Floats) -> Floats:
        n = sums[..., -1]
        expected = ((sums[..., 1:-1] / (n * n_raters)[..., None]) ** 2).sum(axis=-1)
        found: Floats = (sums[..., 0] / n - expected) / (1.0 - expected)
        return found

    return _bootstrapped(kappa, parts, seed)


def krippendorff_alpha(ratings: ArrayLike, *, seed: int = 0) -> Agreement:
    """Return Krippendorff's α for nominal data: any number of people, each of whom rates what they like [1]_.

    Parameters
    ----------
    ratings : array-like of shape (people, units)
        What each says of each unit, as numbers; NaN where they say nothing.
    seed : int
        Of the bootstrap over units.

    References
    ----------
    .. [1] K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.

    Examples
    --------
    >>> from samekind.measures import krippendorff_alpha
    >>> nan = float("nan")
    >>> round(krippendorff_alpha([[1, 1, 0, nan], [1, 0, 0, 1], [nan, 1, 0, 1]]).value, 3)
    0.625
    """
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"ratings must have a row for each person, got {values.shape}.")
    kinds = np.unique(values[~np.isnan(values)])
    counts: Floats = (values[..., None] == kinds).sum(axis=0).astype(np.float64)  # of each unit
    m = counts.sum(axis=1)
    counts, m = counts[m > 1], m[m > 1]
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(kinds.size), np.arange(kinds.size)] -= counts
    coincidences = pairs / (m - 1)[:, None, None]

    def alpha(table: Floats) -> Floats:
        totals = table.sum(axis=-1)
        n = totals.sum(axis=-1)
        observed = n - np.trace(table, axis1=-2, axis2=-1)
        expected = (n**2 - (totals**2).sum(axis=-1)) / (n - 1)
        found: Floats = 1.0 - observed / expected
        return found

    return _bootstrapped(alpha, coincidences, seed)


def _bootstrapped(statistic: Callable[[Floats], Floats], parts: Floats, seed: int) -> Agreement:
    """Return a statistic of the sum of what each unit contributes, with a percentile interval over units.

    Units that contribute the same are drawn together: there are few sorts of them, however many there are.
    """
    n = len(parts)
    if not n:
        return Agreement(np.nan, np.nan, np.nan, 0)
    rng = np.random.default_rng(seed)
    sorts, counts = np.unique(parts.reshape(n, -1), axis=0, return_counts=True)
    times = rng.multinomial(n, counts / n, size=TIMES).astype(np.float64)
    sums = (times @ sorts).reshape(TIMES, *parts.shape[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(parts.sum(axis=0)))
        drawn = statistic(sums)
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(value) or not drawn.size:
        return Agreement(np.nan, np.nan, np.nan, n)
    low, high = np.quantile(drawn, [TAIL, 1 - TAIL]).tolist()
    return Agreement(value, float(low), float(high), n)
