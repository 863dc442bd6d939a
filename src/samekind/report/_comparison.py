"""How clusters compare with true labels, however many rows there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

__all__ = ["Comparison", "compare", "sizes_of"]

PIECE = 2**20  # rows that are counted together


class Comparison(NamedTuple):
    """The contingency table of true classes and clusters.

    Attributes
    ----------
    classes : ndarray of str
        The true classes.
    table : sparse array of shape (n_classes, 1 + n_clusters)
        How many rows of each class are in no cluster, and in each cluster.
    """

    classes: NDArray[np.str_]
    table: csr_array

    @property
    def agreement(self) -> float:
        """The adjusted Rand index: 1 if they agree entirely, about 0 if no more than by chance."""
        pairs = _n_pairs(self.table.data)
        by_class, by_cluster = (_n_pairs(self.table.sum(axis=axis)) for axis in (1, 0))
        if pairs == by_class == by_cluster:
            return 1.0
        expected = by_class / _n_pairs(np.array([self.table.sum()])) * by_cluster
        return float((pairs - expected) / ((by_class + by_cluster) / 2 - expected))

    def commonest(self, cluster: int) -> tuple[str, float]:
        """Return the class that most rows of a cluster have, and their share."""
        counts = self.table[:, [cluster + 1]].toarray().ravel()
        return str(self.classes[counts.argmax()]), float(counts.max() / max(1, counts.sum()))


def _n_pairs(counts: NDArray[np.int64]) -> int:
    """Return how many pairs of rows are in the same group; as a Python integer, which has no limit."""
    return sum(count * (count - 1) // 2 for count in counts.tolist())


def compare(truth: Any, labels: Any, n_clusters: int) -> Comparison:
    """Count the rows of each class in each cluster.

    `truth` is an array, or a pandas Categorical, whose codes are used as they are.
    """
    if hasattr(truth, "categories"):
        classes, codes = np.asarray(truth.categories).astype(str), truth.codes
    else:
        classes, codes = _coded(np.asarray(truth))
    shape = (len(classes), 1 + n_clusters)
    table = csr_array(shape, dtype=np.int64)
    for part in _parts(len(codes)):
        table += _counted(codes[part], np.asarray(labels[part]) + 1, shape)
    return Comparison(classes, table)


def sizes_of(labels: Any, n_clusters: int) -> NDArray[np.intp]:
    """Return how many rows each cluster has."""
    parts = _parts(len(labels))
    blocks = [_sizes_of_block(np.asarray(labels[part]), n_clusters) for part in parts]
    sizes: NDArray[np.intp] = np.sum(blocks, axis=0, dtype=np.intp)
    return sizes


def _sizes_of_block(labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    return np.bincount(labels + 1, minlength=n_clusters + 1)[1:]


def _coded(values: NDArray[np.generic]) -> tuple[NDArray[np.str_], NDArray[np.intp]]:
    """Return the classes, and the number of the class of each value."""
    comparable = values.astype(str) if values.dtype == object else values
    classes, codes = np.unique(comparable, return_inverse=True)
    return classes.astype(str), codes


def _counted(
    rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]
) -> csr_array:
    """Return how often each place of a table is named."""
    height, width = shape
    if height * width <= PIECE:  # many times faster
        places = np.asarray(rows, dtype=np.int64) * width + columns
        return csr_array(np.bincount(places, minlength=height * width).reshape(shape))
    return coo_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape).tocsr()


def _parts(n: int) -> Iterator[slice]:
    for first in range(0, max(1, n), PIECE):
        yield slice(first, first + PIECE)
