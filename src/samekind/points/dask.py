"""Rows on a Dask cluster: blocks that stay on the workers, and are computed again if a worker is lost.

Algorithms draw the same rows as from an array, because the weights of rows are integers, drawn in the order
of the rows. A step is one task for each block concerned; only centres, sums, drawn rows and, when
representatives are chosen, four bytes a row travel.
"""

from __future__ import annotations

import hashlib
import sys
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from samekind.points import kernels
from samekind.points.array import as_matrix, hash_of, sums_of
from samekind.points.arrays import Floats, Matrix, Rows
from samekind.points.base import LabelBlock, Points
from samekind.points.bounds import Bounds, UnusableValue, scan, unusable_value
from samekind.points.costs import Costs, CostTable
from samekind.points.labels import LazyArray, RowLabels
from samekind.points.space import WorkingSpace

try:
    import dask
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph
except ImportError as error:
    raise ImportError(
        f"points on a Dask cluster need dask ({error}): pip install 'samekind[dask]'."
    ) from error

__all__ = ["Blocks", "DaskPoints"]

T = TypeVar("T")
UPDATES = (
    32  # of costs, after which they are computed anew from all centres: a lost block needs them all
)


class Blocks:
    """Consecutive pieces of a collection, in the memory of a cluster's workers, or of this process.

    Parameters
    ----------
    pieces : sequence of Delayed
        What computes each of them.
    client : distributed.Client or None
        None takes the current client. If there is none, this process computes in threads.
    """

    def __init__(self, pieces: Sequence[Any], client: Any = None) -> None:
        self.client = _current_client() if client is None else client
        if self.client is not None and self.client.asynchronous:
            raise ValueError("client must not be asynchronous. Make one with Client(address).")
        found = dask.persist(*pieces) if self.client is None else self.client.persist(list(pieces))
        self.pieces: list[Any] = list(found)

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """Return the results of delayed calls."""
        if self.client is None:
            return list(dask.compute(*tasks))
        found: list[Any] = self.client.gather(self.client.compute(list(tasks)))
        return found

    def call(self, function: Callable[..., T], *args: object) -> list[T]:
        """Return the results of a function of each piece."""
        shared = [dask.delayed(arg, traverse=False) for arg in args]
        work = dask.delayed(function)
        return self.compute([work(piece, *shared) for piece in self.pieces])

    def mapped(self, function: Callable[..., Any], *args: object) -> Blocks:
        """Return what a function makes of each piece, as blocks."""
        shared = [dask.delayed(arg, traverse=False) for arg in args]
        work = dask.delayed(function)
        return Blocks([work(piece, *shared) for piece in self.pieces], self.client)

    def look_up(
        self, ends: Sequence[int], targets: Sequence[int], function: Callable[..., T], *args: object
    ) -> dict[int, tuple[list[int], T]]:
        """Call a function of each piece that targets fall into, and of these targets, counted from there.

        `ends` are the running sums of what the pieces count. Returns by piece which targets, and the result.
        """
        places: dict[int, list[int]] = {}
        for place, target in enumerate(targets):
            places.setdefault(bisect_right(ends, target), []).append(place)
        work = dask.delayed(function)
        tasks = []
        for part, own in places.items():
            start = ends[part - 1] if part else 0
            local = dask.delayed([targets[place] - start for place in own], traverse=False)
            tasks.append(work(self.pieces[part], local, *args))
        found = self.compute(tasks)
        return {part: (own, one) for (part, own), one in zip(places.items(), found, strict=True)}


