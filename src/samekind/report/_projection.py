"""Where the rows lie on a map of two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.points import Points
from samekind.report._layout import Layout, has_neighbors, lay_out

__all__ = ["MOST_ROWS", "LaidOut", "Projection", "choose_rows", "project_rows"]

MOST_ROWS = 20_000
LONG = 2**24  # rows
LARGEST = 1e30  # beyond it the browser's single precision ends
GOLDEN = 0.6180339887498949
MOST_LAID_OUT = 2_000  # rows; others are placed between them
NEAREST = 3
NO_UNITS = (False, False)

Floats = NDArray[np.float64]
LaidOut = tuple[NDArray[np.intp], Layout]
"""Some rows, and where they lie on a map that was made before."""


@dataclass(frozen=True)
class Projection:
    """A map: what its axes are, and where points lie.

    `place` takes points (m, d) and their row numbers, and returns (m, 2).
    """

    x_title: str
    y_title: str
    units: tuple[bool, bool]  # whether the numbers along x and y mean anything
    explanation: str
    place: Callable[[Floats, NDArray[np.intp]], Floats]


def choose_rows(clusters: Clusters, seed: int, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Choose the rows to draw: those known from answers first, then others at random."""
    n = clusters.n_rows_
    if n <= most:
        return np.arange(n, dtype=np.intp)
    rng = np.random.default_rng(seed)
    known = np.unique(np.concatenate([*clusters.members_, np.empty(0, dtype=np.intp)]))
    if known.size >= most:
        return np.sort(rng.choice(known, most, replace=False))
    if n > LONG:  # no list of all rows is made
        others = np.setdiff1d(rng.integers(0, n, 2 * most), known)
        return np.sort(np.concatenate([known, rng.permutation(others)[: most - known.size]]))
    is_new = np.ones(n, dtype=bool)
    is_new[known] = False
    others = rng.choice(np.flatnonzero(is_new), most - known.size, replace=False)
    return np.sort(np.concatenate([known, others]))


def project_rows(
    points: Points,
    rows: NDArray[np.intp],
    names: Sequence[str],
    seed: int,
    *,
    by_neighbors: bool = False,
    laid_out: LaidOut | None = None,
) -> tuple[Projection, Floats]:
    """Make the map from some rows, and place them on it.

    One or two columns are shown as they are. More are reduced by a principal component analysis; or
    `by_neighbors`, which takes some seconds and is made for looking, or as some rows were laid out before.
    """
    sample = points.rows(rows).astype(np.float64, copy=False)
    if points.d <= 2 and float(np.abs(sample).max()) <= LARGEST:
        projection = _as_they_are(names)
    elif laid_out is not None:
        rows_laid, layout = laid_out
        projection = _between(points.rows(rows_laid).astype(np.float64, copy=False), layout)
    elif by_neighbors and has_neighbors(sample):
        projection = _by_neighbors(sample, seed)
    else:
        projection = _principal_components(sample, seed)
    return projection, projection.place(sample, rows)


def _as_they_are(names: Sequence[str]) -> Projection:
    if len(names) == 2:
        return Projection(
            names[0], names[1], (True, True), "The two columns.", lambda points, rows: points
        )

    def spread(values: Floats, rows: NDArray[np.intp]) -> Floats:
        return np.column_stack([values[:, 0], (rows * GOLDEN) % 1.0])

    why = "The one column. Heights mean nothing; they keep the points apart."
    return Projection(names[0], "", (True, False), why, spread)


def _by_neighbors(sample: Floats, seed: int) -> Projection:
    """Return a map of some of the rows; others are placed between the nearest of those."""
    rng = np.random.default_rng(seed)
    laid = sample
    if len(sample) > MOST_LAID_OUT:
        laid = sample[np.sort(rng.choice(len(sample), MOST_LAID_OUT, replace=False))]
    return _between(laid, lay_out(laid, seed))


def _between(laid: Floats, layout: Layout) -> Projection:
    """Return a map on which rows are placed between the nearest of those that were laid out."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=min(NEAREST, len(laid))).fit(laid)

    def place(points: Floats, rows: NDArray[np.intp]) -> Floats:
        far, near = found.kneighbors(points)
        weight = 1.0 / (far + 1e-9)
        weight /= weight.sum(axis=1, keepdims=True)
        placed: Floats = (layout.places[near] * weight[:, :, None]).sum(axis=1)
        return placed

    why = f"By {layout.method}: rows that are alike lie together; how far groups are apart means little."
    return Projection("", "", NO_UNITS, why, place)


def _principal_components(sample: Floats, seed: int) -> Projection:
    from sklearn.decomposition import PCA

    # One scale for all columns keeps the shape of the data, and squares of its values finite.
    middle = sample.min(axis=0) / 2 + sample.max(axis=0) / 2
    scale = float(np.abs(sample - middle).max()) or 1.0
    scaled = (sample - middle) / scale
    size = min(2, *scaled.shape)
    if not scaled.any():  # all rows are equal: there are no components
        return Projection(
            "", "", NO_UNITS, "All rows are equal.", lambda points, rows: np.zeros((len(points), 2))
        )
    pca = PCA(n_components=size, random_state=seed).fit(scaled)
    shares = [*pca.explained_variance_ratio_, 0.0, 0.0][:2]

    def place(points: Floats, rows: NDArray[np.intp]) -> Floats:
        placed = pca.transform((points - middle) / scale)
        return np.column_stack([placed, np.zeros((len(points), 2 - size))])

    return Projection(
        f"1st component, {shares[0]:.0%} of the variance",
        f"2nd component, {shares[1]:.0%}",
        NO_UNITS,
        f"The first two principal components, which hold {sum(shares):.0%} of the variance.",
        place,
    )
