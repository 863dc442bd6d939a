"""Find the space to work in: principal components of a sample, and directions of rows far from them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind._validation import check_choice, check_positive_int
from samekind.errors import Parameter, ParameterError
from samekind.points.arrays import Floats, Rows
from samekind.points.base import Points
from samekind.points.space import WorkingSpace

__all__ = ["DIMENSIONS", "METRICS", "Reduce", "check_space", "find_space"]

Reduce: TypeAlias = int | Literal["auto"] | None

METRICS = ("auto", "euclidean", "cosine")
DIMENSIONS = 64
"""The most dimensions in which rows are taken as they are, and those that they are reduced to, with
"auto"."""

SAMPLE = 2**12, 2**13  # the fewest and the most rows from which the components are found,
SAMPLE_SHARE = 1 / 4  # and between these, as a share of all
WIDE = 1024  # columns from which on only the first components are computed
AT_ONCE = 256  # rows that are fetched together
ITERATIONS = 4  # of the randomised decomposition
CHECKED = 1024  # rows whose lengths are looked at
LENGTH_TOLERANCE = 1e-3  # up to which a length is 1
FAR = 3.0  # times the distance from the span that one row of a hundred has
NOTICEABLE = 1e-2  # of the width of the data, below which a distance is none
FAR_ROWS = 512  # that are looked at,
FAR_SHARE = 0.95  # for directions that hold so much of their squared distances from the span,
FAR_DIMENSIONS = 16  # but not more of them
LIMITS = 1e-30, 1e30  # of the width of data that a float32 and its square can hold


def check_space(metric: object, reduce: object) -> None:
    """Raise an error unless these are a metric and a number of dimensions that a user may ask for."""
    check_choice("metric", metric, METRICS)
    if reduce is not None and reduce != "auto":
        try:
            check_positive_int("reduce", reduce)
        except ValueError:
            raise ParameterError(
                Parameter("reduce"),
                f' must be a positive int, "auto" or None, got {reduce!r}. Pass None to work on the rows '
                "as they are.",
            ) from None


def find_space(
    points: Points, *, metric: str, reduce: Reduce, seed: int
) -> tuple[WorkingSpace | None, Points]:
    """Return the space to work in, None for that of the rows as they are, and the points in it.

    With the metric "auto", rows that have length 1 are compared by their direction where they are
    reduced, which is the same; and "euclidean" otherwise. The components are found from a uniform
    sample. Where rows of the rest are far from their span, directions in which these lie are added,
    so that small clusters that the sample missed are not put into one.

    The same seed finds the same space on every backend: the sample is drawn by the numbers of the rows.
    """
    check_space(metric, reduce)
    wanted = DIMENSIONS if reduce == "auto" else reduce
    if wanted is not None and (wanted >= points.d or (reduce == "auto" and not _fits(points))):
        wanted = None
    if wanted is None and metric != "cosine":
        return None, points
    if wanted is None:
        space = WorkingSpace(points.d, unit=True)
        return space, points.in_space(space)
    if not _fits(points):
        low, high = LIMITS
        raise ValueError(
            f"reduce={wanted} needs data whose widest column is between {low:g} and {high:g} wide. "
            "Scale the data first, for instance with sklearn's StandardScaler, or pass reduce=None."
        )
    rng = np.random.default_rng([seed, points.d, wanted])
    rows = _sample(points, rng)
    unit = metric == "cosine" or (metric == "auto" and _have_unit_length(points, rows))
    space = _principal(points, rows, unit, wanted, seed)
    reduced = points.in_space(space)
    far = _far_rows(reduced, rows, rng)
    if far.size:
        more = _directions(_compared(points, far, unit), space)
        space = WorkingSpace(
            space.d,
            unit,
            np.ascontiguousarray(np.hstack([_components(space), more])),
            space.origin,
            wanted,
            space.share,
        )
        reduced = points.in_space(space)
    return space, reduced


def _components(space: WorkingSpace) -> NDArray[np.float32]:
    assert space.components is not None
    return space.components


def _fits(points: Points) -> bool:
    bounds, width = points.bounds, points.bounds.width
    largest = float(np.maximum(np.abs(bounds.low), np.abs(bounds.high)).max())
    return width == 0.0 or (LIMITS[0] < width and largest < LIMITS[1])


def _sample(points: Points, rng: np.random.Generator) -> Rows:
    """Return all rows, or some drawn uniformly, in the order of their numbers."""
    fewest, most = SAMPLE
    size = min(max(int(SAMPLE_SHARE * points.n), fewest), most)
    if points.n <= size:
        return np.arange(points.n)
    return np.sort(rng.choice(points.n, size, replace=False))


def _have_unit_length(points: Points, rows: Rows) -> bool:
    """Return whether some of these rows all have length 1, but for rows of zeros."""
    X = points.rows(rows[:: max(1, rows.size // CHECKED)])
    squares = np.einsum("ij,ij->i", X, X)
    lengths = np.sqrt(squares[squares > 0])
    return bool(lengths.size) and bool((np.abs(lengths - 1.0) <= LENGTH_TOLERANCE).all())


def _compared(points: Points, rows: Rows, unit: bool) -> Floats:
    """Return rows, with length 1 where only their direction counts."""
    X = points.rows(rows)
    return WorkingSpace(points.d, unit=True).coordinates(X).astype(np.float64) if unit else X


def _principal(points: Points, rows: Rows, unit: bool, wanted: int, seed: int) -> WorkingSpace:
    """Return the space of the first principal components of rows."""
    from threadpoolctl import threadpool_limits

    near = _compared(points, rows[:1], unit)[
        0
    ]  # so that little is lost when numbers become float32
    X = np.empty((rows.size, points.d), dtype=np.float32)
    for first in range(0, rows.size, AT_ONCE):
        X[first : first + AT_ONCE] = _compared(points, rows[first : first + AT_ONCE], unit) - near
    mean = X.mean(axis=0, dtype=np.float64)
    X -= mean.astype(np.float32)
    with threadpool_limits(1):  # more of them would change the last digits
        values, components = _first_components(X, min(wanted, rows.size), seed)
    total = float(np.einsum("ij,ij->", X, X, dtype=np.float64))
    share = min(1.0, float(values.sum()) / total) if total > 0 else 1.0
    return WorkingSpace(points.d, unit, components, near + mean, wanted, share)


def _first_components(
    X: NDArray[np.float32], k: int, seed: int
) -> tuple[Floats, NDArray[np.float32]]:
    """Return the sums of squares along the first k principal components, and these, (d, k)."""
    from scipy.linalg import eigh
    from sklearn.utils.extmath import randomized_svd

    d = X.shape[1]
    if d < WIDE:
        values, vectors = eigh(X.T @ X, subset_by_index=(d - k, d - 1))
        vectors = vectors[:, ::-1]
    else:
        state = np.random.RandomState(seed % 2**32)
        _, lengths, vectors = randomized_svd(X, k, n_iter=ITERATIONS, random_state=state)
        values, vectors = lengths**2, vectors.T
    vectors = np.linalg.qr(vectors.astype(np.float64))[0]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(k)])  # either sign would do: always the same
    return values.astype(np.float64), np.ascontiguousarray(vectors, dtype=np.float32)


def _far_rows(reduced: Points, sample: Rows, rng: np.random.Generator) -> Rows:
    """Return some of the rows that are much farther from the span of the components than most of a sample."""
    last = reduced.d - 1
    usual = float(np.quantile(reduced.rows(sample)[:, last], 0.99))
    distance = max(FAR * usual, NOTICEABLE * reduced.bounds.width)
    if reduced.bounds.high[last] <= distance:
        return np.empty(0, dtype=np.intp)
    rows = reduced.rows_above(last, distance)
    if rows.size > FAR_ROWS:
        rows = np.sort(rng.choice(rows, FAR_ROWS, replace=False))
    return rows


def _directions(X: Floats, space: WorkingSpace) -> NDArray[np.float32]:
    """Return directions, orthogonal to the components, that hold most of what rows lack along those."""
    assert space.origin is not None
    components = _components(space).astype(np.float64)
    away = X - space.origin
    away -= away @ components @ components.T
    _, values, rows = np.linalg.svd(away, full_matrices=False)
    held = np.cumsum(values**2) / max(float((values**2).sum()), 1e-300)
    size = min(int(np.searchsorted(held, FAR_SHARE)) + 1, FAR_DIMENSIONS, len(values))
    size = min(size, space.d - components.shape[1])
    more = rows[:size].T
    more -= components @ (components.T @ more)
    found: NDArray[np.float32] = np.linalg.qr(more)[0].astype(np.float32)
    return found
