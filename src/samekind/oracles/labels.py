"""A column of labels that plays the expert."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from samekind.flow import Answers, Pairs

__all__ = ["LabelOracle"]


class LabelOracle:
    """Answers from labels: two rows are of the same kind if their labels are equal.

    Parameters
    ----------
    y : array-like of shape (n,)
        A label for each row: numbers or texts.

    Examples
    --------
    >>> LabelOracle(["cat", "dog", "cat"])(np.array([[0, 1], [0, 2]]))
    array([0, 1], dtype=int8)
    """

    batch = "auto"
    """Rows that a run asks about at once, unless told otherwise."""
    name = "labels"

    def __init__(self, y: ArrayLike) -> None:
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise ValueError(f"y must be one label for each row, got shape {labels.shape}.")
        if np.issubdtype(labels.dtype, np.floating) and np.isnan(labels).any():
            row = int(np.flatnonzero(np.isnan(labels))[0])
            raise ValueError(f"y has no label for row {row} (NaN). Label it, or leave it out.")
        if labels.dtype == object:
            labels = labels.astype(str)
        self._codes = np.unique(labels, return_inverse=True)[1].astype(np.int32)

    def __len__(self) -> int:
        return len(self._codes)

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer each pair with SAME or DIFFERENT."""
        codes = self._codes
        same: Answers = (codes[pairs[:, 0]] == codes[pairs[:, 1]]).view(np.int8)
        return same
