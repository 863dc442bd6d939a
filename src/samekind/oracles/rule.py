"""Rules that answer where they apply, at no cost, and abstain elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import to_numpy
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs
from samekind.oracles.labels import is_value

__all__ = ["RuleOracle"]

UNKNOWN, OTHER = -1, -2  # codes: nothing is known of a row; it has no value that the rule is about


class RuleOracle:
    """Answers by a rule that costs nothing, and UNSURE where the rule does not apply.

    `contains` and `column` make one; a function of pairs is any other rule. List it first,
    ``solve(X, [rule, model, person])``: questions that it abstains from go to the next, and its error rate is
    estimated from the questions that others answer, too.

    Parameters
    ----------
    judge : callable
        Takes pairs of row numbers, (m, 2), and returns as many answers.
    name : str
        Who is noted in the ledger as having answered.

    Examples
    --------
    >>> texts = ["refund me", "a refund, please", "where is my card?", "card lost"]
    >>> rule = RuleOracle.contains(texts, "refund")
    >>> rule(np.array([[0, 1], [0, 2], [2, 3]]))
    array([ 1,  0, -1], dtype=int8)
    >>> RuleOracle.column([7, 7, 8, None])(np.array([[0, 1], [1, 2], [2, 3]]))
    array([ 1,  0, -1], dtype=int8)
    """

    batch = 1
    abstains = True
    """UNSURE is no answer of a rule: somebody else is asked, and nothing is noted."""

    def __init__(self, judge: Callable[[Pairs], Answers], *, name: str = "rule") -> None:
        self._judge = judge
        self.name = name

    def __repr__(self) -> str:
        return f"RuleOracle({self.name!r})"

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer each pair with SAME, DIFFERENT or UNSURE."""
        return self._judge(pairs)

    @classmethod
    def contains(cls, texts: Sequence[str], word: str, *, name: str | None = None) -> Self:
        """Return a rule: two texts with a word in them are the same; one with it and one without are not.

        Upper and lower case count as the same. Of two texts without the word it says nothing.
        """
        if not word:
            raise ValueError("word must not be empty: every text contains it.")
        found = [word.casefold() in str(text).casefold() for text in texts]
        codes = np.where(found, 0, OTHER)
        return cls(_by_code(codes), name=name or f"contains {word!r}")

    @classmethod
    def column(cls, values: ArrayLike, *, name: str | None = None) -> Self:
        """Return a rule: rows with equal values in an existing column are the same, others are not.

        It says nothing of a row without a value (None, NaN, pandas.NA, "").
        """
        keys = to_numpy("values", values).tolist()
        known = [key if is_value(key) and key != "" else None for key in keys]
        title = getattr(values, "name", None)
        return cls(
            _by_code(_numbered(known, UNKNOWN)), name=name or f"column {title or ''}".strip()
        )


def _numbered(keys: Sequence[Hashable], none: int) -> NDArray[np.intp]:
    numbers: dict[Hashable, int] = {}
    found = [none if key is None else numbers.setdefault(key, len(numbers)) for key in keys]
    return np.array(found, dtype=np.intp)


def _by_code(codes: NDArray[np.intp]) -> Callable[[Pairs], Answers]:
    def judge(pairs: Pairs) -> Answers:
        one, other = codes[pairs[:, 0]], codes[pairs[:, 1]]
        said = np.where(one == other, SAME, DIFFERENT).astype(np.int8)
        said[(one == UNKNOWN) | (other == UNKNOWN) | ((one == OTHER) & (other == OTHER))] = UNSURE
        return said

    return judge
