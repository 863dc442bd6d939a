"""A guess at the clusters from the rows alone, for when nothing was asked."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.base import Certificate, Prediction, Snapshot
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.neighbors import nearest_neighbors
from samekind.flow import FloatArray, IntArray
from samekind.points import LabelMap, Points

__all__ = ["find_modes", "guess_clusters"]

NOTE = (
    "Nothing was asked: these clusters are a guess from the data alone, and nothing vouches for it."
)


def guess_clusters(points: Points) -> Snapshot:
    """Return the modes of the density as clusters; where rows are many, of some rows drawn evenly."""
    n = points.n
    few = n <= const.GRAPH_ROWS
    rows = np.arange(n) if few else np.unique(np.linspace(0, n - 1, const.GUESS_ROWS).astype(int))
    X = points.rows(rows)
    modes, groups = find_modes(points, rows)
    counts = np.bincount(groups)
    centers = np.zeros((modes.size, X.shape[1]))
    np.add.at(centers, groups, X)
    centers /= counts[:, None]
    return Snapshot(
        members=[[row] for row in rows[modes].tolist()],
        recovered=[],
        centers=centers,
        given_up=[],
        n_samples=0,
        n_rounds=0,
        sampling_seconds=0.0,
        notes=[NOTE],
        prediction=_prediction(groups, centers) if few else None,
    )


def _prediction(groups: IntArray, centers: FloatArray) -> Prediction:
    k = len(centers)
    pairs = [(a, b) for b in range(k) for a in range(b)]
    apart = [float(((centers[a] - centers[b]) ** 2).sum()) for a, b in pairs]
    unproven = [pairs[place] for place in np.argsort(apart, kind="stable")]

    def label_rows(labels: LabelMap) -> object:
        return labels.of_rows(groups)

    return Prediction(
        labels=label_rows,
        standard_errors=np.full(k, np.inf),
        certificate=Certificate(
            confidence=1 - const.RISK_WRONG - const.RISK_UNDISCOVERED,
            undiscovered=1.0,
            wrong=1.0,
            n_audited=0,
            n_wrong=0,
            n_unproven=len(pairs),
            n_undecided=0,
            wrong_at_any_time=1.0,
        ),
        unproven=unproven,
        confused=[],
    )


def find_modes(points: Points, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return which of some rows are modes of their density, and for each the number of its mode.

    Persistence-based clustering (ToMATo; Chazal, Guibas, Oudot and Skraba, 2013) on the graph of nearest
    neighbours. Every row joins the densest of its neighbours. Where two modes meet, the lower one joins the
    higher one unless it stands out: at its top the density is several times as high as where they meet.
    """
    n = rows.size
    if n < 3:
        return np.zeros(1, dtype=np.intp), np.zeros(n, dtype=np.intp)
    k = int(np.clip(n // const.GUESS_ROWS_PER_NEIGHBOR, 2, const.GUESS_NEIGHBORS))
    distances, neighbors = nearest_neighbors(points, rows, k)
    widths = np.sqrt((distances**2).mean(axis=1))
    density = -_dimension(distances) * np.log(np.maximum(widths, np.finfo(float).tiny))
    around: list[set[int]] = [set(row) for row in neighbors.tolist()]
    for row, others in enumerate(neighbors.tolist()):
        for other in others:
            around[other].add(row)
    order = np.argsort(-density, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    return _climb(order.tolist(), rank.tolist(), density.tolist(), around)


def _dimension(distances: FloatArray) -> float:
    """Return the dimension in which rows lie, by the growth of the distances to their neighbours.

    The maximum likelihood estimate of Levina and Bickel (2004), averaged as MacKay and Ghahramani do.
    """
    farthest = distances[:, -1:]
    used = distances[:, :-1][(distances[:, 0] > 0)]
    if not used.size:
        return 1.0
    growth = np.log(farthest[distances[:, 0] > 0] / used).mean()
    return float(1 / growth) if growth > 0 else 1.0


def _climb(
    order: list[int], rank: list[int], heights: list[float], around: list[set[int]]
) -> tuple[IntArray, IntArray]:
    """Go through the rows from the densest down, and join what meets."""
    root = list(range(len(order)))

    def top(row: int) -> int:
        while root[row] != row:
            root[row] = root[root[row]]
            row = root[row]
        return row

    for row in order:
        above = sorted((rank[other], other) for other in around[row] if rank[other] < rank[row])
        if not above:
            continue
        root[row] = top(above[0][1])
        for _, other in above[1:]:
            one, two = top(row), top(other)
            if one == two:
                continue
            high, low = (one, two) if rank[one] < rank[two] else (two, one)
            if heights[low] - heights[row] < const.GUESS_PROMINENCE:
                root[low] = high
    tops = np.array([top(row) for row in range(len(order))], dtype=np.intp)
    modes, groups = np.unique(tops, return_inverse=True)
    return modes, np.asarray(groups, dtype=np.intp)
