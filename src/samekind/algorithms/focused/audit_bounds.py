"""Bounds on shares from draws: at one moment, and at all moments at once."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, betaln, gammaln
from scipy.stats import hypergeom

__all__ = ["most_wrong", "most_wrong_at_any_time", "upper_bound"]

_MANY = 10**6  # rows beyond which drawing without replacement is as good as with it
_NONE_WRONG = 0.6  # weight of "none is wrong" in the mixture of `most_wrong_at_any_time`
_PRIOR = 0.3, 1.0  # of the Beta distribution that the rest of it is spread by: few rather than many


def upper_bound(hits: int, draws: int, risk: float) -> float:
    """Return a bound on the share of hits that holds at all times at once, but with probability `risk`.

    Draws are compared with what a mixture of shares expects: half of it on 0, half spread by Jeffreys'
    prior. Against the true share this ratio is a martingale that starts from 1, so by Ville's inequality it
    ever exceeds 1/risk with a probability of at most `risk`, however often one looks.

    Examples
    --------
    >>> round(upper_bound(0, 300, 0.05), 4)
    0.0121
    >>> round(upper_bound(3, 300, 0.05), 4)
    0.0474
    """
    if draws == 0:
        return 1.0
    spread = betaln(hits + 0.5, draws - hits + 0.5) - betaln(0.5, 0.5)
    mixture = log(0.5) + (np.logaddexp(0.0, spread) if hits == 0 else spread)

    def excess(share: float) -> float:
        likelihood = (draws - hits) * np.log1p(-share) + (hits * log(share) if hits else 0.0)
        return float(mixture - likelihood + log(risk))

    low, high = hits / draws, 1 - 1e-12
    if hits == draws or excess(high) <= 0:
        return 1.0
    return float(brentq(excess, max(low, 1e-300), high))


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
    return _last(
        lambda wrong: bool(hypergeom.cdf(n_wrong, n_rows, wrong, n_drawn) >= risk),
        n_wrong,
        n_rows - (n_drawn - n_wrong),
    )


def most_wrong_at_any_time(n_wrong: int, n_drawn: int, n_rows: int, risk: float) -> int:
    """Return the same for who looks at any time, and stops because of what is seen.

    As `upper_bound`, a ratio of likelihoods that is a martingale, here of draws without replacement. The
    mixture expects that none or few are wrong: then it is tight.

    Examples
    --------
    >>> most_wrong_at_any_time(0, 50, 150, 0.05), most_wrong_at_any_time(0, 150, 150, 0.05)
    (7, 0)
    """
    if n_drawn == 0:
        return n_rows
    n_right = n_drawn - n_wrong
    a, b = _PRIOR
    mixture = log(1 - _NONE_WRONG) + betaln(n_wrong + a, n_right + b) - betaln(a, b)
    if n_wrong == 0:
        mixture = np.logaddexp(mixture, log(_NONE_WRONG))

    def is_possible(wrong: int) -> bool:
        likelihood = (
            _log_falling(wrong, n_wrong)
            + _log_falling(n_rows - wrong, n_right)
            - _log_falling(n_rows, n_drawn)
        )
        return bool(mixture - likelihood < -log(risk))

    most = n_rows - n_right
    return _last(is_possible, min(most, max(n_wrong, -(-n_rows * n_wrong // n_drawn))), most)


def _log_falling(number: int, count: int) -> float:
    """Return the logarithm of number·(number - 1) ⋯, so many factors."""
    return float(gammaln(number + 1) - gammaln(number - count + 1))


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
