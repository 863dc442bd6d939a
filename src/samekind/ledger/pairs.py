"""Pairs and answers as they come in, and the one number that stands for an unordered pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Pairs
from samekind.ledger._components import write_keys

__all__ = ["check_answers", "check_pairs", "keys_of", "pairs_of"]

FEW = 16


def keys_of(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number for each unordered pair; row numbers are below 2^31."""
    keys = np.empty(len(pairs), dtype=np.int64)
    write_keys(pairs, keys)
    return keys


def pairs_of(lines: NDArray[np.void]) -> Pairs:
    """Return the pairs on lines of the log."""
    return np.column_stack([lines["a"], lines["b"]]).astype(np.intp, copy=False)


def check_pairs(pairs: ArrayLike) -> Pairs:
    """Return pairs as an (m, 2) array of row numbers."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"pairs must be an (m, 2) array of row numbers, got {array.dtype} {array.shape}."
        )
    if array.min() < 0 or array.max() >= 2**31:
        raise ValueError(f"row numbers must be in [0, 2^31), got {array.min()} to {array.max()}.")
    if (array[:, 0] == array[:, 1]).any():
        row = int(array[array[:, 0] == array[:, 1]][0, 0])
        raise ValueError(f"a row cannot be compared with itself, got the pair ({row}, {row}).")
    return array.astype(np.intp, copy=False)


def _all_within(array: NDArray[np.integer], low: int, high: int) -> bool:
    """Return whether all numbers are in [low, high]. A list of few is faster than NumPy."""
    numbers = array.tolist() if array.size <= FEW else [array.min(), array.max()]
    return bool(low <= min(numbers) and max(numbers) <= high)


def check_answers(answers: ArrayLike, size: int) -> Answers:
    """Return answers as an array of SAME, DIFFERENT and UNSURE, one for each pair."""
    array = np.asarray(answers)
    if array.size == 0 and size == 0:
        return np.empty(0, dtype=np.int8)
    if array.dtype.kind == "b":
        array = array.astype(np.int8)
    if array.shape != (size,):
        raise ValueError(f"{size} pairs need as many answers, got an array of shape {array.shape}.")
    if array.dtype.kind not in "iu" or not _all_within(array, -1, 1):
        wrong = next((x for x in array.tolist() if x not in (SAME, DIFFERENT, UNSURE)), array.dtype)
        raise ValueError(f"an answer is SAME (1), DIFFERENT (0) or UNSURE (-1), got {wrong!r}.")
    return array.astype(np.int8, copy=False)
