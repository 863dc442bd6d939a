"""What is promised when answers are wrong, and how often it holds; and whether the errors are told.

``python -m experiments.noisy_promises --runs 200 --out promises.jsonl`` appends a line of JSON for each run,
and skips the runs that the file has: it can be stopped and started again. Without ``--runs`` it sums up.
``--what`` chooses what is tried:

certificate
    The bounds on wrong labels and on what was not found, on digits and a mixture.
blobs
    Whether the error rate that is estimated runs away, on 60 rows of five blobs.
annotators
    Whether the error rates of three annotators are within their 95 % intervals, on 400 rows of such blobs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import samekind
from experiments.small_data import make_overlapping
from samekind.measures import adjusted_rand_index

Record = dict[str, Any]

DATA = {"digits": 500, "overlapping": 600}  # questions
ERRORS = (0.05, 0.1)
N_ROWS, N_CLUSTERS = 2_000, 12
BLOB_ERRORS = (0.1, 0.2)
RUN_AWAY = 0.15  # beyond the true rate: what is estimated so high has run away
ANNOTATORS: dict[str, float | tuple[float, float]] = {"ann": 0.02, "ben": 0.1, "cleo": (0.04, 0.2)}


def load(name: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a data set; each seed has a mixture of its own."""
    if name == "digits":
        X, y = samekind.datasets.load_digits(return_X_y=True)
        return X, y
    return make_overlapping(N_ROWS, N_CLUSTERS, seed)


def make_blobs(n: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return five Gaussian blobs in four dimensions, some of which touch."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=n)
    return rng.uniform(0, 6, (5, 4))[y] + 0.4 * rng.normal(size=(n, 4)), y


def solve(X: NDArray[Any], oracle: Any, budget: int, seed: int) -> samekind.Clusters:
    """Find clusters for the sake of labels with answers that err."""
    return samekind.solve(
        X,
        oracle,
        budget=budget,
        goal="labels",
        error_rate="estimate",
        batch="auto",
        random_state=seed,
    )


def try_certificate(name: str, error: float, seed: int) -> Record:
    """Return what is promised after a run, and what is true.

    A label is wrong if its row is of another class than most of its cluster; a class is not found if it is
    most of no cluster.
    """
    X, y = load(name, seed)
    found = solve(X, samekind.NoisyOracle(y, error=error, seed=seed), DATA[name], seed)
    promise = found.certificate_
    assert promise is not None
    table = np.zeros((found.labels_.max() + 1, y.max() + 1), dtype=int)
    np.add.at(table, (found.labels_, y), 1)
    classes = table.argmax(axis=1)
    wrong = float(1 - table.max(axis=1).sum() / len(y))
    missing = float(1 - np.isin(y, classes).mean())
    return {
        "wrong": round(wrong, 4),
        "wrong bound": round(promise.wrong, 4),
        "undiscovered": round(missing, 4),
        "undiscovered bound": round(promise.undiscovered, 4),
        "holds": wrong <= promise.wrong and missing <= promise.undiscovered,
    }


def try_blobs(_: str, error: float, seed: int) -> Record:
    """Return the share of answers that seem to be wrong, and how well labels agree with the truth."""
    X, y = make_blobs(60, seed)
    found = solve(X, samekind.NoisyOracle(y, error=error, seed=seed), 2_000, seed)
    assert found.error_rate_ is not None
    return {
        "estimated": round(found.error_rate_, 4),
        "index": round(adjusted_rand_index(y, found.labels_), 4),
        "holds": found.error_rate_ <= error + RUN_AWAY,
    }


def try_annotators(_: str, __: float, seed: int) -> Record:
    """Return of how many annotators the share of wrong answers is within the interval that is given."""
    X, y = make_blobs(400, seed)
    oracle = samekind.NoisyOracle(y, per_annotator=ANNOTATORS, seed=seed)
    ledger = samekind.Ledger()
    session = samekind.Session(
        X, ledger=ledger, budget=800, error_rate="estimate", goal="labels", random_state=seed
    )
    right = samekind.LabelOracle(y)
    wrong: dict[str, list[bool]] = {name: [] for name in ANNOTATORS}
    while not session.done:
        pairs = session.pending()
        said, truth = oracle(pairs), right(pairs)
        assert oracle.who is not None
        names = np.array(oracle.who)
        for name in dict.fromkeys(oracle.who):
            own = names == name
            wrong[name] += (said[own] != truth[own]).tolist()
            session.tell(pairs[own], said[own], who=name)
    inside = {
        one.name: bool(one.low <= np.mean(wrong[one.name]) <= one.high)
        for one in session.clusters().annotators_
    }
    return {"share of intervals": float(np.mean([*inside.values()])), "holds": all(inside.values())}


TRIALS: dict[str, tuple[Callable[[str, float, int], Record], list[tuple[str, float]]]] = {
    "certificate": (try_certificate, [(name, error) for name in DATA for error in ERRORS]),
    "blobs": (try_blobs, [("blobs", error) for error in BLOB_ERRORS]),
    "annotators": (try_annotators, [("blobs", 0.0)]),
}


def summary(records: list[Record]) -> str:
    """Return in how many runs it held, and the means of all numbers."""
    numbers = [key for key in records[0] if isinstance(records[0][key], float) and key != "error"]
    means = [f"{key} {np.mean([one[key] for one in records]):.3f}" for key in numbers]
    held = f"held in {sum(one['holds'] for one in records)} of {len(records)}"
    return "; ".join([held, *means])


def main() -> None:
    """Run what is not there yet, and print in how many runs it held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--what", choices=TRIALS, default="certificate")
    given = parser.parse_args()
    attempt, settings = TRIALS[given.what]
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    records: list[Record] = [json.loads(line) for line in lines]
    done = {(one["data"], one["error"], one["seed"]) for one in records}
    for seed in range(given.runs):
        for name, error in settings:
            if (name, error, seed) not in done:
                found = attempt(name, error, seed)
                records.append({"data": name, "error": error, "seed": seed} | found)
                with given.out.open("a") as file:
                    file.write(json.dumps(records[-1]) + "\n")
    for name, error in settings:
        own = [one for one in records if (one["data"], one["error"]) == (name, error)]
        if own:
            print(f"{name}, {error:.0%}: {summary(own)}")


if __name__ == "__main__":
    main()
