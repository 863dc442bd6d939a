"""A function that plays the expert: a rule, a model, a call to a service."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs

__all__ = ["FunctionOracle"]


class FunctionOracle:
    """Answers from a function of two row numbers that returns True, False, or None if unsure.

    Parameters
    ----------
    function : callable
        ``function(a, b)`` with two ints.
    name : str or None
        Who is noted in the ledger as having answered; the function's name by default.

    Examples
    --------
    >>> words = ["red", "blue", "crimson"]
    >>> shades = {"red", "crimson"}
    >>> oracle = FunctionOracle(lambda a, b: {words[a], words[b]} <= shades)
    >>> oracle(np.array([[0, 1], [0, 2]]))
    array([0, 1], dtype=int8)
    """

    batch = 1

    def __init__(
        self, function: Callable[[int, int], bool | None], *, name: str | None = None
    ) -> None:
        self._function = function
        self.name = name if name is not None else getattr(function, "__name__", "function")

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer the pairs one by one."""
        return np.array([self._answer(a, b) for a, b in pairs.tolist()], dtype=np.int8)

    def _answer(self, a: int, b: int) -> int:
        said = self._function(a, b)
        if said is None:
            return UNSURE
        if isinstance(said, bool | np.bool_):
            return SAME if said else DIFFERENT
        raise TypeError(
            f"the oracle's function must return True, False or None, got {said!r} for rows {a} and {b}."
        )
