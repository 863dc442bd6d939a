"""How often each annotator errs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.flow import SAME, UNSURE, Answers, Pairs, check_answers, check_pairs
from samekind.measures._grouped import Floats, Integers

__all__ = ["Reliability", "annotator_reliability", "percent"]

WRONG, RIGHT = 0.5, 1.5  # answers that everyone is taken to have given: the Beta prior
MOST_ROUNDS = 30
STEADY = 1e-6  # no rate moves more: done
TAIL = 0.025  # beyond either end of the interval
TOO_OFTEN = 0.4  # an error rate that nobody has who knows the matter and means well
VAGUE = 0.6  # width of an interval that tells nothing


class Reliability(NamedTuple):
    """How often an annotator errs, with a 95 % interval."""

    name: str
    n_answers: int
    n_unsure: int
    error: float
    low: float
    high: float

    @property
    def is_tested(self) -> bool:
        """Whether the interval tells more than that there may be errors."""
        return self.high - self.low <= VAGUE

    @property
    def shown_name(self) -> str:
        """The name to show; answers may have none."""
        return self.name.strip() or "(no name)"

    @property
    def warning(self) -> str | None:
        """What to do about somebody who is wrong too often beyond doubt."""
        if self.low <= TOO_OFTEN:
            return None
        return (
            f"{self.shown_name} seems to be wrong at least {percent(self.low)} of the time. Look at some of "
            "these answers together, or take them back: "
            f"session.undo({self.n_answers}, who={self.name!r})."
        )


def percent(share: float) -> str:
    """Return a share as a percentage, with a decimal where it is below ten."""
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


class _Definite(NamedTuple):
    """The answers that were not UNSURE, in an order that depends on what they say alone."""

    pair: Integers
    who: Integers
    same: NDArray[np.bool_]
    shared: Integers  # numbers what one annotator said of one pair
    n_annotators: int


def annotator_reliability(
    pairs: ArrayLike,
    answers: ArrayLike,
    who: Sequence[str] | NDArray[np.str_],
    labels: ArrayLike | None = None,
    *,
    confidence: float = 0.999,
) -> list[Reliability]:
    """Estimate how often each annotator's answers are wrong, without being told which are.

    The model is that of Dawid and Skene [1]_: every annotator has two error rates, for calling different
    rows the same and the same rows different; whether a pair is the same is not known, and both are
    found together by expectation maximisation, with a weak Beta prior (0.5 wrong answers, 1.5 right ones).

    What is known of a pair comes from `labels` and from others' answers to the same pair. An answer counts by
    (2p - 1)², where p is the probability that its pair is the same according to all but the annotator's own
    answers to it: one that nothing else tests says nothing about its author, and only leaves the interval
    wide.

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The pairs of rows that were answered. A pair may occur often.
    answers : array-like of shape (m,)
        SAME (1), DIFFERENT (0) or UNSURE (-1), which is counted but not scored.
    who : sequence of m texts
        Who gave each answer.
    labels : array-like of shape (n,) or None
        The cluster of every row, known or predicted; -1 where it is not known. Labels that were made from
        these same answers hide the errors that they followed. Without labels, only several answers to a pair
        test each other.
    confidence : float
        The probability that labels are right about a pair, more than 0.5 and at most 1. With the default,
        answers of three good annotators to a pair outweigh them.

    Returns
    -------
    list of Reliability
        For each annotator, in the order of their first answers: `name`, `n_answers` with `n_unsure` of them,
        the estimated share `error` of wrong ones among the others, and `low` and `high`, between which it
        lies with a probability of 95 %. The interval knows of the labels' own errors only what `confidence`
        tells.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM
       algorithm", Journal of the Royal Statistical Society C 28 (1979) 20-28.

    Examples
    --------
    >>> from samekind.measures import annotator_reliability
    >>> labels = [0, 0, 0, 1, 1, 1]
    >>> pairs = [[0, 1], [0, 3], [1, 2], [2, 4], [0, 2], [1, 4]]
    >>> who = ["ann", "ann", "ann", "ann", "ben", "ben"]  # ben is wrong once, and unsure once
    >>> for one in annotator_reliability(pairs, [1, 0, 1, 0, 0, -1], who, labels):
    ...     print(*one[:3], f"{one.error:.2f}, in {one.low:.2f} to {one.high:.2f}")
    ann 4 0 0.08, in 0.00 to 0.38
    ben 2 1 0.50, in 0.06 to 0.94
    """
    asked = check_pairs(pairs)
    said = check_answers(answers, len(asked))
    names = [str(name) for name in who]
    if len(asked) != len(names):
        raise ValueError(f"pairs and who must be equally many, got {len(asked)} and {len(names)}.")
    surest = _log_odds_of(confidence)
    known = None if labels is None else _check_labels(labels, asked)
    if not names:
        return []

    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    annotator = np.array([numbers[name] for name in names], dtype=np.intp)
    definite = said != UNSURE
    given, unique = _sorted(asked[definite], said[definite], annotator[definite], len(numbers))
    wrong, tested = _errors(given, _by_labels(unique, known, surest))

    n_answers = np.bincount(annotator, minlength=len(numbers))
    n_unsure = np.bincount(annotator[~definite], minlength=len(numbers))
    found = zip(n_answers.tolist(), n_unsure.tolist(), *_intervals(wrong, tested), strict=True)
    by_name = {name: Reliability(name, *line) for name, line in zip(numbers, found, strict=True)}
    return [by_name[name] for name in dict.fromkeys(names)]


def _errors(given: _Definite, by_labels: Floats) -> tuple[Floats, Floats]:
    """Return for each annotator how many answers are wrong, of how many that are tested."""
    from scipy.special import expit

    start = WRONG / (WRONG + RIGHT)
    says_same = np.full(given.n_annotators, start)  # of different rows
    says_different = np.full(given.n_annotators, start)  # of the same rows
    for _ in range(MOST_ROUNDS):
        for_same = (np.log1p(-says_different) - np.log(says_same))[given.who]
        for_different = (np.log(says_different) - np.log1p(-says_same))[given.who]
        evidence = np.where(given.same, for_same, for_different)
        on_pair: Floats = np.bincount(given.pair, evidence).astype(np.float64)
        own = np.bincount(given.shared, evidence)[given.shared]
        others = by_labels[given.pair] + (on_pair[given.pair] - own)
        weight = (2 * expit(others) - 1) ** 2
        is_same = expit(others + own)

        def total(values: Floats) -> Floats:
            return np.bincount(given.who, values, given.n_annotators).astype(np.float64)

        missed, denied = weight * (1 - is_same), weight * is_same
        new = (
            (total(missed * given.same) + WRONG) / (total(missed) + WRONG + RIGHT),
            (total(denied * ~given.same) + WRONG) / (total(denied) + WRONG + RIGHT),
        )
        moved = max(np.abs(new[0] - says_same).max(), np.abs(new[1] - says_different).max())
        says_same, says_different = new
        if moved < STEADY:
            break
    return total(np.where(given.same, missed, denied)), total(weight)


def _intervals(wrong: Floats, tested: Floats) -> tuple[list[float], list[float], list[float]]:
    """Return the mean and the ends of the posterior distribution of each error."""
    from scipy.special import betaincinv

    a, b = wrong + WRONG, np.maximum(tested - wrong, 0.0) + RIGHT
    ends = (betaincinv(a, b, tail).tolist() for tail in (TAIL, 1 - TAIL))
    return ((a / (a + b)).tolist(), *ends)


def _by_labels(pairs: Pairs, labels: Integers | None, surest: float) -> Floats:
    """Return the log odds, by the labels, that each pair is the same."""
    if labels is None:
        return np.zeros(len(pairs))
    one, other = labels[pairs].T
    odds = np.where(one == other, surest, -surest)
    odds[(one < 0) | (other < 0)] = 0.0
    return odds


def _sorted(
    pairs: Pairs, answers: Answers, who: Integers, n_annotators: int
) -> tuple[_Definite, Pairs]:
    """Put answers in order, so that sums do not depend on who came first; return them and the pairs."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    order = np.lexsort((answers, who, high, low))
    low, high, who = low[order], high[order], who[order]
    new_pair = np.diff(low, prepend=-1).astype(bool) | np.diff(high, prepend=-1).astype(bool)
    new_share = new_pair | np.diff(who, prepend=-1).astype(bool)
    given = _Definite(
        pair=np.cumsum(new_pair) - 1,
        who=who,
        same=answers[order] == SAME,
        shared=np.cumsum(new_share) - 1,
        n_annotators=n_annotators,
    )
    return given, np.column_stack([low[new_pair], high[new_pair]])


def _log_odds_of(confidence: object) -> float:
    number = float(confidence) if isinstance(confidence, Real) else np.nan
    if isinstance(confidence, bool) or not 0.5 < number <= 1:
        raise ValueError(f"confidence must be a number in (0.5, 1], got {confidence!r}.")
    return log(number / (1 - number)) if number < 1 else inf


def _check_labels(labels: ArrayLike, pairs: Pairs) -> Integers:
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            "labels must be the number of a cluster for each row, -1 where it is not known, got "
            f"{array.dtype} {array.shape}."
        )
    if len(pairs) and pairs.max() >= len(array):
        raise ValueError(f"pairs has row {pairs.max()}, but labels has {len(array)} rows.")
    return array.astype(np.intp, copy=False)
