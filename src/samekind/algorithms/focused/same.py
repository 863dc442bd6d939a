"""P(same): one regression, learnt from the answers, with the annotators' error rates in its likelihood.

Answer i was about two parts, for which earlier answers said net[i] times "same" (less "different"). The log
odds that the two are one cluster are w @ phi[i] + says * net[i], where one answer says log((1 - e) / e). A
share e of all answers is wrong. The weights w and the rate e are those under which the answers, each given
the earlier ones, are likeliest. Each annotator has a rate of their own, drawn towards that of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from samekind.flow import BoolArray, FloatArray, IntArray

__all__ = ["FLOOR", "N_FEATURES", "PRIOR", "Same", "features", "fit_same", "sigmoid"]

FLOOR = 0.01  # added to shares in log odds: none is known better than to 1 in 100
CERTAIN = 50.0  # log odds of an answer that cannot be wrong: nothing else outweighs it
STEPS = 8  # of Fisher's scoring, from the last weights or the prior
LONGEST = 2.0  # step of a weight: far from the optimum, steps overshoot
RATES = np.geomspace(0.001, 0.49, 40)  # error rates that are compared
COARSE = RATES[::6]  # those for which weights are fitted: rate and weights must be found together
WRONG, RIGHT = 1.0, 30.0  # prior of the rate: as if so many answers had been checked
OWN = 20.0  # answers that an annotator's own rate is drawn towards that of all with

# weights: constant, share of the walk, unknown, is a group, log members, nearness of the groups' means,
# nearness of a row to the group's mean, and whether the group that the row may be in has one known row only
PRIOR = np.array([1.5, 1.0, -0.5, -0.5, -2.0, 0.3, 0.4, -1.0])
PRIOR_SD = np.array([1.0, 0.5, 0.5, 0.5, 0.7, 0.5, 0.4, 1.0])
N_FEATURES = len(PRIOR)


class Same(NamedTuple):
    """Weights of P(same), and how much an answer of each annotator says."""

    w: FloatArray = PRIOR
    rate: float = WRONG / (WRONG + RIGHT)
    rates: FloatArray = np.zeros(0)
    """Of each annotator who answered often enough to tell; others have the rate of all."""
    is_certain: bool = False

    @property
    def says(self) -> float:
        """The log odds that one answer adds, of somebody who errs as often as all do."""
        return CERTAIN if self.is_certain else float(np.log((1 - self.rate) / self.rate))

    def says_of(self, who: IntArray) -> FloatArray:
        """Return the log odds that answers of annotators add."""
        if self.is_certain:
            return np.full(len(who), CERTAIN)
        table = np.append(self.rates, self.rate)
        rates = table[np.where((who >= 0) & (who < len(self.rates)), who, -1)]
        found: FloatArray = np.log((1 - rates) / rates)
        return found

    @property
    def lone(self) -> float:
        """The factor of walks' shares that end in a group of one known row."""
        return float(np.exp(min(0.0, self.w[7]) / max(self.w[1], 0.1)))

    def odds(self, phi: FloatArray) -> FloatArray:
        """Return the log odds of "same" without what earlier answers say."""
        found: FloatArray = phi @ self.w
        return found


def sigmoid(z: FloatArray) -> FloatArray:
    """Return the logistic function."""
    found: FloatArray = 1 / (1 + np.exp(-np.clip(z, -60, 60)))
    return found


def features(
    share: float,
    unknown: float,
    *,
    group: bool = False,
    members: float = 1.0,
    close: float = 0.0,
    lone: bool = False,
) -> FloatArray:
    """Return the features of two parts: a row or a group, and the group that it may be one with.

    Parameters
    ----------
    share : float
        Share of the walks from the first that end in the second, of those that end anywhere.
    unknown : float
        Share of the walks that end nowhere.
    group : bool
        Whether the first is a group, not a row that nobody asked about before.
    members : float
        How many rows of the first are known.
    close : float
        How near the means are: of all groups' means, or that of the row's best rival.
    lone : bool
        Whether the first is a row, and only one row of the second is known.
    """
    s, u = np.clip((share, unknown), 0.0, 1.0)
    walk = np.log((s + FLOOR) / (1 - s + FLOOR))
    lost = np.log((u + FLOOR) / (1 - u + FLOOR))
    near = (close, 0.0) if group else (0.0, close)
    return np.array([1.0, walk, lost, float(group), np.log(members), *near, float(lone)])


