"""Representatives: a few weighted rows that stand for all rows of large data.

`choose_representatives` makes three passes over the data and needs four bytes a row. It draws anchors, far
from each other (D²). The cost of a row is its squared distance to the nearest anchor. The chance q_i of row i
is the sum of a constant, a multiple of its cost (D²) and a multiple of the squared cost (D⁴). The constant
gives large clusters many representatives; the other terms find small clusters that lie apart. Anchors are
always taken.

Rows are drawn by priority sampling [1]_: each row has a uniform number u_i, and the rows with the smallest
ranks u_i / q_i are taken. Let t be the smallest rank that is left out. Then row i was taken with probability
p_i = min(1, t q_i), and 1 / p_i is an unbiased estimate of the number of rows that it stands for. The number
u_i is a hash of the row's number, so neither threads nor blocks matter. Equal rows become one representative
before they are counted, and their weights are added.

References
----------
.. [1] N. Duffield, C. Lund and M. Thorup (2007). Priority sampling for estimation of arbitrary subset sums.
   Journal of the ACM 54 (6).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import RandomState, check_positive_int, check_seed
from samekind.points import label_kernels as kernels
from samekind.points.arrays import Floats, Matrix, Rows

if TYPE_CHECKING:
    from samekind.points.base import Points

__all__ = ["Representatives", "choose_representatives", "pick_far"]

SIZE = 30_000
ANCHORS = 128  # 256 take half as much time again and find 1 to 4 % more of the three-row clusters
UNIFORM, D2, D4 = (
    0.4,
    0.2,
    0.4,
)  # with less D⁴ fewer three-row clusters are found, without D² fewer in KDD
SAMPLE = 2**12  # rows among which the first quarter of the anchors is found, without a pass
POOLS = (1.25, 4.0, 16.0)  # times `size`: rows drawn until enough are distinct. The last must do.
BLOCK = 2**16  # rows that are ranked together

Chances: TypeAlias = tuple[float, float, float]
"""a, b, c of the chance a + b cost + c cost² of a row."""


class Representatives(NamedTuple):
    """Rows that stand for all rows of the data.

    Examples
    --------
    >>> from samekind.points import ArrayPoints
    >>> points = ArrayPoints([[0.0], [0.0], [5.0], [9.0]])
    >>> chosen = choose_representatives(points, 0)
    >>> chosen.rows, chosen.weights
    (array([0, 1, 2, 3]), array([1., 1., 1., 1.]))
    """

    rows: Rows
    """(m,) their numbers: ascending as they were chosen, then those that were added later."""
    X: Floats
    """(m, d) the rows themselves."""
    weights: Floats
    """(m,) estimated number of rows that each stands for."""
    n: int
    """The number of rows that all of them stand for."""

    def with_rows(self, points: Points, rows: ArrayLike) -> Representatives:
        """Return these and more representatives, at the end, such as rows that somebody asked about.

        Rows that are representatives already are left out. Each new one has weight 1, for it stands for
        itself; what others have beyond 1 shrinks in proportion, so that the sum stays what it was.
        """
        wanted = np.asarray(rows, dtype=np.intp).ravel()
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.n:
            raise ValueError(
                f"rows must be in 0..{self.n - 1}, got {wanted.min()} to {wanted.max()}."
            )
        new = wanted[np.sort(np.unique(wanted, return_index=True)[1])]
        new = new[~np.isin(new, self.rows)]
        excess = self.weights - 1.0
        left = max(1.0 - new.size / max(excess.sum(), 1.0), 0.0)
        return self._replace(
            rows=np.concatenate([self.rows, new]),
            X=np.concatenate([self.X, points.rows(new)]),
            weights=np.concatenate([1.0 + excess * left, np.ones(new.size)]),
        )


def choose_representatives(
    points: Points,
    seed: RandomState,
    *,
    size: int = SIZE,
    anchors: int = ANCHORS,
    known: Representatives | None = None,
) -> Representatives:
    """Choose rows that stand for all rows.

    Parameters
    ----------
    points : Points
        The data.
    seed : int, numpy.random.Generator or SeedSequence
        The same seed and data give the same rows.
    size : int
        How many representatives; fewer where the data have fewer distinct rows. Data with at most so
        many rows represent themselves: all rows, with weight 1.
    anchors : int
        How many anchors, at most a quarter of `size`.
    known : Representatives or None
        Those of the same data when they had fewer rows. They stay, and the rows that came since get
        representatives of their own, in proportion to their number.

    Returns
    -------
    Representatives
    """
    size, anchors = check_positive_int("size", size), check_positive_int("anchors", anchors)
    rng = np.random.default_rng(check_seed(seed))
    start = 0 if known is None else known.n
    n_new = points.n - start
    if n_new < 0:
        raise ValueError(f"known stands for {start} rows, but points has only {points.n}.")
    if known is not None:
        size = size if points.n <= size else -(-size * n_new // points.n)
    if n_new <= size:
        rows = np.arange(start, points.n)
        chosen = Representatives(rows, points.rows(rows), np.ones(n_new), n_new)
    else:
        chosen = _draw(points, start, rng, size, max(min(anchors, size // 4), 1))
    if points.weights is not None:
        chosen = chosen._replace(weights=chosen.weights * points.weights[chosen.rows])
    if known is None:
        return chosen
    return Representatives(
        np.concatenate([known.rows, chosen.rows]),
        np.concatenate([known.X, chosen.X]),
        np.concatenate([known.weights, chosen.weights]),
        points.n,
    )


def _draw(
    points: Points, start: int, rng: np.random.Generator, size: int, n_anchors: int
) -> Representatives:
    """Draw representatives of the rows from `start` on; rows are counted from there."""
    n = points.n - start
    anchors, costs = _draw_anchors(points, start, rng, n_anchors)
    q = _chances(costs, size)
    ranks_of = partial(_ranks, costs, _key(rng), q)
    for times in POOLS:
        pool = min(int(times * size), n)
        rows, ranks = _lowest(n, pool + 1, ranks_of)
        t = ranks[pool] if pool < n else np.inf
        is_new = ~np.isin(rows[:pool], anchors)
        rows, ranks = np.append(anchors, rows[:pool][is_new]), ranks[:pool][is_new]
        X = points.rows(rows + start)
        of = _number_distinct(X)
        if of.max() >= size or pool == n:
            break
    if of.max() >= size:  # up to the first one that is left out
        end = int(np.argmax(of >= size))
        t = ranks[end - anchors.size]
        rows, of = rows[:end], of[:end]
    a, b, c = q
    cost = costs[rows[anchors.size :]].astype(np.float64)
    taken = np.minimum(t * (a + b * cost + c * cost**2), 1.0)
    stands_for = np.append(np.ones(anchors.size), 1.0 / taken)
    weights = np.bincount(of, stands_for).astype(np.float64, copy=False)
    kept = np.unique(of, return_index=True)[1]
    order = np.argsort(rows[kept])
    kept = kept[order]
    return Representatives(rows[kept] + start, X[kept], weights[order], n)


def _draw_anchors(
    points: Points, start: int, rng: np.random.Generator, n_anchors: int
) -> tuple[Rows, NDArray[np.float32]]:
    """Return rows that are far from each other, and the cost of every row with respect to them."""
    n = points.n - start
    sample = np.sort(rng.choice(n, min(SAMPLE, n), replace=False))
    X = points.rows(sample + start)
    per_cost = 1.0 / max(float(X.var(axis=0).sum()), 1e-300)  # about 1 a row: costs are float32
    costs = np.full(n, np.inf, dtype=np.float32)
    anchors = sample[:0]
    new = sample[pick_far(X, np.ones(len(X)), n_anchors // 4)]
    for share in (0.5, 1.0, 1.0):  # of the anchors, once the next ones are drawn
        points.lower_costs(costs, points.rows(new + start), per_cost, start)
        anchors = np.append(anchors, new)
        wanted = max(int(share * n_anchors) - anchors.size, 0)
        new, _ = _lowest(n, wanted, partial(_ranks, costs, _key(rng), (0.0, 1.0, 0.0)))
        if not new.size:
            break
    return anchors, costs


def pick_far(X: Floats, weights: Floats, size: int) -> Rows:
    """Return at most `size` distinct rows of a small array, drawn by weight and by D² times weight in turn.

    Far rows alone, as D² prefers them, would leave too few in the midst of the data.
    """
    chosen = np.empty(max(size, 1), dtype=np.intp)
    uniforms = np.random.default_rng(0).random(chosen.size)
    size = kernels.pick_far(np.ascontiguousarray(X.T), weights, uniforms, chosen)
    found: Rows = chosen[:size]
    return found


def _chances(costs: NDArray[np.float32], size: int) -> Chances:
    """Return chances that sum to about `size`."""
    sums = np.zeros(2)
    for first in range(0, costs.size, BLOCK):
        block = costs[first : first + BLOCK].astype(np.float64)
        sums += block.sum(), np.square(block).sum()
    linear, square = np.maximum(sums, 1e-300)
    return UNIFORM * size / costs.size, D2 * size / float(linear), D4 * size / float(square)


def _key(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64 - 1, dtype=np.uint64)


def _ranks(costs: NDArray[np.float32], key: np.uint64, q: Chances, first: int, last: int) -> Floats:
    """Return the ranks u / q of rows first..last-1."""
    ranks = np.empty(last - first)
    kernels.rank_rows(costs[first:last], first, key, q, ranks)
    return ranks


def _lowest(n: int, size: int, ranks_of: Callable[[int, int], Matrix]) -> tuple[Rows, Floats]:
    """Return the rows with the lowest ranks, lowest first and of equals the first, and these ranks."""
    rows, ranks = np.empty(0, dtype=np.intp), np.empty(0)
    worst = np.inf if size else -np.inf
    for first in range(0, n, BLOCK):
        some = ranks_of(first, min(first + BLOCK, n))
        better = np.flatnonzero(some < worst)
        rows, ranks = np.append(rows, better + first), np.append(ranks, some[better])
        if ranks.size > 2 * size or first + BLOCK >= n:
            kept = np.argsort(ranks, kind="stable")[:size]
            rows, ranks = rows[kept], ranks[kept]
            worst = ranks[-1] if 0 < size == ranks.size else worst
    return rows, ranks


def _number_distinct(X: Floats) -> Rows:
    """Return for each row which distinct one it is, numbered in order of their first appearance."""
    whole = np.ascontiguousarray(X + 0.0)  # without a negative zero
    as_bytes = whole.view(np.dtype((np.void, whole.shape[1] * whole.itemsize))).ravel()
    _, first, of = np.unique(as_bytes, return_index=True, return_inverse=True)
    number = np.empty(first.size, dtype=np.intp)
    number[np.argsort(first)] = np.arange(first.size)
    return number[of]
