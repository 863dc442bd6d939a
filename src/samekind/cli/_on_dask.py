"""``samekind run --dask``: the data and all that is known of each row stay on the workers of a cluster."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.cli._errors import UserError, users_values
from samekind.cli._words import in_options

if TYPE_CHECKING:
    from samekind.cli._job import Job
    from samekind.cli._streaming import Choice
    from samekind.clusters import Clusters
    from samekind.points.scaling import Scaling

__all__ = ["LOCAL", "run_on_dask", "write_on_workers"]

LOCAL = "local"  # the address that stands for a cluster that is started here
PATIENCE = 10  # seconds in which a scheduler must answer


def run_on_dask(job: Job, data: Path, choice: Choice, address: str) -> int:
    """Run a job on a Dask cluster; one that was started for it is gone afterwards, whatever happens."""
    from rich.console import Console

    from samekind.cli._job import run_job
    from samekind.cli._passes import Passes
    from samekind.cli._results import prepare_folder
    from samekind.datasets._streamed import choose_parquet

    if job.person:
        raise UserError("--dask is for labels that answer: name their column, --labels COLUMN.")
    if data.suffix.lower() in (".npy", ".npz", ".csv", ".tsv", ".jsonl") and data.is_file():
        raise UserError(
            f"--dask reads Parquet files, and {data} is none. Write it as Parquet first, for instance "
            "with pandas.DataFrame.to_parquet."
        )
    with users_values():
        leaves, chosen, notes = choose_parquet(data, choice.labels, choice.columns, choice.exclude)
    files = [leaf.path.resolve() for leaf in leaves]
    prepare_folder(job.out, keep=data, files=files if len(files) > 1 else [])
    chat = Console(stderr=True, quiet=job.quiet)
    with _client(address) as client, Passes(chat) as passes:
        import dask.dataframe as dd

        from samekind.points import DaskPoints

        workers = client.scheduler_info(n_workers=-1)["workers"]
        threads = sum(worker["nthreads"] for worker in workers.values())
        chat.print(
            f"{data}: {sum(leaf.n_rows for leaf in leaves):,} points, {len(chosen.names)} features, "
            f"on {len(workers)} Dask worker{'s' * (len(workers) != 1)} with {threads} threads",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        assert choice.labels is not None
        paths = [str(file) for file in files]
        X, scaling = dd.read_parquet(paths, columns=chosen.names), None
        if choice.standardize:
            X, scaling = _standardised(X, chosen.dtype)
            notes += ["standardised: every column has mean 0 and variance 1"]
        for note in notes:
            chat.print(in_options(f"  {note}"), markup=False, highlight=False, soft_wrap=True)
        with users_values():
            points = DaskPoints(X, client=client, report=passes)
        with points, _told_apart():
            return run_job(
                replace(
                    job,
                    X=points,
                    feature_names=chosen.names,
                    labels=_labels(dd.read_parquet(paths, columns=[choice.labels])),
                    in_file_units=None if scaling is None else scaling.in_file_units,
                    passes=passes,
                )
            )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Connect to a cluster, or start one of processes on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise UserError(
            f"--dask needs packages that are not installed ({error.name} is missing). Install them: "
            "pip install 'samekind[dask]'."
        ) from error
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # of what is cut off by Ctrl-C
    if address != LOCAL:
        try:
            client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise UserError(
                f"no Dask scheduler answers at {address}. Check the address, or leave it out: --dask "
                "alone starts a cluster here."
            ) from error
        with client:
            yield client
        return
    with _unheard_by_children():
        cluster = LocalCluster(dashboard_address=None, silence_logs=logging.CRITICAL)
    with cluster, Client(cluster) as client:
        yield client


@contextmanager
def _told_apart() -> Iterator[None]:
    """Take it for no fault of samekind that a cluster is gone."""
    from samekind.points import ClusterError

    try:
        yield
    except ClusterError as error:
        raise UserError(str(error)) from error


@contextmanager
def _unheard_by_children() -> Iterator[None]:
    """Have processes that are started here not hear Ctrl-C: it is for us, who close them when it is time."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _standardised(X: Any, dtype: np.dtype[Any]) -> tuple[Any, Scaling | None]:
    """Return a table whose columns have mean 0 and variance 1, and how they were."""
    import dask

    from samekind.points.scaling import Scaling

    means, variances, low, high = (
        np.asarray(found, dtype=np.float64)
        for found in dask.compute(X.mean(), X.var(ddof=0), X.min(), X.max())
    )
    if not np.isfinite([means, variances]).all():
        return (
            X,
            None,
        )  # something is missing or infinite, which will be said where the rows are read
    constant = low == high
    offset = np.where(constant, low, means)
    scale = np.where(constant | (variances == 0), 1.0, np.sqrt(variances))
    meta = X._meta.astype(dtype)
    scaled = X.map_partitions(_scale, offset, scale, dtype, meta=meta)
    return scaled, Scaling(offset, scale, constant)


def _labels(table: Any) -> Any:
    """Return the one column of a table as an array that stays on the workers and knows its parts."""
    import dask
    import dask.array as da

    column, size = dask.delayed(_column), dask.delayed(len)
    pieces = dask.persist(*[column(partition) for partition in table.to_delayed()])
    sizes = dask.compute(*[size(piece) for piece in pieces])
    return da.concatenate(
        [
            da.from_delayed(piece, shape=(n,), dtype=object)
            for piece, n in zip(pieces, sizes, strict=True)
            if n
        ]
    )


def _column(frame: Any) -> NDArray[Any]:
    found: NDArray[Any] = frame.iloc[:, 0].to_numpy()
    return found


def _scale(
    frame: Any, offset: NDArray[np.float64], scale: NDArray[np.float64], dtype: np.dtype[Any]
) -> Any:
    return ((frame.astype(np.float64) - offset) / scale).astype(dtype)


def write_on_workers(folder: Path, clusters: Clusters, labels: Any) -> None:
    """Let the workers write a table with a line for each row: a file for every partition."""
    import dask

    folder.mkdir(exist_ok=True)
    for old in folder.glob("part-*.parquet"):
        old.unlink()
    found = clusters.labels_.rechunk(labels.chunks)
    known = np.unique(np.concatenate([*clusters.members_, np.empty(0, dtype=np.intp)]))
    firsts = np.cumsum([0, *found.chunks[0]]).tolist()
    write = dask.delayed(_write_part)
    parts = []
    blocks = zip(found.to_delayed(), labels.to_delayed(), strict=True)
    for number, (block, names) in enumerate(blocks):
        here = known[slice(*known.searchsorted(firsts[number : number + 2]))]
        path = folder.resolve() / f"part-{number:05}.parquet"
        parts.append(write(str(path), firsts[number], block, names, here, clusters.n_recovered_))
    dask.compute(*parts)


def _write_part(
    path: str,
    first: int,
    clusters: NDArray[np.intp],
    labels: Any,
    known: NDArray[np.intp],
    n_recovered: int,
) -> int:
    import pandas as pd

    is_known = np.zeros(len(clusters), dtype=bool)
    is_known[known - first] = True
    pd.DataFrame(
        {
            "row": np.arange(first, first + len(clusters)),
            "cluster": clusters,
            "known": is_known,
            "recovered": (clusters >= 0) & (clusters < n_recovered),
            "label": np.asarray(labels),
        }
    ).to_parquet(path, index=False)
    return len(clusters)
