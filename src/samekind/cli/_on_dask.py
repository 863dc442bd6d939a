"""``samekind run --dask``: the data and all that is known of each row stay on the workers of a cluster."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.cli._errors import UserError
from samekind.project import NO_KIND, Project
from samekind.project.exports.tables import known_rows, piece_of

if TYPE_CHECKING:
    from distributed import Client


LOCAL = "local"  # the address that stands for a cluster that is started here
PATIENCE = 10  # seconds in which a scheduler must answer


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a cluster, or start one of processes on this machine, which is gone afterwards."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise UserError(
            f"--dask needs packages that are not installed ({error.name} is missing). Install them: "
            "pip install 'samekind[dask]'."
        ) from error
    from samekind.points import ClusterError

    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # of what is cut off by Ctrl-C
    with ExitStack() as stack:
        if address == LOCAL:
            with _unheard_by_children():
                cluster = LocalCluster(
                    dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
                )
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        else:
            try:
                client = stack.enter_context(Client(address, timeout=PATIENCE))
            except (OSError, ValueError) as error:
                raise UserError(
                    f"no Dask scheduler answers at {address}. Check the address, or leave it out: "
                    "--dask alone starts a cluster here."
                ) from error
        try:
            yield client
        except ClusterError as error:  # it is no fault of samekind if it is lost on the way
            raise UserError(str(error)) from error


def in_words(client: Client) -> str:
    """Say how large a cluster is."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    threads = sum(worker["nthreads"] for worker in workers.values())
    return f"on {len(workers)} Dask worker{'s' * (len(workers) != 1)} with {threads} threads"


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


def write_on_workers(folder: Path, project: Project) -> None:
    """Let the workers write a table with a line for each row: a file for every partition."""
    import dask

    clusters = project.clusters()
    labels: Any = project.items.labels
    numbers = np.array([*(ref.number for ref in project.kinds.refs()), NO_KIND])

    folder.mkdir(exist_ok=True)
    for old in folder.glob("part-*.parquet"):
        old.unlink()
    found = clusters.labels_.rechunk(labels.chunks)
    known = known_rows(clusters)
    firsts = np.cumsum([0, *found.chunks[0]]).tolist()
    write = dask.delayed(_write_part)
    parts = []
    blocks = zip(found.to_delayed(), labels.to_delayed(), strict=True)
    for number, (block, names) in enumerate(blocks):
        here = known[slice(*known.searchsorted(firsts[number : number + 2]))]
        path = str(folder.resolve() / f"part-{number:05}.parquet")
        parts.append(write(path, firsts[number], block, here, numbers, names))
    dask.compute(*parts)


def _write_part(
    path: str,
    first: int,
    found: NDArray[np.intp],
    known: NDArray[np.intp],
    numbers: NDArray[np.intp],
    labels: Any,
) -> int:
    piece_of(first, numbers[found], known, np.asarray(labels)).to_parquet(path, index=False)
    return len(found)
