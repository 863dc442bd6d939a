"""How often the certificate holds when answers are wrong, on digits and a mixture.

``python -m experiments.noisy_promises --runs 200 --out promises.jsonl`` appends a line of JSON for each run,
and skips the runs that the file has: it can be stopped and started again. Without ``--runs`` it sums up.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import samekind
from experiments.small_data import make_overlapping

DATA = {"digits": 500, "overlapping": 600}  # questions
ERRORS = (0.05, 0.1)
N_ROWS, N_CLUSTERS = 2_000, 12


def load(name: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a data set; each seed has a mixture of its own."""
    if name == "digits":
        X, y = samekind.datasets.load_digits(return_X_y=True)
        return X, y
    return make_overlapping(N_ROWS, N_CLUSTERS, seed)


def run(name: str, error: float, seed: int) -> dict[str, object]:
    """Return what is promised after a run, and what is true.

    A label is wrong if its row is of another class than most of its cluster; a class is not found if it is
    most of no cluster.
    """
    X, y = load(name, seed)
    oracle = samekind.NoisyOracle(y, error=error, seed=seed)
    found = samekind.solve(
        X,
        oracle,
        budget=DATA[name],
        goal="labels",
        error_rate="estimate",
        batch="auto",
        random_state=seed,
    )
    promise = found.certificate_
    assert promise is not None
    table = np.zeros((found.labels_.max() + 1, y.max() + 1), dtype=int)
    np.add.at(table, (found.labels_, y), 1)
    classes = table.argmax(axis=1)
    wrong = float(1 - table.max(axis=1).sum() / len(y))
    missing = float(1 - np.isin(y, classes).mean())
    return {
        "data": name,
        "error": error,
        "seed": seed,
        "wrong": round(wrong, 4),
        "wrong bound": round(promise.wrong, 4),
        "undiscovered": round(missing, 4),
        "undiscovered bound": round(promise.undiscovered, 4),
        "holds": wrong <= promise.wrong and missing <= promise.undiscovered,
    }


def main() -> None:
    """Run what is not there yet, and print in how many runs the bounds held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    done = {(one["data"], one["error"], one["seed"]) for one in records}
    for seed in range(given.runs):
        for name in DATA:
            for error in ERRORS:
                if (name, error, seed) not in done:
                    records.append(run(name, error, seed))
                    with given.out.open("a") as file:
                        file.write(json.dumps(records[-1]) + "\n")
    for name in DATA:
        for error in ERRORS:
            own = [one for one in records if (one["data"], one["error"]) == (name, error)]
            if own:
                means = [np.mean([one[key] for one in own]) for key in ("wrong bound", "wrong")]
                held = f"held in {sum(one['holds'] for one in own)} of {len(own)}"
                print(
                    f"{name}, {error:.0%}: {held}; wrong: bound {means[0]:.3f}, true {means[1]:.3f}"
                )


if __name__ == "__main__":
    main()
