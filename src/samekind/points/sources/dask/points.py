"""Rows on a Dask cluster: every worker keeps its own, and what is known of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from samekind.points.arrays import Matrix, Rows
from samekind.points.base import Points
from samekind.points.bounds import Bounds, UnusableValue, scan
from samekind.points.labels import LazyArray, RowLabels
from samekind.points.moments import GroupMoments
from samekind.points.partition import Partition
from samekind.points.sources.array import hash_of
from samekind.points.space import WorkingSpace
from samekind.points.threads import ReportProgress
from samekind.points.units import Units

try:
    import dask
    import dask.array as da
    import distributed
    from distributed import Client, Future
except ImportError as error:
    raise ImportError(
        f"points on a Dask cluster need dask and distributed ({error}): pip install 'samekind[dask]'."
    ) from error

from samekind.points.sources.dask.blocks import Blocks, compute_blocks, find_client, serve_blocks
from samekind.points.sources.dask.collection import as_block, bounds_of_all, partitions_of
from samekind.points.sources.dask.executor import DaskExecutor, make_partition

__all__ = ["DaskPoints"]


class DaskPoints(Points):
    """Rows of a Dask array or dataframe. They stay on the workers; hardly anything travels.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame
        Finite numbers. They are computed once and kept in the memory of the workers, as float32 or float64.
    client : distributed.Client or None
        None takes the current client. If there is none, one is started that computes in threads of this
        process; it is the current one until `close`.
    report : callable or None
        Is told about the progress of reading.

    The same seed asks the same questions and finds the same clusters as on an array, whatever the
    partitions and the workers. When a worker is lost, its partitions are computed again elsewhere, and what
    was known of their rows is found again.

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
    >>> points.close()
    """

    is_remote = True

    def __init__(
        self, X: Any, *, client: Client | None = None, report: ReportProgress | None = None
    ) -> None:
        read = partitions_of(X)
        self.client, self._started = find_client(client)
        self.d, self.dtype, self.names = read.d, read.dtype, read.names
        run = uuid4().hex
        try:
            serve_blocks(self.client)
            futures = compute_blocks(
                self.client, run, read.partitions, as_block, read.d, read.dtype
            )
            scanned = self._scan(futures, report)
            units = Units.within(bounds_of_all(scanned, read))
        except BaseException:
            self._close_client()
            raise
        sizes = [found.n for found in scanned if isinstance(found, Bounds)]
        self.n = units.n
        self.chunks = tuple(sizes)
        filled = [future for future, size in zip(futures, sizes, strict=True) if size]
        self._blocks: Blocks[Partition] = Blocks(
            self.client, run, filled, partial(make_partition, units)
        )
        self._executor = DaskExecutor(self._blocks, units, sizes)

    def _scan(
        self, futures: list[Future], report: ReportProgress | None
    ) -> list[Bounds | UnusableValue]:
        scans = self.client.map(scan, futures, pure=False)
        with self.client.as_current():
            for done, _ in enumerate(distributed.as_completed(scans), start=1):
                if report is not None:
                    report("Reading the data", done / len(scans))
        found: list[Bounds | UnusableValue] = self.client.gather(scans)
        return found

    def __repr__(self) -> str:
        return (
            f"DaskPoints({self.n:,} rows x {self.d} columns, {self.dtype}, "
            f"{len(self.chunks)} partitions)"
        )

    def __enter__(self) -> DaskPoints:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def executor(self) -> DaskExecutor:
        """Runs calls on the workers."""
        return self._executor

    @property
    def n_calls(self) -> Counter[str]:
        """How often the workers were asked, by the method that they ran."""
        return self._blocks.n_calls

    def distribute(self, labels: Rows) -> RowLabels:
        """Return labels of all rows as a Dask array with the data's partitions."""
        lazy: LazyArray = da.from_array(labels, chunks=(self.chunks,))
        return lazy

    def gather(self, labels: RowLabels) -> Rows:
        """Return some of these labels as a NumPy array."""
        found: Rows = self.client.gather(self.client.compute(labels))
        return found

    def _in_space(self, space: WorkingSpace) -> DaskPoints:
        """Return the coordinates of all rows in a space, which the workers compute and keep."""
        made = dask.delayed(space.coordinates, pure=False)
        shape, dtype = space.n_coordinates, space.dtype_of(self.dtype)
        futures = iter(self._blocks.futures)
        blocks = [
            da.from_delayed(made(next(futures)), (size, shape), dtype)
            if size
            else da.empty((0, shape), dtype=dtype)
            for size in self.chunks
        ]
        return DaskPoints(da.concatenate(blocks), client=self.client)

    def moments_by_label(self, labels: RowLabels, n_labels: int) -> GroupMoments:
        """Return the moments of the rows with each label; the labels stay where they are."""
        lazy: Any = self.distribute(labels) if isinstance(labels, np.ndarray) else labels
        pieces = [
            piece
            for piece, size in zip(lazy.to_delayed().ravel(), self.chunks, strict=True)
            if size
        ]
        work = dask.delayed(_sums_by_label, pure=False)
        sums = [
            work(block, self._executor.units, piece, n_labels)
            for block, piece in zip(self._blocks.futures, pieces, strict=True)
        ]
        found = self.client.gather(self.client.compute(sums))
        return GroupMoments.of_sums(np.sum(found, axis=0), self._executor.units.for_kernels)

    def fingerprint(self) -> str:
        """Return a hash of the partitions' sizes, the type and the values, which the workers compute.

        Of partitions of more than 256 MiB, 1,024 evenly spaced pieces are hashed.
        """
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{self.n} x {self.d} {self.dtype}".encode())
        for one in self.client.gather(self.client.map(hash_of, self._blocks.futures, pure=False)):
            digest.update(one.encode())
        return digest.hexdigest()

    def close(self) -> None:
        """Free the workers' memory, and close the client if it was started here."""
        self._blocks.close()
        self._close_client()

    def _close_client(self) -> None:
        if self._started:
            self.client.close()


def _sums_by_label(block: Matrix, units: Units, labels: Rows, n_labels: int) -> NDArray[np.int64]:
    return make_partition(units, block, 1).sums_by_label(labels, n_labels)
