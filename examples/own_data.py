"""
A table of your own
===================

A table with numbers, categories, dates and gaps: what becomes of it, and new rows.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import samekind

rng = np.random.default_rng(0)
kinds = rng.permutation(np.repeat(["chair", "table", "lamp"], 200))
heights = pd.Series(kinds).map({"chair": 90, "table": 75, "lamp": 150}) + rng.normal(0, 4, 600)
table = pd.DataFrame(
    {
        "number": np.arange(600),
        "height": heights.mask(rng.random(600) < 0.05),
        "weight": pd.Series(kinds).map({"chair": 6, "table": 25, "lamp": 3}) + rng.normal(size=600),
        "material": np.where(kinds == "lamp", "glass", rng.choice(["wood", "metal"], 600)),
        "bought": "2024-03-01",
        "kind": kinds,
    }
)

with TemporaryDirectory() as folder:
    path, new = Path(folder, "furniture.csv"), Path(folder, "new.csv")
    table[:-3].to_csv(path, index=False)
    table[-3:].to_csv(new, index=False)

    items = samekind.load(path, labels="kind")
    print(items)
    for note in items.notes:
        print(" ", note)

    oracle = samekind.LabelOracle(items.labels)
    clusters = samekind.solve(items, oracle, budget=100, random_state=0)
    print(clusters)
    agreement = samekind.measures.adjusted_rand_index(items.labels, clusters.labels_)
    print("adjusted Rand index:", round(agreement, 3))

    for center, members in zip(clusters.centers_, clusters.members_, strict=True):
        height, weight = items.in_file_units(center)[:2]
        print(f"{items.labels[members[0]]}: about {height:.0f} cm and {weight:.0f} kg")

    found = clusters.predict(items.load_new(new))
    names = [str(items.labels[clusters.members_[cluster][0]]) for cluster in found]
    print("new rows:", names, "in truth:", table["kind"][-3:].tolist())
