"""What each algorithm asks and finds for a seed, as short hashes: `python tests/fingerprints.py --write`.

Those of the paper's algorithms are kept in a file: a change that is not meant to change what they ask must
leave them as they are. `focused` and `records` weigh sums of floats, whose last digits depend on the
processor, so that they are compared with themselves only.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import samekind

KEPT = Path(__file__).with_suffix(".json")
BACKENDS = ("array", "map", "parquet", "dask")
ROWS = {
    "tiny": 150,
    "small": 1_500,
    "large": 40_000,
}  # `focused` keeps a graph of up to 30,000 rows


@dataclass(frozen=True)
class Case:
    algorithm: str
    data: str = "small"
    parameters: dict = field(default_factory=dict)
    wrong: float = 0.0  # share of the answers
    name: str = ""

    @property
    def title(self):
        return self.name or self.algorithm

    @property
    def is_kept(self):
        """Whether every machine gives the same."""
        return self.algorithm not in ("focused", "records")

    @property
    def backends(self):
        """Records are a table in memory, or a file."""
        return ("array", "parquet") if self.data == "people" else BACKENDS


CASES = [
    Case("uniform", parameters={"budget": 400, "batch": 4}),
    Case("basic", parameters={"budget": 400, "batch": "auto"}),
    Case("batched", parameters={"budget": 400, "batch": 8}),
    Case("basic-exact", "tiny", {"batch": 16, "epsilon": 1.0, "target": 2}),
    Case("improved-exact", "tiny", {"batch": 16, "epsilon": 1.0, "target": 2}),
    Case("noisy-exact", parameters={"error_rate": 0.1, "budget": 2_000, "batch": 64}, wrong=0.1),
    Case("focused", parameters={"budget": 300, "batch": 1}),
    Case("focused", "large", {"budget": 300, "batch": "auto"}, name="focused, many rows"),
    Case(
        "focused",
        parameters={"budget": 300, "goal": "labels", "batch": 4},
        name="focused, labels",
    ),
    Case("focused", parameters={"stop": "certified", "tolerance": 0.3}, name="focused, certified"),
    Case(
        "focused",
        parameters={"error_rate": "estimate", "budget": 150},
        wrong=0.1,
        name="focused, wrong answers",
    ),
    Case("records", "people", {"budget": 120}),
    Case(
        "records",
        "people",
        {"error_rate": "estimate", "budget": 120, "batch": 4},
        wrong=0.1,
        name="records, wrong answers",
    ),
]


def make_data(size):
    """Return overlapping clusters of unequal sizes, or a table of people with their duplicates."""
    if size == "people":
        return samekind.datasets.make_records(600, 0.3, random_state=7)
    rng = np.random.default_rng(7)
    n = ROWS[size]
    shares = 1 / np.arange(1, 9)
    y = rng.choice(8, n, p=shares / shares.sum())
    X = rng.normal(0, 3, (8, 5))[y] + rng.normal(0, 1, (n, 5))
    return X.astype(np.float32), y


class Recorder:
    """Answers by labels, some wrongly but always alike, and hashes what it is asked."""

    def __init__(self, y, wrong):
        self.y, self.wrong = y, wrong
        self.digest = hashlib.blake2b(digest_size=8)
        self.n_asked = 0

    def __call__(self, pairs):
        self.digest.update(np.ascontiguousarray(pairs, dtype="<i8").tobytes())
        self.n_asked += len(pairs)
        low, high = np.sort(pairs, axis=1).T
        luck = ((low * 2_654_435_761 + high * 40_503) % 9_973) / 9_973
        return ((self.y[low] == self.y[high]) ^ (luck < self.wrong)).astype(np.int8)


def fingerprint(case, X, y):
    """Run a case; return how many questions it asked, which, and what came of it."""
    recorder = Recorder(y, case.wrong)
    parameters = {"batch": 1} | case.parameters
    found = samekind.solve(X, recorder, algorithm=case.algorithm, random_state=3, **parameters)
    labels = found.labels_of(np.arange(len(y)))
    result = hashlib.blake2b(digest_size=8)
    result.update(labels.astype("<i8").tobytes())
    for members in found.members_:
        result.update(members.astype("<i8").tobytes())
    result.update(np.array2string(found.all_centers_, precision=4, threshold=10**6).encode())
    return [recorder.n_asked, recorder.digest.hexdigest(), result.hexdigest()]


def open_backend(backend, X, folder, client=None):
    """Return the rows as something that `solve` takes."""
    if hasattr(X, "columns"):
        return open_records(backend, X, folder)
    if backend == "map":
        np.save(folder / "X.npy", X)
        return np.load(folder / "X.npy", mmap_mode="r")
    if backend == "parquet":
        import pandas as pd

        (folder / "parts").mkdir(exist_ok=True)
        for i, part in enumerate(np.array_split(X, 3)):
            frame = pd.DataFrame(part, columns=[f"x{j}" for j in range(X.shape[1])])
            frame.to_parquet(folder / "parts" / f"{i}.parquet")
        return str(folder / "parts")
    if backend == "dask":
        import dask.array as da

        from samekind.points import DaskPoints

        return DaskPoints(da.from_array(X, chunks=(len(X) // 3 + 1, -1)), client=client)
    return X


def open_records(backend, frame, folder):
    """Return a table of records as something that `solve` takes."""
    if backend == "parquet":
        frame.to_parquet(folder / "people.parquet")
        return str(folder / "people.parquet")
    return frame


def measure():
    """Return the fingerprints that are kept: title → fingerprint."""
    kept = [case for case in CASES if case.is_kept]
    return {case.title: fingerprint(case, *make_data(case.data)) for case in kept}


if __name__ == "__main__":
    prints = measure()
    print(json.dumps(prints, indent=1))
    if "--write" in sys.argv:
        KEPT.write_text(json.dumps(prints, indent=1) + "\n")