def fit_same(
    phi: FloatArray,
    net: FloatArray,
    yes: BoolArray,
    who: IntArray,
    trust: FloatArray,
    told: float | None,
    start: ArrayLike = PRIOR,
) -> Same:
    """Return the weights and rates under which the answers are likeliest.

    Parameters
    ----------
    phi : ndarray of shape (m, N_FEATURES)
        Features of what each answer was about.
    net : ndarray of shape (m,)
        What earlier answers said of it, in answers.
    yes : ndarray of shape (m,)
        Whether the answer is "same".
    who : ndarray of shape (m,)
        The number of the annotator.
    trust : ndarray of shape (m,)
        How much each answer counts for the weights: what early walks mean is not what later ones do.
    told : float or None
        The error rate, if it is given: 0 is certainty. None: it is estimated.
    start : array-like
        Weights to begin with.
    """
    if told == 0:
        w = _weights(phi, CERTAIN * net, yes, trust, 1e-9, np.asarray(start, dtype=float))
        return Same(w, 1e-9, is_certain=True)
    if told is not None:
        says = np.log((1 - told) / told)
        w = _weights(phi, says * net, yes, trust, told, np.asarray(start, dtype=float))
        return Same(w, told, _own_rates(phi @ w + says * net, yes, who, told))
    best = (-np.inf, PRIOR, COARSE[0])
    w = np.asarray(start, dtype=float)
    for e in COARSE:
        w = _weights(phi, np.log((1 - e) / e) * net, yes, trust, e, w)
        off = ((w - PRIOR) / PRIOR_SD) ** 2
        fit = _log_likelihood(phi @ w, net, yes, np.array([e]))[0] + _log_prior(e)
        fit -= off.sum()  # as much as it counts where answers count half
        best = max(best, (fit, w, e), key=lambda found: found[0])
    _, w, rate = best
    for _ in range(2):
        fits = _log_likelihood(phi @ w, net, yes, RATES) + _log_prior(RATES)
        rate = float(RATES[int(fits.argmax())])
        w = _weights(phi, np.log((1 - rate) / rate) * net, yes, trust, rate, w)
    says = np.log((1 - rate) / rate)
    return Same(w, rate, _own_rates(phi @ w + says * net, yes, who, rate))


def _weights(
    phi: FloatArray,
    offset: FloatArray,
    yes: BoolArray,
    trust: FloatArray,
    e: float,
    w: FloatArray,
) -> FloatArray:
    """Return the weights under which answers with an error rate are likeliest."""
    for _ in range(STEPS):
        p = sigmoid(phi @ w + offset)
        q = e + (1 - 2 * e) * p
        slope = (1 - 2 * e) * p * (1 - p)
        pull = trust * slope / np.maximum(q * (1 - q), 1e-9)
        H = (phi * (pull * slope)[:, None]).T @ phi + np.diag(PRIOR_SD**-2.0)
        step = np.linalg.solve(H, phi.T @ (pull * (q - yes)) + (w - PRIOR) / PRIOR_SD**2)
        w = w - step * min(1.0, LONGEST / max(np.abs(step).max(), 1e-9))
    return w


def _log_likelihood(
    odds: FloatArray, net: FloatArray, yes: BoolArray, rates: FloatArray
) -> FloatArray:
    """Return the log-likelihood of all answers at each of some rates."""
    e = rates[:, None]
    q = e + (1 - 2 * e) * sigmoid(odds + np.log((1 - e) / e) * net)
    found: FloatArray = np.log(np.maximum(np.where(yes, q, 1 - q), 1e-12)).sum(axis=1)
    return found


def _log_prior(rate: FloatArray | float) -> FloatArray | float:
    found: FloatArray = WRONG * np.log(rate) + RIGHT * np.log(1 - rate)
    return found


def _own_rates(odds: FloatArray, yes: BoolArray, who: IntArray, rate: float) -> FloatArray:
    """Return each annotator's likeliest rate, drawn towards that of all."""
    n = int(who.max(initial=-1)) + 1
    if n < 2:
        return np.zeros(0)
    p, e = sigmoid(odds), RATES[:, None]
    q = e + (1 - 2 * e) * p
    each = np.log(np.maximum(np.where(yes, q, 1 - q), 1e-12))
    fits = np.array([np.bincount(who, one, n) for one in each])
    fits += (OWN * (rate * np.log(RATES) + (1 - rate) * np.log(1 - RATES)))[:, None]
    found: FloatArray = RATES[fits.argmax(axis=0)]
    return found