class DaskPoints(Points):
    """Rows of a Dask array or dataframe, which stay where they are computed.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame
        Finite numbers. They are computed once and kept in the memory of the workers, as float32 or float64.
    client : distributed.Client or None
        None takes the current client. If there is none, this process computes in threads.

    The same seed asks the same questions and finds the same labels as on an array, whatever the partitions
    and the workers. When a worker is lost, the scheduler computes its blocks again elsewhere.

    Examples
    --------
    >>> import dask.array as da, numpy as np
    >>> points = DaskPoints(da.from_array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]], chunks=(2, 2)))
    >>> points
    DaskPoints(3 rows x 2 columns, float64, 2 partitions)
    >>> sampler = points.sampler()
    >>> sampler.add([[0.0, 0.0]])
    >>> sampler.draw(np.array([0.0, 0.5]))
    array([1, 2])
    """

    is_remote = True

    def __init__(self, X: Any, *, client: Any = None) -> None:
        pieces, dtype, names = _pieces_of(X)
        as_block = dask.delayed(_as_block)
        blocks = Blocks([as_block(piece, len(names), dtype) for piece in pieces], client)
        self._hold(blocks, dtype, names)

    def _hold(self, blocks: Blocks, dtype: np.dtype[np.floating], names: list[Hashable]) -> None:
        bounds, sizes = Bounds.of_nothing(len(names)), []
        for found in blocks.call(scan):
            if isinstance(found, UnusableValue):
                place = found._replace(row=bounds.n + found.row)
                raise unusable_value(place, names[found.column])
            bounds = bounds.union(found)
            sizes.append(found.n)
        if not bounds.n:
            raise ValueError(
                f"X must have at least one row and one column, got shape (0, {len(names)})."
            )
        self.bounds = bounds
        self.n, self.d = bounds.n, len(names)
        self.dtype = dtype
        self.chunks = tuple(sizes)
        self.ends = list(accumulate(self.chunks))
        self.blocks = blocks

    def __repr__(self) -> str:
        return (
            f"DaskPoints({self.n:,} rows x {self.d} columns, {self.dtype}, "
            f"{len(self.chunks)} partitions)"
        )

    def rows(self, index: Rows) -> Floats:
        """Return the rows with these numbers, (m, d)."""
        X = np.empty((len(index), self.d))
        found = self.blocks.look_up(self.ends, np.asarray(index).tolist(), _take)
        for places, some in found.values():
            X[places] = some
        return X

    def fingerprint(self) -> str:
        """Return a hash of the partitions' sizes, the type and the values, which the workers compute.

        Of partitions of more than 256 MiB, 1,024 evenly spaced pieces are hashed.
        """
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{self.n} x {self.d} {self.dtype}".encode())
        for one, size in zip(self.blocks.call(hash_of), self.chunks, strict=True):
            if size:
                digest.update(one.encode())
        return digest.hexdigest()

    def costs(self) -> DaskCosts:
        """Return the costs of all rows without a centre yet."""
        return DaskCosts(self)

    def lower_costs(
        self, costs: NDArray[np.float32], centers: Floats, per_cost: float, start: int = 0
    ) -> None:
        """Lower costs, of the rows from `start` on, to the squared distances to more centres."""
        found = np.concatenate(self.blocks.call(_costs_of, centers, per_cost))
        np.minimum(costs, found[start:], out=costs)

    def label_rows(self, label: LabelBlock, known_rows: Rows, known_labels: Rows) -> LazyArray:
        """Return the label of every row as a Dask array, which is computed when it is asked for."""
        work, shared = dask.delayed(_label), dask.delayed(label, traverse=False)
        order = np.argsort(known_rows, kind="stable")
        rows, labels = known_rows[order], known_labels[order]
        starts = [0, *self.ends]
        edges = np.searchsorted(rows, starts)
        pieces = []
        for part, block in enumerate(self.blocks.pieces):
            here = slice(edges[part], edges[part + 1])
            pieces.append(work(block, shared, rows[here] - starts[part], labels[here]))
        name = f"samekind-labels-{uuid4().hex}"  # da.concatenate would leave out empty blocks
        layer = {(name, part): piece.key for part, piece in enumerate(pieces)}
        graph = HighLevelGraph.from_collections(name, layer, dependencies=pieces)
        found: LazyArray = da.Array(graph, name, chunks=(self.chunks,), dtype=np.intp)
        return found

    def sums_by_label(
        self, labels: RowLabels, n_labels: int, origin: Floats
    ) -> tuple[Floats, Rows]:
        """Return the sums of the rows with each label, less an origin, and how many they are."""
        lazy: Any = self.distribute(labels) if isinstance(labels, np.ndarray) else labels
        work = dask.delayed(sums_of)
        pairs = zip(self.blocks.pieces, lazy.to_delayed().ravel(), strict=True)
        found = self.blocks.compute([work(X, own, n_labels, origin) for X, own in pairs])
        sums, counts = zip(*found, strict=True)
        return np.sum(sums, axis=0), np.sum(counts, axis=0)

    def rows_above(self, column: int, value: float) -> Rows:
        """Return the rows that exceed a value in a column."""
        found = self.blocks.call(_rows_above, column, value)
        starts = [0, *self.ends]
        return np.concatenate([rows + start for rows, start in zip(found, starts, strict=False)])

    def distribute(self, labels: Rows) -> LazyArray:
        """Return labels of all rows as a Dask array with the data's partitions."""
        lazy: LazyArray = da.from_array(labels, chunks=(self.chunks,))
        return lazy

    def gather(self, labels: RowLabels) -> Rows:
        """Return some of these labels as a NumPy array."""
        found: Rows = self.blocks.compute([labels])[0]
        return found

    def _in_space(self, space: WorkingSpace) -> DaskPoints:
        """Return the coordinates of all rows in a space, which the workers compute and keep."""
        reduced = object.__new__(DaskPoints)
        coordinates = self.blocks.mapped(_coordinates, space)
        dtype = space.dtype_of(self.dtype)
        reduced._hold(coordinates, dtype, list(range(space.n_coordinates)))
        return reduced


