"""What sees all rows: scanning, grouping, passes, draws, cells. Run by asv."""

from __future__ import annotations

import numpy as np

from benchmarks.suite import mixture, rows


class Passes:
    """Passes over all rows."""

    param_names = ["n", "dtype"]  # noqa: RUF012 - asv reads these
    params = [[100_000, 1_000_000], ["float32", "float64"]]  # noqa: RUF012
    timeout = 120

    def setup(self, n: int, dtype: str) -> None:
        from samekind.points import ArrayPoints

        self.X, _ = mixture(n, dtype=dtype)
        self.points = ArrayPoints(self.X)
        self.middle = self.X.mean(axis=0, dtype=np.float64)[None]
        self.away = self.middle + 1e3
        self.sampler = self.points.sampler()
        self.sampler.add(self.middle)
        self.fresh().draw(np.linspace(0.0, 0.99, 8))  # compiles
        self.points.label_by_nearest(self.X[:2].astype(np.float64))

    def fresh(self):
        sampler = self.points.sampler()
        sampler.add(self.away)
        sampler.add(self.middle)
        return sampler

    def time_scan(self, n: int, dtype: str) -> None:
        type(self.points)(self.X)

    def time_group(self, n: int, dtype: str) -> None:
        type(self.points)(self.X).sampler().add(self.middle)

    def time_first_centre(self, n: int, dtype: str) -> None:
        self.points.sampler().add(self.middle)

    def time_two_full_passes(self, n: int, dtype: str) -> None:
        self.fresh()

    def time_draw(self, n: int, dtype: str) -> None:
        self.sampler.draw(np.linspace(0.0, 0.99, 8))

    def time_nearest(self, n: int, dtype: str) -> None:
        self.points.label_by_nearest(self.X[:10].astype(np.float64))

    def time_read(self, n: int, dtype: str) -> None:
        """What every pass is set against."""
        self.X.sum()


class Centres:
    """D²-sampled centres, one by one."""

    param_names = ["n_centres"]  # noqa: RUF012
    params = [10, 100]  # noqa: RUF012
    timeout = 120

    def setup(self, n_centres: int) -> None:
        self.X, _ = mixture(200_000, dtype="float32")
        self.sample(2)

    def sample(self, n_centres: int):
        from samekind.points import ArrayPoints

        rng = np.random.default_rng(0)
        sampler = ArrayPoints(self.X).sampler()
        for _ in range(n_centres):
            sampler.add(self.X[sampler.draw(rng.random(1))])
        return sampler

    def time_sample(self, n_centres: int) -> None:
        self.sample(n_centres)

    def peakmem_sample(self, n_centres: int) -> None:
        self.sample(n_centres)

    def track_share_of_distances(self, n_centres: int) -> float:
        return self.sample(n_centres).n_distances / (len(self.X) * n_centres)

    track_share_of_distances.unit = "of all"


class Sites:
    """Cells of rows that became sites."""

    timeout = 120

    def setup(self) -> None:
        self.X, _ = mixture(200_000, dtype="float32")
        self.grow(20)

    def grow(self, size: int):
        from samekind.points import ArrayPoints

        rng = np.random.default_rng(0)
        cells = ArrayPoints(self.X).voronoi()
        for _ in range(size):
            cells.add(cells.draw(rng))
        cells.flush()
        return cells

    def time_grow(self) -> None:
        self.grow(rows(1_000))

    def peakmem_grow(self) -> None:
        self.grow(rows(1_000))

    def track_share_of_distances(self) -> float:
        size = rows(1_000)
        return self.grow(size).n_distances / (len(self.X) * size)

    track_share_of_distances.unit = "of all"
