"""Bounds on shares from draws: at one moment, and at all moments at once."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
from scipy.special import betaincinv, gammaln, logsumexp

from samekind.flow import FloatArray, IntArray

__all__ = ["most_wrong", "most_wrong_at_any_time"]

_MANY = 10**6  # rows beyond which drawing without replacement is as good as with it
_ROUNDING = 1e-7  # of logarithms of ways to draw from so many


def most_wrong(n_wrong: int, n_drawn: int, n_rows: int, risk: float) -> int:
    """Return how many of some rows are wrong at most, given those of a sample without replacement.

    It is the largest number with which so few in the sample would have a probability of at least `risk`
    (hypergeometric distribution), so it fails with a probability of at most `risk` at any one moment.

    Examples
    --------
    >>> most_wrong(0, 50, 150, 0.05), most_wrong(0, 150, 150, 0.05)
    (7, 0)
    """
    if n_drawn == 0:
        return n_rows
    if n_rows > _MANY:  # Clopper and Pearson's bound
        share = 1.0 if n_wrong == n_drawn else betaincinv(n_wrong + 1, n_drawn - n_wrong, 1 - risk)
        return int(np.ceil(share * n_rows))
    seen = np.arange(n_wrong + 1)

    def is_possible(wrong: int) -> bool:
        """Whether so few in the sample have a probability of `risk` at least."""
        ways = _log_choose(wrong, seen) + _log_choose(n_rows - wrong, n_drawn - seen)
        return bool(logsumexp(ways) - _log_choose(n_rows, n_drawn) >= log(risk) - _ROUNDING)

    return _last(is_possible, n_wrong, n_rows - (n_drawn - n_wrong))


def most_wrong_at_any_time(n_wrong: int, n_drawn: int, n_rows: int, risk: float) -> int:
    """Return the same for who looks at any time, and stops because of what is seen.

    With k wrong ones in the sample it is `most_wrong` at the level risk / (2k + 2). A number of wrong rows is
    excluded with k wrong ones from some size of the sample on, so it is ever excluded only if for some k no
    more than k turn up until then. For risks from 0.04 on that has a probability of at most `risk`: summed
    exactly, if wrong ones turn up as a Poisson process, over k up to 1,000, and for samples without
    replacement of up to 3,000 rows (0.97 · risk at most; `tests/test_audit.py`). A martingale of likelihood
    ratios, which holds in any order of looking, takes a tenth to a quarter more rows.

    Examples
    --------
    >>> most_wrong_at_any_time(0, 50, 150, 0.05), most_wrong_at_any_time(0, 150, 150, 0.05)
    (8, 0)
    """
    return most_wrong(n_wrong, n_drawn, n_rows, risk / (2 * n_wrong + 2))


def _log_choose(n: int, k: IntArray | int) -> FloatArray:
    """Return the logarithms of binomial coefficients; scipy.stats takes half a second to load."""
    k = np.asarray(k)
    with np.errstate(invalid="ignore"):
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1)
    return np.where((k >= 0) & (k <= n), ways, -np.inf)


def _last(is_possible: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last possible one of the numbers from `low`, which is possible, to `high`, by halving."""
    if is_possible(high):
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if is_possible(middle):
            low = middle
        else:
            high = middle
    return low
