"""The audit: what the result promises, from rows that nothing was learnt from."""

from __future__ import annotations

from math import log

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused.constants import CONFIDENCE, SHRINKAGE
from samekind.flow import FloatArray, IntArray

__all__ = ["ALL_KNOWN", "Audit", "rectified_centers", "upper_bound"]

ALL_KNOWN = Certificate(1.0, 0.0, 0.0, 0, 0, 0)
"""When every row is labelled."""


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


class Audit:
    """Rows drawn uniformly whose answers are kept from the model, so that they can test its predictions.

    When an audited row is of a new cluster, the model has to learn it, and with it the other audited rows:
    this audit is over, and the next begins with a smaller risk, such that all together err with 5 %.
    """

    def __init__(self) -> None:
        self.rows: list[int] = []
        """The audited rows; one that was drawn twice is there twice."""
        self.clusters: list[int] = []
        """The cluster of each."""
        self._places: dict[int, list[int]] = {}  # of each row in these lists
        self._n_known = 0  # draws of rows that had been labelled before
        self._number = 1
        self._taken_out: dict[int, int] = {}  # rows to be audited again, and their draws
        self._n_uniform = 0  # uniform draws, of all audits and surveys
        self._n_new = 0

    def __contains__(self, row: int) -> bool:
        return row in self._places

    @property
    def n_draws(self) -> int:
        """How many draws the current audit has."""
        return len(self.rows) + self._n_known

    def add(self, row: int, cluster: int) -> None:
        """Add a draw of a row that was asked about now."""
        for _ in range(self._taken_out.pop(row, 1)):
            self._n_uniform += 1
            self._places.setdefault(row, []).append(len(self.rows))
            self.rows.append(row)
            self.clusters.append(cluster)

    def take_out(self, row: int) -> bool:
        """Take all draws of a row out, whose cluster is not known any more; return whether there are any.

        When it is added again, so are they all.
        """
        places = self._places.get(row)
        if places is None:
            return False
        self._taken_out[row] = len(places)
        self._n_uniform -= len(places)
        kept = [
            (other, cluster)
            for other, cluster in zip(self.rows, self.clusters, strict=True)
            if other != row
        ]
        self.rows, self.clusters = [other for other, _ in kept], [cluster for _, cluster in kept]
        self._places = {}
        for place, other in enumerate(self.rows):
            self._places.setdefault(other, []).append(place)
        return True

    def count_missed(self) -> None:
        """Count a draw as one of a new cluster: it was of one that was taken for part of another."""
        self._n_new = min(self._n_new + 1, self._n_uniform)

    def add_known(self, row: int, cluster: int) -> None:
        """Add a draw of a row that was known: only one known to this audit alone tests a prediction again."""
        if row in self:
            self.add(row, cluster)
        else:
            self._n_uniform += 1
            self._n_known += 1

    def add_survey(self, *, is_new: bool) -> None:
        """Add a uniform draw that was learnt from: it tells of clusters not found, not of predictions."""
        self._n_uniform += 1
        self._n_new += is_new

    def end(self) -> list[tuple[int, int]]:
        """End this audit, as a row was of a new cluster; return its rows and clusters, to learn from."""
        self.add_survey(is_new=True)
        return self.release()

    def release(self) -> list[tuple[int, int]]:
        """End this audit, and return its rows and clusters, to learn from."""
        released = list(zip(self.rows, self.clusters, strict=True))
        self.rows, self.clusters, self._places, self._n_known = [], [], {}, 0
        self._number += 1
        return released

    def move(self, row: int, cluster: int) -> None:
        """Note that a row, audited or not, is in another cluster than was thought."""
        for place in self._places.get(row, ()):
            self.clusters[place] = cluster

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        self.clusters = [keep if cluster == gone else cluster for cluster in self.clusters]

    def certificate(self, predicted: IntArray, n_unproven: int) -> Certificate:
        """Return what can be promised, given the predicted clusters of the audited rows."""
        n_wrong = int((predicted != np.array(self.clusters, dtype=np.intp)).sum())
        risk = (1 - CONFIDENCE) / 2
        return Certificate(
            confidence=CONFIDENCE,
            undiscovered=upper_bound(self._n_new, self._n_uniform, risk),
            wrong=upper_bound(n_wrong, self.n_draws, risk / (self._number * (self._number + 1))),
            n_audited=self.n_draws,
            n_wrong=n_wrong,
            n_unproven=n_unproven,
        )


def rectified_centers(
    means: FloatArray,
    counts: IntArray,
    X: FloatArray,
    clusters: IntArray,
    predicted: IntArray,
    n: int,
) -> FloatArray:
    """Correct the means of predicted clusters by audited rows X, of known and predicted clusters.

    Prediction-powered inference (Angelopoulos et al., Science 2023): each wrongly predicted row of the m
    audited ones stands for n/m rows that are in the wrong sum. A correction that is no longer than twice
    its own standard error is noise, so it is shrunken in the manner of James and Stein, by max(0, 1 -
    4·variance / length²).
    """
    m = len(X)
    wrong = np.flatnonzero(clusters != predicted)
    centers = means.copy()
    for cluster in np.unique(np.concatenate([clusters[wrong], predicted[wrong]])):
        if cluster < 0 or not counts[cluster]:
            continue
        sign = (clusters == cluster).astype(float) - (predicted == cluster)
        off = sign[:, None] * (X - means[cluster]) * (n / counts[cluster])
        correction = off.mean(axis=0)
        variance = off.var(axis=0, ddof=1).sum() / m if m > 1 else np.inf
        length = float((correction**2).sum())
        if length > 0:
            centers[cluster] += max(0.0, 1.0 - SHRINKAGE * variance / length) * correction
    return centers