class DaskCosts(Costs):
    """Costs of the rows of a Dask collection, four bytes a row, which stay on the workers."""

    def __init__(self, points: DaskPoints) -> None:
        super().__init__(points.bounds)
        self._points = points
        self._centers = np.empty((0, points.d))
        self._n_updates = 0
        self._blocks = points.blocks  # of costs, once there is a centre
        self._ends: list[int] = []  # running sums of the weights of the blocks

    def of(self, rows: Rows) -> NDArray[np.float32]:
        """Return the costs of some rows, in units."""
        costs = np.empty(len(rows), dtype=np.float32)
        found = self._blocks.look_up(self._points.ends, np.asarray(rows).tolist(), _take_costs)
        for places, some in found.values():
            costs[places] = some
        return costs

    def _lower(self, centers: Floats) -> int:
        self._centers = np.concatenate([self._centers, centers])
        X, per_cost, work = self._points.blocks, 1.0 / self.unit, dask.delayed(_lowered)
        if self._n_updates % UPDATES == 0:
            self._blocks = X.mapped(_costs_of, self._centers, per_cost)
        else:
            pairs = zip(X.pieces, self._blocks.pieces, strict=True)
            shared = dask.delayed(centers, traverse=False)
            self._blocks = Blocks([work(*pair, shared, per_cost) for pair in pairs], X.client)
        self._n_updates += 1
        return self._weigh()

    def _weigh(self) -> int:
        self._ends = list(accumulate(self._blocks.call(_weight_of, self._scale)))
        return self._ends[-1]

    def _largest(self) -> float:
        return max(self._blocks.call(_largest))

    def _rows_at(self, targets: Sequence[int]) -> Rows:
        rows = np.empty(len(targets), dtype=np.intp)
        found = self._blocks.look_up(self._ends, targets, _rows_at_weights, self._scale)
        starts = [0, *self._points.ends]
        for part, (places, local) in found.items():
            rows[places] = local + starts[part]
        return rows


