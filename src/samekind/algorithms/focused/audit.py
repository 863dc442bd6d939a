"""The audit: what the result promises, from rows that nothing was learnt from."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaln

from samekind.algorithms.snapshot import Certificate

__all__ = ["Audit", "upper_bound"]

CONFIDENCE = 0.95
CERTAIN = Certificate(1.0, 0.0, 0.0, 0, 0, 0)
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
    """Uniform draws, kept apart: their answers are not shown to whoever predicts.

    When an audited row founds a kind, the kind has to be learnt, and with it the audit: it is over, and the
    next one begins with a smaller risk, such that all audits together err with 5 %.
    """

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.kinds: list[int] = []
        self._known = 0  # draws of rows that had been labelled before
        self._number = 1
        self._draws = 0  # of all audits
        self._news = 0

    @property
    def draws(self) -> int:
        """How many draws the current audit has."""
        return len(self.rows) + self._known

    def hit_known(self, row: int, kind: int) -> None:
        """Take in a draw of a row whose kind is known."""
        if row in self.rows:  # by this audit alone: it counts again
            self.add(row, kind)
        else:
            self._draws += 1
            self._known += 1

    def add(self, row: int, kind: int) -> None:
        """Take in a row of a known kind."""
        self._draws += 1
        self.rows.append(row)
        self.kinds.append(kind)

    def survey(self, *, is_new: bool) -> None:
        """Take in a uniform draw that was learnt from: it tells of clusters not found, not of predictions."""
        self._draws += 1
        self._news += is_new

    def found_new(self) -> list[tuple[int, int]]:
        """End the audit, because a row was new; return its rows and their kinds, to learn from."""
        self._draws += 1
        self._news += 1
        return self.release()

    def release(self) -> list[tuple[int, int]]:
        """Begin the next audit; return the rows of this one and their kinds."""
        released = list(zip(self.rows, self.kinds, strict=True))
        self.rows, self.kinds, self._known = [], [], 0
        self._number += 1
        return released

    def move(self, row: int, kind: int) -> None:
        """Note that an audited row is of another kind than was thought."""
        self.kinds = [
            kind if other == row else old for other, old in zip(self.rows, self.kinds, strict=True)
        ]

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        self.kinds = [keep if kind == gone else kind for kind in self.kinds]

    def certificate(self, predicted: NDArray[np.intp], unproven: int) -> Certificate:
        """Return what can be promised, given the predicted kinds of the audited rows."""
        wrong = int((predicted != np.array(self.kinds, dtype=np.intp)).sum())
        risk = (1 - CONFIDENCE) / 2
        return Certificate(
            confidence=CONFIDENCE,
            undiscovered=upper_bound(self._news, self._draws, risk),
            wrong=upper_bound(wrong, self.draws, risk / (self._number * (self._number + 1))),
            n_audited=self.draws,
            n_wrong=wrong,
            n_unproven=unproven,
        )
