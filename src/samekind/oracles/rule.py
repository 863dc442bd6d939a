"""Rules that play the expert where they apply, for nothing, and abstain elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import to_numpy
from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs

__all__ = ["RuleOracle"]

UNKNOWN, OTHER = -1, -2  # codes: nothing is known of a row; it has no value that the rule is about


class RuleOracle:
    """Answers by a rule that costs nothing, and UNSURE where the rule does not apply: a weak oracle.

    Made by `contains`, `pattern`, `column` or `similarity`, or from a function of pairs. Beside others it is
    asked first, `solve(X, [rule, model, person])`: what it abstains from goes to the next, and how often it
    errs is learnt from those it is checked by.

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
    def pattern(cls, texts: Sequence[str], pattern: str, *, name: str | None = None) -> Self:
        r"""Return a rule by a regular expression: what its first group, or all of it, matches must be equal.

        A text that it does not match differs from those that it does. Of two such texts it says nothing.

        Examples
        --------
        >>> rule = RuleOracle.pattern(["order A-1", "re: A-1", "A-2", "hello"], r"[A-Z]-\d")
        >>> rule(np.array([[0, 1], [0, 2], [0, 3]]))
        array([1, 0, 0], dtype=int8)
        """
        compiled = re.compile(pattern)
        matches = (compiled.search(str(text)) for text in texts)
        keys = [None if found is None else found[1 if compiled.groups else 0] for found in matches]
        return cls(_by_code(_numbered(keys, OTHER)), name=name or f"pattern {pattern!r}")

    @classmethod
    def column(cls, values: ArrayLike, *, name: str | None = None) -> Self:
        """Return a rule: rows with equal values in an existing column are the same, others are not.

        Of a row without a value (None, NaN, "") it says nothing.
        """
        keys = to_numpy("values", values).tolist()
        missing = [None if key is None or key != key or key == "" else key for key in keys]
        title = getattr(values, "name", None)
        return cls(
            _by_code(_numbered(missing, UNKNOWN)), name=name or f"column {title or ''}".strip()
        )

    @classmethod
    def similarity(
        cls,
        X: ArrayLike,
        *,
        same: float | None = None,
        different: float | None = None,
        name: str = "similarity",
    ) -> Self:
        """Return a rule by the cosine of two rows: at least `same` is the same, at most `different` is not.

        Either may be left out; in between it says nothing.
        """
        if same is None and different is None:
            raise ValueError("pass same, different or both: cosines from which on rows are that.")
        if same is not None and different is not None and different >= same:
            raise ValueError(f"different must be below same, got {different} and {same}.")
        rows = np.asarray(X)

        def judge(pairs: Pairs) -> Answers:
            one, other = (rows[pairs[:, side]].astype(np.float64) for side in (0, 1))
            lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
            cosine = np.einsum("ij,ij->i", one, other) / np.maximum(lengths, 1e-300)
            said = np.full(len(pairs), UNSURE, dtype=np.int8)
            if same is not None:
                said[cosine >= same] = SAME
            if different is not None:
                said[cosine <= different] = DIFFERENT
            return said

        return cls(judge, name=name)


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
