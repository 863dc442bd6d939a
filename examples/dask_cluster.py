"""
On a Dask cluster
=================

Cluster rows that lie on the workers of a Dask cluster, and lose one of the workers on the way.
"""

import os
import signal

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import samekind
from samekind.progress import Progress

N, KINDS = 100_000, 12


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(KINDS, size=N)
    X = 6 * rng.normal(size=(KINDS, 5))[y] + rng.normal(size=(N, 5))

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        # usually from files: da.from_zarr, dask.dataframe.read_parquet, ...
        rows, kinds = da.from_array(X, chunks=(N // 8, 5)), da.from_array(y, chunks=N // 8)
        victim = next(iter(client.run(os.getpid).values()))

        def accident(progress: Progress) -> None:
            if progress.questions == 100:
                os.kill(victim, getattr(signal, "SIGKILL", signal.SIGTERM))

        oracle = samekind.LabelOracle(kinds)
        clusters = samekind.solve(rows, oracle, budget=300, random_state=0, on_progress=accident)
        print(clusters)
        print(clusters.labels_)
        sizes = da.bincount(clusters.labels_, minlength=clusters.n_discovered_).compute()
        print("rows of each kind:", sizes.tolist())
        centers = clusters.all_centers_  # the means of all rows, which are on the workers

    local = samekind.solve(X, samekind.LabelOracle(y), budget=300, random_state=0)
    print("the same centres as on an array:", np.allclose(local.all_centers_, centers))


if __name__ == "__main__":
    main()
