"""Peers for records, each in a Python of its own: ``python record_peers.py NAME JOB.json``.

A job names CSV files, the entities of their rows, how many answers there are, a seed, how much memory there
is, and where to write. A peer writes the entity of each row, and what that took. It imports nothing of
samekind.
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

FEW_VALUES = 30
FEW_DISTINCT = 50
CROWDED = 0.15  # share of pairs that begin alike or share a word
SHORT = 5  # characters


def read_rows(job: dict[str, Any]) -> list[pd.DataFrame]:
    """Return the files of a job, every value as text."""
    return [pd.read_csv(path, dtype=str, keep_default_na=False) for path in job["files"]]


def by_dedupe(job: dict[str, Any]) -> list[int]:
    """Dedupe 3: it chooses the pairs itself, and learns from as many answers.

    One process, nothing written to disk (``num_cores=0``, ``in_memory=True``).
    """
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
    columns = list(frames[0].columns)
    number = {
        tuple(line[name] for name in columns): row for part in rows for row, line in part.items()
    }
    together = pd.concat(frames)
    variables = [kind for name in columns for kind in dedupe_variables(together[name])]
    is_link = len(rows) > 1
    made = dedupe.RecordLink if is_link else dedupe.Dedupe
    learner = made(variables, num_cores=0, in_memory=True)
    learner.prepare_training(*rows)
    for _ in range(job["answers"]):
        pairs = learner.uncertain_pairs()
        if not pairs:
            break
        [(one, other)] = pairs
        a, b = (number[tuple(line[name] for name in columns)] for line in (one, other))
        same = y[a] == y[b]
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


def dedupe_variables(column: pd.Series) -> list[Any]:
    """Return how dedupe compares a column, and by what it finds pairs in it.

    While it prepares, dedupe holds every pair of 5,000 records that any of some thirty predicates of a string
    brings together (`sample_size` has no part in it). On FEBRL 2 with all ten columns as short strings these
    are 140 million pairs, over 8 GB: nearly all of them by edits and first characters of street numbers,
    postcodes and birthdays, and by "street" and "place". With `has_missing` each column brings all pairs
    that have it, 12 million, once more. So a column whose values are short, begin alike or share a word is
    compared as a string, and finds pairs by equal values; the rest are short strings. Its guide has both.
    """
    from affinegap import normalizedAffineGapDistance
    from dedupe import variables

    name = str(column.name)
    values = column[column != ""]
    if values.nunique() <= FEW_VALUES:
        return [variables.Custom(name, comparator=differ)]
    words = values.str.split().explode().value_counts() / len(values)
    first = values.str[0].value_counts(normalize=True)
    alike = max(float((words**2).sum()), float((first**2).sum()))
    if alike <= CROWDED and values.str.len().median() >= SHORT:
        return [variables.ShortString(name)]
    return [
        variables.Custom(name, comparator=normalizedAffineGapDistance, name=f"{name} by edits"),
        variables.Exact(name, name=f"{name} equal"),
    ]


def differ(one: str, other: str) -> int:
    """Return 0 if two values are the same, else 1."""
    return int(one != other)


def by_splink(job: dict[str, Any]) -> list[int]:
    """Splink 5: estimates everything by itself, as its guide does for people; it asks nothing.

    Where no rule finds sure matches, or rules join most pairs, the share of matches is taken to be one for
    each record; a column on which its estimation fails keeps what Splink begins with.
    """
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
    together = pd.concat(frames)
    distinct = together[columns].nunique()
    keys = distinct.sort_values(ascending=False).index[:5].tolist()
    words = {
        name: together[name].dropna().map(lambda text: len(text.split())).median()
        for name in columns
    }
    rules: list[Any] = [block_on(name) for name in keys]
    for name in keys:  # of long texts, few are equal
        if words[name] > 2:
            rules += [block_on(f"split_part({name}, ' ', {k})") for k in (1, 2)]

    def comparison(name: str) -> Any:
        if distinct[name] <= FEW_DISTINCT:
            return cl.ExactMatch(name)
        if words[name] > 2:
            return cl.JaccardAtThresholds(name, [0.9, 0.75])
        return cl.JaroWinklerAtThresholds(name, [0.9, 0.7])

    settings = SettingsCreator(
        link_type="link_only" if len(frames) > 1 else "dedupe_only",
        comparisons=[comparison(name) for name in columns],
        blocking_rules_to_generate_predictions=rules,
        probability_two_random_records_match=1 / start,
    )
    api = DuckDBAPI()
    tables = [
        api.register(frame, table_name=f"rows_{place}", dataset_display_name=f"rows_{place}")
        for place, frame in enumerate(frames)
    ]
    linker = Linker(tables if len(tables) > 1 else tables[0], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=job["seed"])
    if len(keys) > 1:
        rule = together.dropna(subset=keys[:2])
        if 0 < rule.duplicated(keys[:2]).mean() < 0.5:
            linker.training.estimate_probability_two_random_records_match(
                [block_on(keys[0], keys[1])], recall=0.7
            )
    for key in keys[:3]:
        try:
            linker.training.estimate_parameters_using_expectation_maximisation(block_on(key))
        except Exception as error:  # too few pairs agree there
            print(f"Splink learnt nothing from {key}: {error}", file=sys.stderr)
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


def peak_memory() -> float:
    """Return the most megabytes that this program had; `getrusage` counts those of who started it, too."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmHWM"].split()[0]) / 1024


def main(name: str, path: str) -> None:
    """Do a job."""
    with open(path) as file:
        job = json.load(file)
    most = int(job["memory_gb"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    started = time.perf_counter()
    labels = PEERS[name](job)
    found = {
        "labels": labels,
        "seconds": time.perf_counter() - started,
        "memory_mb": peak_memory(),
    }
    with open(job["out"], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
