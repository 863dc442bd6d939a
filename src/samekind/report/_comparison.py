"""How clusters compare with true labels, however many rows there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import is_dask

__all__ = ["Comparison", "compare", "sizes_of"]

PIECE = 2**20  # rows that are counted together
DENSE = 2**24  # cells of a table that is kept whole


class Comparison(NamedTuple):
    """The contingency table of true classes and clusters: a line for each two that share rows.

    Attributes
    ----------
    classes : ndarray of str
        The true classes.
    of_class, of_cluster : ndarray of shape (m,)
        Numbers of classes and clusters that meet; -1 for rows in no cluster.
    counts : ndarray of shape (m,)
        How many rows they share.
    """

    classes: NDArray[np.str_]
    of_class: NDArray[np.int64]
    of_cluster: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def agreement(self) -> float:
        """The adjusted Rand index: 1 if they agree entirely, about 0 if no more than by chance."""
        pairs = _pairs(self.counts)
        by_class = _pairs(_sums(self.of_class, self.counts))
        by_cluster = _pairs(_sums(self.of_cluster + 1, self.counts))
        if pairs == by_class == by_cluster:
            return 1.0
        expected = by_class / _pairs(self.counts.sum(keepdims=True)) * by_cluster
        return float((pairs - expected) / ((by_class + by_cluster) / 2 - expected))

    def commonest(self, cluster: int) -> tuple[str, float]:
        """Return the class that most rows of a cluster have, and their share."""
        here = np.flatnonzero(self.of_cluster == cluster)
        if not here.size:
            return str(self.classes[0]), 0.0
        most = here[self.counts[here].argmax()]
        return str(self.classes[self.of_class[most]]), float(
            self.counts[most] / self.counts[here].sum()
        )


def _sums(groups: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    np.add.at(sums, groups, counts)
    return sums


def _pairs(counts: NDArray[np.int64]) -> int:
    """Return how many pairs of rows are in the same group; as a Python integer, which has no limit."""
    return sum(count * (count - 1) // 2 for count in counts.tolist())


def compare(truth: Any, labels: Any, n_clusters: int) -> Comparison:
    """Count the rows of each class in each cluster.

    `truth` is an array, or a pandas Categorical, whose codes are used as they are. What is on a Dask cluster
    is counted there.
    """
    if is_dask(labels):
        return _compare_far(truth, labels)
    if hasattr(truth, "categories"):
        classes, codes = np.asarray(truth.categories).astype(str), truth.codes
    else:
        given = np.asarray(truth)
        classes, codes = np.unique(
            given.astype(str) if given.dtype == object else given, return_inverse=True
        )
        classes = classes.astype(str)
    wide = n_clusters + 1
    dense = np.zeros(len(classes) * wide if len(classes) * wide <= DENSE else 0, dtype=np.int64)
    cells, counts = np.empty((2, 0), dtype=np.int64)
    for part in _parts(len(codes)):
        here = np.asarray(codes[part], dtype=np.int64) * wide + np.asarray(labels[part]) + 1
        if dense.size:
            dense += np.bincount(here, minlength=dense.size)
            continue
        some = np.unique(here, return_counts=True)
        cells, inverse = np.unique(np.concatenate([cells, some[0]]), return_inverse=True)
        counts = _sums(inverse, np.concatenate([counts, some[1]]))
    if dense.size:
        cells = np.flatnonzero(dense)
        counts = dense[cells]
    return Comparison(classes, cells // wide, cells % wide - 1, counts)


def sizes_of(labels: Any, n_clusters: int) -> NDArray[np.intp]:
    """Return how many rows each cluster has."""
    if is_dask(labels):
        import dask

        count = dask.delayed(_sizes_of_block)
        blocks = [count(block, n_clusters) for block in labels.to_delayed()]
        far: NDArray[np.intp] = np.sum(dask.compute(*blocks), axis=0)
        return far
    counts = np.zeros(n_clusters + 1, dtype=np.intp)
    for part in _parts(len(labels)):
        counts += np.bincount(np.asarray(labels[part]) + 1, minlength=n_clusters + 1)
    return counts[1:]


def _sizes_of_block(labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    return np.bincount(labels + 1, minlength=n_clusters + 1)[1:]


def _compare_far(truth: Any, labels: Any) -> Comparison:
    import dask

    count = dask.delayed(_meetings)
    pairs = zip(truth.to_delayed(), labels.rechunk(truth.chunks).to_delayed(), strict=True)
    meetings: Counter[tuple[str, int]] = Counter()
    for some in dask.compute(*[count(classes, clusters) for classes, clusters in pairs]):
        meetings.update(some)
    classes = sorted({name for name, _ in meetings})
    number = {name: place for place, name in enumerate(classes)}
    return Comparison(
        np.array(classes),
        np.array([number[name] for name, _ in meetings], dtype=np.int64),
        np.array([cluster for _, cluster in meetings], dtype=np.int64),
        np.array(list(meetings.values()), dtype=np.int64),
    )


def _meetings(truth: ArrayLike, labels: NDArray[np.intp]) -> Counter[tuple[str, int]]:
    """Return how many rows of each class are in each cluster, of one block."""
    classes, codes = np.unique(np.asarray(truth).astype(str), return_inverse=True)
    wide = int(labels.max(initial=0)) + 2
    cells, counts = np.unique(codes * wide + labels + 1, return_counts=True)
    where = zip(classes[cells // wide].tolist(), (cells % wide - 1).tolist(), strict=True)
    return Counter(dict(zip(where, counts.tolist(), strict=True)))


def _parts(n: int) -> Iterator[slice]:
    for first in range(0, n, PIECE):
        yield slice(first, min(first + PIECE, n))
