"""Peers for records, each in a Python of its own: ``python record_peers.py NAME JOB.json``.

A job names CSV files, the entities of their rows, how many answers there are, a seed, and where to write. A
peer writes the entity of each row, and what that took. It imports nothing of samekind.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd


def read_rows(job: dict[str, Any]) -> list[pd.DataFrame]:
    """Return the files of a job, every value as text."""
    return [pd.read_csv(path, dtype=str, keep_default_na=False) for path in job["files"]]


def by_dedupe(job: dict[str, Any]) -> list[int]:
    """Dedupe 3: it chooses the pairs itself, and learns from as many answers."""
    import random

    import dedupe

    random.seed(job["seed"])
    np.random.seed(job["seed"])  # noqa: NPY002  # what dedupe draws with
    frames, y = read_rows(job), job["entities"]
    rows, start = [], 0
    for frame in frames:
        lines = frame.replace("", None).astype(object).where(frame != "", None).to_dict("records")
        rows.append({start + i: line for i, line in enumerate(lines)})
        start += len(lines)
    number = {id(line): row for part in rows for row, line in part.items()}
    variables = [dedupe.variables.String(name, has_missing=True) for name in frames[0].columns]
    is_link = len(rows) > 1
    learner = (dedupe.RecordLink if is_link else dedupe.Dedupe)(variables, num_cores=1)
    learner.prepare_training(*rows)
    for _ in range(job["answers"]):
        pairs = learner.uncertain_pairs()
        if not pairs:
            break
        [(one, other)] = pairs
        same = (
            y[number.get(id(one), find(rows, one))] == y[number.get(id(other), find(rows, other))]
        )
        learner.mark_pairs({"match": pairs if same else [], "distinct": [] if same else pairs})
    learner.train()
    labels = list(range(start))
    if is_link:
        for (one, other), _ in learner.join(*rows, threshold=0.5, constraint="one-to-one"):
            labels[other] = one
    else:
        for members, _ in learner.partition(rows[0], threshold=0.5):
            for row in members:
                labels[row] = min(members)
    return [int(label) for label in labels]


def find(rows: list[dict[int, Any]], line: dict[str, Any]) -> int:
    """Return the number of a row by what it says: dedupe hands out copies."""
    wanted = {name: value or None for name, value in line.items()}
    return next(row for part in rows for row, own in part.items() if dict(own) == wanted)


def by_splink(job: dict[str, Any]) -> list[int]:
    """Splink 5: estimates everything by itself, as its guide does for people; it asks nothing."""
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    frames = read_rows(job)
    columns = list(frames[0].columns)
    start = 0
    for frame in frames:
        frame.replace("", None, inplace=True)
        frame.insert(0, "unique_id", np.arange(start, start + len(frame)))
        start += len(frame)
    distinct = pd.concat(frames)[columns].nunique()
    keys = distinct.sort_values(ascending=False).index[:5].tolist()
    settings = SettingsCreator(
        link_type="link_only" if len(frames) > 1 else "dedupe_only",
        comparisons=[
            cl.JaroWinklerAtThresholds(name, [0.9, 0.7])
            if distinct[name] > 50
            else cl.ExactMatch(name)
            for name in columns
        ],
        blocking_rules_to_generate_predictions=[block_on(name) for name in keys],
    )
    api = DuckDBAPI()
    tables = [
        api.register(frame, table_name=f"rows_{place}", dataset_display_name=f"rows_{place}")
        for place, frame in enumerate(frames)
    ]
    linker = Linker(tables if len(tables) > 1 else tables[0], settings)
    linker.training.estimate_probability_two_random_records_match(
        [block_on(keys[0], keys[1])], recall=0.7
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=job["seed"])
    for key in keys[:3]:
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(key))
    found = linker.inference.predict(threshold_match_probability=0.5)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        found, threshold_match_probability=0.95
    ).as_pandas_dataframe()
    labels = np.arange(start)
    rows = clusters["unique_id"].astype(int).to_numpy()
    labels[rows] = start + pd.factorize(clusters["cluster_id"])[0]
    return [int(label) for label in labels]


PEERS: dict[str, Callable[[dict[str, Any]], list[int]]] = {
    "dedupe": by_dedupe,
    "splink": by_splink,
}


def main(name: str, path: str) -> None:
    """Do a job."""
    with open(path) as file:
        job = json.load(file)
    started = time.perf_counter()
    labels = PEERS[name](job)
    found = {
        "labels": labels,
        "seconds": time.perf_counter() - started,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    with open(job["out"], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
