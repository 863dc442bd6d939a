"""Points on a Dask cluster: every worker keeps its rows, and what is known of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from samekind.points.base import Points
from samekind.points.executor import parted
from samekind.points.fixed_point import Frame
from samekind.points.labels import LabelMap, LazyArray, RowLabels
from samekind.points.sources.array import hash_of
from samekind.points.threads import ReportProgress

try:
    import dask
    import dask.array as da
    import distributed
    from dask.highlevelgraph import HighLevelGraph
    from distributed import Client, Future
except ImportError as error:
    raise ImportError(
        f"points on a Dask cluster need dask and distributed ({error}): pip install 'samekind[dask]'."
    ) from error

from samekind.points.sources.dask.blocks import Blocks, ClusterError, find_client, open_desks
from samekind.points.sources.dask.collection import Scanned, as_block, collection, join, scan_block
from samekind.points.sources.dask.partitions import Naming, PartRecipe, Seen, name_rows
from samekind.points.sources.row_cache import RowCache

__all__ = ["Blocks", "ClusterError", "DaskExecutor", "DaskPoints", "find_client", "open_desks"]


class DaskExecutor:
    """Parts that lie on the workers of a cluster, a block each."""

    is_remote = True
    is_grouped = False

    def __init__(self, blocks: Blocks, frame: Frame, sizes: list[int], cache: RowCache) -> None:
        self.frame = frame
        self.firsts = np.cumsum([0, *filter(None, sizes)])
        self._blocks = blocks
        self._sizes = sizes  # of all partitions, also of empty ones, which are no parts
        self._cache = cache

    def ask(self, what: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call the method `what` of some parts, each with its own arguments; return the results."""
        found = self._blocks.ask(what, calls)
        for part, result in found.items():
            if isinstance(result, Seen):
                self._cache.remember(result.rows + self.firsts[part], result.X)
                found[part] = result.result
        return found

    def ask_one(self, what: str, part: int, *args: Any) -> Any:
        """Call the method `what` of one part."""
        return self.ask(what, {part: args})[part]

    def tell(self, what: str, *args: Any) -> list[Any]:
        """Call a method that changes every part, with the same arguments; return the results in order."""
        if what == "drop":
            self._blocks.drop(*args)
            return []
        return self._blocks.tell(what, *args)

    def seen(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Return these rows if the driver remembers all of them."""
        return self._cache.seen(rows)

    def name(self, what: str, names: LabelMap, *args: Any) -> Any:
        """Return what all rows are called now, as a Dask array with the partitions of the data."""
        entries = self._blocks.entries(args[0]) if what == "labels" else []
        naming = Naming(self._blocks.run, self.frame, entries, what, args)
        task, shared = dask.delayed(name_rows, pure=False), dask.delayed(naming, traverse=False)
        named = [
            task(block, part, shared, own)
            for part, (block, own) in enumerate(
                zip(self._blocks.futures, parted(self, names), strict=True)
            )
        ]
        nothing, rest = dask.delayed(np.empty)(0, dtype=np.intp), iter(named)
        pieces = [next(rest) if size else nothing for size in self._sizes]
        key = f"samekind-names-{uuid4().hex}"
        layer = {(key, number): piece.key for number, piece in enumerate(pieces)}
        graph = HighLevelGraph.from_collections(key, layer, dependencies=pieces)
        return da.Array(graph, key, chunks=(tuple(self._sizes),), dtype=np.intp)


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
    >>> import dask.array as da
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
        read = collection(X)
        self.client, self._started = find_client(client)
        self.d, self.dtype, self.names = read.d, read.dtype, read.names
        run = uuid4().hex
        try:
            open_desks(self.client)
            block = dask.delayed(as_block, pure=False)
            futures = self.client.compute(
                [
                    block(partition, read.d, read.dtype, dask_key_name=f"samekind-{run}-{number}")
                    for number, partition in enumerate(read.partitions)
                ]
            )
            scanned = self._scan(futures, report)
            frame = Frame.around(join(scanned, read))
        except BaseException:
            self._close_client()
            raise
        sizes = [seen.n for seen in scanned]
        self.n = frame.n
        self.chunks = tuple(sizes)
        self._cache = RowCache(self.d)
        held = [future for future, size in zip(futures, sizes, strict=True) if size]
        self._blocks = Blocks(self.client, run, held, PartRecipe(frame))
        self._executor = DaskExecutor(self._blocks, frame, sizes, self._cache)

    def _scan(self, futures: list[Future], report: ReportProgress | None) -> list[Scanned]:
        scans = self.client.map(scan_block, futures, pure=False)
        with self.client.as_current():
            for done, _ in enumerate(distributed.as_completed(scans), start=1):
                if report is not None:
                    report("Reading the data", done / len(scans))
        found: list[Scanned] = self.client.gather(scans)
        return found

    def __repr__(self) -> str:
        return (
            f"DaskPoints({self.n:,} rows x {self.d} columns, {self.dtype}, "
            f"{len(self.chunks)} partitions)"
        )

    def __enter__(self) -> DaskPoints:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def executor(self) -> DaskExecutor:
        """Who holds the parts: the workers."""
        return self._executor

    @property
    def n_calls(self) -> Counter[str]:
        """How often the workers were asked, by what they were asked for."""
        return self._blocks.n_calls

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows with these numbers, (m, d)."""
        return self._cache.rows(np.asarray(index), self.fetch)

    def distribute(self, labels: NDArray[np.intp]) -> RowLabels:
        """Return labels of all rows as a Dask array with the data's partitions."""
        lazy: LazyArray = da.from_array(labels, chunks=(self.chunks,))
        return lazy

    def gather(self, labels: RowLabels) -> NDArray[np.intp]:
        """Return some of these labels as a NumPy array."""
        found: NDArray[np.intp] = self.client.gather(self.client.compute(labels))
        return found

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
