"""A column of labels that plays the expert."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import is_dask
from samekind.flow import Answers, Pairs

__all__ = ["LabelOracle"]


class LabelOracle:
    """Answers from labels: two rows are of the same kind if their labels are equal.

    Parameters
    ----------
    y : array-like of shape (n,), or Dask array or series
        A label for each row: numbers or texts. Those of a Dask collection stay on the workers, but for the
        rows that are asked about.

    Examples
    --------
    >>> LabelOracle(["cat", "dog", "cat"])(np.array([[0, 1], [0, 2]]))
    array([0, 1], dtype=int8)
    """

    batch = "auto"
    """Rows that a run asks about at once, unless told otherwise."""
    name = "labels"

    def __init__(self, y: ArrayLike) -> None:
        self._codes: NDArray[np.int32] | FarCodes
        if is_dask(y):
            self._codes = FarCodes(y)
            return
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise ValueError(f"y must be one label for each row, got shape {labels.shape}.")
        if labels.dtype == object:
            labels = _numbered(labels.tolist())
        elif labels.dtype.kind in "fc" and np.isnan(labels).any():
            raise _missing(int(np.flatnonzero(np.isnan(labels))[0]))
        self._codes = np.unique(labels, return_inverse=True)[1].astype(np.int32)

    def __len__(self) -> int:
        return len(self._codes)

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer each pair with SAME or DIFFERENT."""
        codes = self._codes[pairs]
        same: Answers = (codes[:, 0] == codes[:, 1]).view(np.int8)
        return same


class FarCodes:
    """Numbers for the labels of a Dask collection; of rows that are asked about only."""

    def __init__(self, y: Any) -> None:
        from samekind.oracles.dask import DaskLabels

        self._labels = DaskLabels(y)
        self._numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        flat = rows.ravel()
        codes = []
        for row, label in zip(flat.tolist(), self._labels.of(flat), strict=True):
            if label is None or not _equals_itself(label):
                raise _missing(row)
            codes.append(self._numbers.setdefault(label, len(self._numbers)))
        return np.array(codes, dtype=np.intp).reshape(rows.shape)


def _numbered(labels: list[Any]) -> NDArray[np.intp]:
    """Number labels of mixed types; 1 and "1" are different."""
    numbers: dict[Any, int] = {}
    codes = []
    for row, label in enumerate(labels):
        if label is None or not _equals_itself(label):
            raise _missing(row)
        codes.append(numbers.setdefault(label, len(numbers)))
    return np.array(codes, dtype=np.intp)


def _equals_itself(label: Any) -> bool:
    """Return False for NaN and for pandas' NA, whose comparison is neither true nor false."""
    try:
        return bool(label == label)
    except TypeError:
        return False


def _missing(row: int) -> ValueError:
    return ValueError(f"y has no label for row {row}. Label it, or leave it out.")
