"""How often annotators err."""

from __future__ import annotations

from math import log

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.flow import SAME, FloatArray

__all__ = ["AnnotatorRates"]


class AnnotatorRates:
    """The share of wrong answers of each annotator: a record of judged answers, drawn towards that of all.

    An answer of somebody who errs more often than not counts against what it says. Rows in one cluster that
    are called different, and others that are called the same, count alike: two rates for each annotator were
    tried, from all judged answers and from checks alone, and both led to more clusters than there are, also
    where annotators are lopsided (means of six runs on blobs, from checks alone: ARI with every fifth answer
    wrong .91 and .95 instead of .98; with 25 % of the one and 4 % of the other .84 and .94 instead of .93).
    Rows that were refused by mistake and found a cluster seem to be refused rightly, so that refusals are
    trusted ever more. Even the true two rates, given from the start, led to less: .756 instead of .781 after
    3,000 answers on banking77 (64 components of MiniLM, 12 % and 4 %, 6 seeds), as "same" is then believed at
    once, and most of what is asked is different, so that most of what is wrong is a "same".
    """

    def __init__(self, error_rate: float | str) -> None:
        self.is_estimated = error_rate == "estimate"
        self._prior_error = const.PRIOR_ERROR if self.is_estimated else float(error_rate)
        self._prior_answers = const.PRIOR_ERROR_ANSWERS if self.is_estimated else 1e9
        self._n_wrong = self._n_judged = np.zeros(0)
        self._rates = np.zeros(0)
        self.set_record(self._n_wrong, self._n_judged)

    def set_record(self, n_wrong: FloatArray, n_judged: FloatArray) -> None:
        """Replace how many answers of each annotator were judged, and how many of them were wrong."""
        self._n_wrong, self._n_judged = n_wrong, n_judged
        share = n_wrong.sum() + self._prior_error * self._prior_answers
        share /= n_judged.sum() + self._prior_answers
        mean = float(np.clip(share, const.MIN_ERROR, const.MAX_MEAN_ERROR))
        if self.is_estimated or np.count_nonzero(n_judged) > 1:
            others = mean if self.is_estimated else self._prior_error
            own = (n_wrong + const.OWN_ANSWERS * others) / (n_judged + const.OWN_ANSWERS)
        else:
            own = np.full(n_judged.size, self._prior_error)
        # the last one is that of all, and of who is not known and has the number -1
        self._rates = np.append(np.clip(own, const.MIN_ERROR, const.MAX_ERROR), mean)

    def table(self, annotators: int) -> FloatArray:
        """Return the rates of so many annotators, and in the last place that of all."""
        known = self._rates[:-1][:annotators]
        return np.append(known, np.full(annotators + 1 - known.size, self._rates[-1]))

    def of(self, annotator: int = -1) -> float:
        """Return the share of answers, of one annotator or of all, that seem to be wrong."""
        known = 0 <= annotator < self._n_judged.size
        return float(self._rates[annotator if known else -1])

    def log_odds(self, answer: int, annotator: int, impurity: float = 0.0) -> float:
        """Return the log ratio of an answer's likelihoods if two rows are in one cluster, and in two.

        With a rate that is the higher the less is known of the annotator. Where two clusters are compared by
        the rows, `impurity` is the chance that these are not in them.
        """
        error = self.of(annotator)
        if self.is_estimated:
            known = 0 <= annotator < self._n_judged.size
            n_answers = const.OWN_ANSWERS + (float(self._n_judged[annotator]) if known else 0.0)
            n_wrong = error * n_answers + const.CAUTION
            error = min(n_wrong / (n_answers + const.CAUTION), const.MAX_ERROR)
        error = min(error + impurity, max(error, 0.5 - impurity))
        odds = log((1 - error) / error)
        return odds if answer == SAME else -odds
