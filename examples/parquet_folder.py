"""
A folder of Parquet files
=========================

Cluster a folder of Parquet files that need not fit in memory: its features become one array file.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import samekind

FILES, ROWS, KINDS = 6, 60_000, 12

rng = np.random.default_rng(0)
centers = 20 * rng.normal(size=(KINDS, 3))

with TemporaryDirectory() as home:
    days = Path(home, "days")
    days.mkdir()
    devices = []
    for number in range(FILES):
        device = rng.integers(KINDS, size=ROWS)
        values = centers[device] + rng.normal(size=(ROWS, 3))
        table = pd.DataFrame(values.astype(np.float32), columns=["voltage", "current", "heat"])
        table.to_parquet(days / f"day.{number}.parquet")
        devices.append(device)
    y = np.concatenate(devices)

    project = Path(home, "devices.db")
    items = samekind.load(days, cache=project)  # the next time, the array file is there already
    print(items.summary())
    print("mapped:", sorted(path.name for path in Path(home).glob("devices.features.*")))
    oracle = samekind.LabelOracle(y)
    clusters = samekind.solve(items, oracle, ledger=project, budget=300, random_state=0)
    print(clusters)
    agreement = samekind.measures.adjusted_rand_index(y, clusters.labels_)
    print("adjusted Rand index:", round(agreement, 3))
