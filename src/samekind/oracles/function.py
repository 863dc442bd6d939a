"""A function that plays the expert: a rule, a model, a call to a service."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.flow import Answers, Pairs, check_answer

__all__ = ["FunctionOracle"]


class FunctionOracle:
    """Answers from a function of two row numbers that returns True, False, or None if unsure; or 1, 0, -1.

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
        self, function: Callable[[int, int], bool | int | None], *, name: str | None = None
    ) -> None:
        self._function = function
        self.name = name if name is not None else getattr(function, "__name__", "function")

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer the pairs one by one."""
        said = [
            check_answer(self._function(a, b), f" for rows {a} and {b}") for a, b in pairs.tolist()
        ]
        return np.array(said, dtype=np.int8)
