"""How well two clusterings agree."""

from __future__ import annotations

from numpy.typing import ArrayLike

from samekind.measures._grouped import Grouping, check_same_length

__all__ = ["adjusted_rand_index"]


def adjusted_rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the adjusted Rand index: 1 if two clusterings agree, about 0 if no more than by chance.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        The cluster of each point in either clustering; the names do not matter.

    Examples
    --------
    >>> from samekind.measures import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    true, pred = Grouping("labels_true", labels_true), Grouping("labels_pred", labels_pred)
    check_same_length("labels_true", true.number, "labels_pred", pred.number)
    return float(adjusted_rand_score(true.number, pred.number))
