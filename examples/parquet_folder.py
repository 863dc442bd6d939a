"""
A folder of Parquet files
=========================

Cluster a folder of Parquet files that is never loaded whole.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import samekind
from samekind.points import ParquetPoints

FILES, ROWS, KINDS = 6, 60_000, 12

rng = np.random.default_rng(0)
centers = 20 * rng.normal(size=(KINDS, 3))

with TemporaryDirectory() as folder:
    devices = []
    for number in range(FILES):
        device = rng.integers(KINDS, size=ROWS)
        values = centers[device] + rng.normal(size=(ROWS, 3))
        table = pd.DataFrame(values.astype(np.float32), columns=["voltage", "current", "heat"])
        table.assign(note="texts are not read").to_parquet(Path(folder, f"day.{number}.parquet"))
        devices.append(device)
    y = np.concatenate(devices)

    points = ParquetPoints(folder, ["voltage", "current", "heat"], cache=2**20)
    print(points)
    clusters = samekind.solve(points, samekind.LabelOracle(y), budget=300, random_state=0)
    print(clusters)
    agreement = samekind.measures.adjusted_rand_index(y, clusters.labels_)
    print("adjusted Rand index:", round(agreement, 3))

    again = samekind.solve(
        points.rows(np.arange(points.n)), samekind.LabelOracle(y), budget=300, random_state=0
    )
    same = np.array_equal(again.labels_, clusters.labels_)
    print("the same as on an array, to the last row:", same)
