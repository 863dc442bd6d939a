"""How long it takes from a file of records to its entities: ``python -m benchmarks.records [N]``.

Makes up N records (by default a million) as a Parquet file, and in a process of its own reads it, finds the
pairs that may be duplicates, asks 300 questions one at a time, and finds all entities. Promised on two idle
cores: 5,000 records ask their first question after 8 s and the next one after 150 ms (p95); a million after
60 s, and have their entities after 10 minutes in 6 GB. Machines that are busy take longer, so the seconds of
processor time are told, too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

QUESTIONS = 300


def main() -> int:
    """Measure, and print what was found; return 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", nargs="?", type=int, default=1_000_000, help="records")
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file:
        print(json.dumps(_from_file(options.file)))
        return 0
    from samekind.datasets import make_records

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        frame, person = make_records(options.n, 0.2, random_state=1)
        frame.assign(person=person).to_parquet(path, index=False)
        command = [sys.executable, "-m", "benchmarks.records", "--file", str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    for name, value in found.items():
        print(f"{name:>24}  {value:,.4g}")
    few = options.n <= 5_000
    kept = found["first question, s"] <= (8 if few else 60) and found["all, s"] <= 600
    kept &= found["memory, GB"] <= 6 and (not few or found["next question p95, s"] <= 0.15)
    kept &= found["recall of candidates"] >= 0.995 and found["pairs a record"] <= 20
    print("kept" if kept else "NOT KEPT")
    return 0 if kept else 1


def _from_file(path: str) -> dict[str, float]:
    began = time.perf_counter()
    import numpy as np

    import samekind

    items = samekind.load(path, records=True, labels="person")
    points: Any = items.points
    session = samekind.Session(items, "records", random_state=0, budget=QUESTIONS)
    session.pending()
    first = time.perf_counter() - began
    first_cpu = time.process_time()
    y = np.unique(np.asarray(items.labels), return_inverse=True)[1]
    waits = []
    while not session.done:
        pairs = session.pending()
        answers = y[pairs[:, 0]] == y[pairs[:, 1]]
        started = time.perf_counter()
        session.tell(pairs, answers)
        session.pending()
        waits.append(time.perf_counter() - started)
    labels = session.clusters().labels_
    everything = time.perf_counter() - began
    a, b = points.candidates.pairs.T
    matches = _pairs(y)
    right = _pairs(
        np.unique(labels.astype(np.int64) * (int(y.max()) + 1) + y, return_inverse=True)[1]
    )
    return {
        "first question, s": first,
        "first question, CPU s": first_cpu,
        "next question p95, s": float(np.percentile(waits, 95)),
        "next question, most, s": max(waits),
        "all, s": everything,
        "all, CPU s": time.process_time(),
        "memory, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "recall of candidates": int((y[a] == y[b]).sum()) / matches,
        "pairs a record": len(a) / len(y),
        "precision": right / _pairs(labels),
        "recall": right / matches,
    }


def _pairs(labels: Any) -> int:
    import numpy as np

    sizes = np.bincount(labels).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


if __name__ == "__main__":
    raise SystemExit(main())
