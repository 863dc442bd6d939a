"""Labels that play experts who err: one, or several who err differently often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_positive_int
from samekind.flow import UNSURE, Answers, Pairs
from samekind.oracles.labels import LabelOracle

__all__ = ["NoisyOracle"]

Rate: TypeAlias = float | tuple[float, float]
ERRS, IS_UNSURE, WHO = range(3)  # what a random number is for


class NoisyOracle(LabelOracle):
    """Answers from labels, some of them wrong.

    Parameters
    ----------
    y : array-like of shape (n,)
        A label for each row: numbers or texts.
    error : float, pair of floats or None
        The chance that an answer is wrong, in [0, 1]; None where `per_annotator` says it. A pair has the
        chance to call different rows the same, and to call the same rows different: models err so.
    persistent : bool
        Whether a pair gets the same answer whenever it is asked, as the paper assumes, in whatever order
        and however often. Otherwise each asking errs anew.
    per_annotator : None, mapping or sequence
        The `error` of each annotator, by name, or as a list for "annotator 1" and so on.
        Pairs are dealt out evenly at random. An adversary errs more often than not.
    seed : int
        Fixes who gets which pair and which answers are wrong.
    unsure : float
        The share of pairs that are answered UNSURE, in [0, 1].

    Attributes
    ----------
    who : list of str, or None
        With `per_annotator`, who answered each pair of the last call.

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> pairs = np.array([[0, row] for row in range(1, 100)])
    >>> said = NoisyOracle(y, error=0.1)(pairs)
    >>> int((said != LabelOracle(y)(pairs)).sum())
    7
    >>> oracle = NoisyOracle(y, per_annotator={"Ann": 0.0, "Bob": 0.3})
    >>> oracle(pairs[:3]), oracle.who
    (array([1, 0, 1], dtype=int8), ['Ann', 'Bob', 'Ann'])
    """

    batch = 1  # type: ignore[assignment]
    name = "noisy labels"

    def __init__(
        self,
        y: ArrayLike,
        error: Rate | None = None,
        persistent: bool = True,
        per_annotator: Mapping[str, Rate] | Sequence[Rate] | None = None,
        seed: int = 0,
        unsure: float = 0.0,
    ) -> None:
        super().__init__(y)
        if (error is None) == (per_annotator is None):
            raise ValueError(
                "pass either error, how often answers are wrong, such as error=0.1, or per_annotator, "
                'how often those of each are, such as per_annotator={"Ann": 0.05, "Bob": 0.2}.'
            )
        if not isinstance(persistent, bool):
            raise ValueError(f"persistent must be True or False, got {persistent!r}.")
        rates = {self.name: error} if per_annotator is None else _named(per_annotator)
        self._names = None if per_annotator is None else list(rates)
        self._rates = np.array(
            [
                _shares("error" if per_annotator is None else f"per_annotator[{name!r}]", rate)
                for name, rate in rates.items()
            ]
        )
        self._unsure = _share("unsure", unsure)
        self._seed = check_positive_int("seed", seed, minimum=0)
        self._rng = None if persistent else np.random.default_rng(self._seed)
        self.who: list[str] | None = None

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer each pair with SAME, DIFFERENT or UNSURE."""
        said = super().__call__(pairs)
        who = np.zeros(len(pairs), dtype=np.intp)
        if self._names is not None:
            who = (self._uniforms(pairs, WHO) * len(self._names)).astype(np.intp)
            self.who = [self._names[i] for i in who.tolist()]
        said ^= self._uniforms(pairs, ERRS) < self._rates[who, said]
        said[self._uniforms(pairs, IS_UNSURE) < self._unsure] = UNSURE
        return said

    def _uniforms(self, pairs: Pairs, purpose: int) -> NDArray[np.float64]:
        """Return a number in [0, 1) for each pair; the same for the same pair if errors persist."""
        if self._rng is not None:
            return self._rng.random(len(pairs))
        key = np.array([self._seed % 2**64], dtype=np.uint64)
        for part in (purpose, pairs.min(axis=1), pairs.max(axis=1)):
            key = _mixed(key + _mixed(np.asarray(part, dtype=np.uint64)))
        return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the next state of a splitmix64 generator at each number, mixed well."""
    z = np.atleast_1d(numbers) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _named(rates: Any) -> dict[str, Any]:
    """Return the error rates by name."""
    if isinstance(rates, Mapping):
        named = dict(rates)
    elif isinstance(rates, Sequence | np.ndarray) and not isinstance(rates, str):
        named = {f"annotator {number}": rate for number, rate in enumerate(rates, start=1)}
    else:
        raise TypeError(
            "per_annotator must be a mapping from names to error rates, a list of error rates or None, "
            f"got {rates!r}."
        )
    if not named:
        raise ValueError("per_annotator names nobody. Give at least one error rate, or pass error.")
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"names in per_annotator must be texts, got {name!r}.")
    return named


def _shares(name: str, value: Any) -> tuple[float, float]:
    """Return the chances of a wrong answer about rows that differ, and about rows that are the same."""
    if isinstance(value, tuple | list) and len(value) == 2:
        return _share(f"{name}[0]", value[0]), _share(f"{name}[1]", value[1])
    return (_share(name, value),) * 2


def _share(name: str, value: Any) -> float:
    """Return value as a float in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(
            f"{name} must be a number in [0, 1], got {value!r}. 0.1 is one answer in ten."
        )
    return float(value)