def _current_client() -> Any:
    """Return the client that Dask uses now; None if there is none."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _pieces_of(X: Any) -> tuple[list[Any], np.dtype[np.floating], list[Hashable]]:
    """Return what computes each partition, the type of its numbers, and the names of the columns."""
    kind = type(X).__name__
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            advice = " Use X.reshape(-1, 1) for one column." if X.ndim == 1 else ""
            raise ValueError(f"X must be 2-D (rows x columns), got shape {X.shape}.{advice}")
        if np.isnan(X.shape[1]):
            raise ValueError(
                "X does not know how many columns it has. Call X.compute_chunk_sizes() first."
            )
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {X.shape}.")
        dtype = _dtype_for(X.dtype)
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        return list(X.to_delayed().ravel()), dtype, list(range(int(X.shape[1])))
    if kind in ("Series", "Index"):
        raise ValueError(
            f"X must be 2-D (rows x columns), got a Dask {kind}. Use X.to_frame() for one column."
        )
    if kind != "DataFrame":
        raise TypeError(f"X must be a Dask array or dataframe, got a Dask {kind}.")
    if not len(X.columns):
        raise ValueError("X must have at least one row and one column, got a dataframe without.")
    dtypes = [_plain_dtype(name, dtype) for name, dtype in zip(X.columns, X.dtypes, strict=True)]
    mixed = {dtype.kind == "b" for dtype in dtypes} == {True, False}  # pandas makes objects of them
    dtype = _dtype_for(np.dtype(np.float64) if mixed else np.result_type(*dtypes))
    return list(X.to_delayed()), dtype, list(X.columns)


def _plain_dtype(name: Hashable, dtype: Any) -> np.dtype[Any]:
    import pandas as pd

    plain = getattr(dtype, "numpy_dtype", dtype)
    if not pd.api.types.is_numeric_dtype(dtype) or not isinstance(plain, np.dtype):
        raise ValueError(
            f"X must hold numbers, got {dtype} in column {name!r}. Choose columns of numbers, for "
            "instance with X.select_dtypes('number'), or turn it into numbers first."
        )
    return plain


def _dtype_for(dtype: np.dtype[Any]) -> np.dtype[np.floating]:
    """Return the type in which numbers of this type are kept: the same as on the array."""
    if dtype.kind == "O":
        raise ValueError("X must hold numbers, got object. Convert it first: X.astype(float).")
    return as_matrix(np.zeros((1, 1), dtype=dtype)).dtype


# What the workers do with a block:


def _as_block(partition: Any, d: int, dtype: np.dtype[np.floating]) -> Matrix:
    """Return a partition as a C-contiguous matrix in memory."""
    if hasattr(partition, "to_numpy"):
        extended = any(not isinstance(kind, np.dtype) for kind in partition.dtypes)
        gaps = {"na_value": np.nan} if extended else {}
        partition = partition.to_numpy(dtype=dtype, **gaps)
    if not len(partition):
        return np.empty((0, d), dtype=dtype)
    block = as_matrix(partition)
    if block.shape[1] != d:
        raise ValueError(
            f"a partition of X has {block.shape[1]} columns, but X says that it has {d}."
        )
    return np.require(block, dtype, ["C", "W"])  # so that loops are compiled for one sort of array


def _take(block: Matrix, rows: list[int]) -> Floats:
    return block[rows].astype(np.float64, copy=False)


def _take_costs(costs: NDArray[np.float32], rows: list[int]) -> NDArray[np.float32]:
    return costs[rows]


def _costs_of(X: Matrix, centers: Floats, per_cost: float) -> NDArray[np.float32]:
    return _lowered(X, np.full(len(X), np.inf, dtype=np.float32), centers, per_cost)


def _lowered(
    X: Matrix, before: NDArray[np.float32], centers: Floats, per_cost: float
) -> NDArray[np.float32]:
    costs, blocks = before.copy(), -(-len(X) // kernels.BLOCK)
    kernels.lower_costs(X, centers, per_cost, costs, False, 1.0, kernels.NO_WEIGHTS, 0, blocks)
    return costs


def _weighed(costs: NDArray[np.float32], scale: float) -> CostTable:
    table = CostTable(costs, is_new=False)
    table.weigh(scale)
    return table


def _weight_of(costs: NDArray[np.float32], scale: float) -> int:
    return _weighed(costs, scale).total


def _rows_at_weights(costs: NDArray[np.float32], targets: list[int], scale: float) -> Rows:
    return _weighed(costs, scale).rows_at(targets)


def _largest(costs: NDArray[np.float32]) -> float:
    return float(costs.max(initial=0.0))


def _label(X: Matrix, label: LabelBlock, known_rows: Rows, known_labels: Rows) -> Rows:
    found = label(X).astype(np.intp, copy=False)
    found[known_rows] = known_labels
    return found


def _rows_above(X: Matrix, column: int, value: float) -> Rows:
    return np.flatnonzero(X[:, column] > value)


def _coordinates(X: Matrix, space: WorkingSpace) -> Matrix:
    return space.coordinates(X)
