"""A column of labels that plays the expert."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import is_dask, to_numpy
from samekind.flow import Answers, Pairs

if TYPE_CHECKING:
    from samekind.oracles.dask import DaskLabelCodes

__all__ = ["LabelOracle", "is_value", "number_labels"]


class LabelOracle:
    """Answers from labels: two rows are of the same kind if their labels are equal.

    Parameters
    ----------
    y : array-like of shape (n,), or Dask array or series
        A label for each row: numbers or texts. Those of a Dask collection stay on the workers, but for the
        rows that are asked about.
    client : distributed.Client or None
        Where the labels of a Dask collection are; None takes the current client.

    Examples
    --------
    >>> LabelOracle(["cat", "dog", "cat"])(np.array([[0, 1], [0, 2]]))
    array([0, 1], dtype=int8)
    """

    batch = "auto"
    """Rows that a run asks about at once, unless told otherwise."""
    name = "labels"

    def __init__(self, y: ArrayLike, *, client: Any = None) -> None:
        self._codes: NDArray[np.int32] | DaskLabelCodes
        if is_dask(y):
            from samekind.oracles.dask import DaskLabelCodes

            self._codes = DaskLabelCodes(y, client)
            return
        labels = to_numpy("y", y)
        if labels.ndim != 1:
            raise ValueError(f"y must be one label for each row, got shape {labels.shape}.")
        if labels.dtype == object:
            labels = np.array(number_labels(labels.tolist(), count(), {}), dtype=np.intp)
        elif labels.dtype.kind in "fc" and np.isnan(labels).any():
            raise _missing(int(np.flatnonzero(np.isnan(labels))[0]))
        if labels.dtype.kind in "bi" and labels.dtype.itemsize <= 4:
            self._codes = labels.astype(np.int32)  # as good as any numbers, and no copy is sorted
        else:
            self._codes = np.unique(labels, return_inverse=True)[1].astype(np.int32)

    def __len__(self) -> int:
        return len(self._codes)

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer each pair with SAME or DIFFERENT."""
        codes = self._codes[pairs]
        same: Answers = (codes[:, 0] == codes[:, 1]).view(np.int8)
        return same


def number_labels(
    labels: Iterable[Any], rows: Iterable[int], numbers: dict[Hashable, int]
) -> list[int]:
    """Return the numbers of the labels of some rows; new labels get new numbers. 1 and "1" differ."""
    codes = []
    for row, label in zip(rows, labels, strict=False):
        if not is_value(label):
            raise _missing(row)
        codes.append(numbers.setdefault(label, len(numbers)))
    return codes


def is_value(label: Any) -> bool:
    """Return False for None, NaN, and pandas' NA, whose comparison is neither true nor false."""
    try:
        return label is not None and bool(label == label)
    except TypeError:
        return False


def _missing(row: int) -> ValueError:
    return ValueError(f"y has no label for row {row}. Label it, or leave it out.")
