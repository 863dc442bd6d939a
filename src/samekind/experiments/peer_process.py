"""One peer in a process of its own.

``python -m samekind.experiments.peer_process PEER DATA SEED BUDGETS LIMIT``

Prints a line of JSON at every budget, so that what was reached is known when the process is ended. It ends
itself when the limit (in seconds) is long past and nobody has ended it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.datasets import load_digits, make_synthetic
from samekind.experiments.peers import find_peer
from samekind.measures import adjusted_rand_index

__all__ = ["PEER_DATA", "clusters_found", "main"]


GRACE = 30.0  # seconds


def _mixture(seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = make_synthetic(20_000, n_clusters=30, alpha=1.0, random_state=seed)
    return X, y


def _digits(seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float64), y


PEER_DATA: dict[str, Callable[[int], tuple[NDArray[Any], NDArray[Any]]]] = {
    "digits": _digits,
    "mixture": _mixture,
}


def clusters_found(y: NDArray[Any], labels: ArrayLike) -> int:
    """Return how many true clusters are the majority of at least one cluster that was found.

    Examples
    --------
    >>> clusters_found(np.array([0, 0, 0, 1, 2, 2]), [5, 5, 6, 6, 6, 6])
    2
    """
    given = np.asarray(labels)
    kinds, codes = np.unique(y, return_inverse=True)
    groups, places = np.unique(given, return_inverse=True)
    counts = np.zeros((len(groups), len(kinds)), dtype=np.intp)
    np.add.at(counts, (places, codes), 1)
    return len(np.unique(counts[groups >= 0].argmax(axis=1)))


def peak_memory() -> float | None:
    """Return the most memory that this process had so far, in MB; None where it cannot be known."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def main(arguments: list[str]) -> None:
    """Run a peer and print what it reached."""
    name, data, seed, budgets, limit = arguments
    watch = threading.Timer(float(limit) + GRACE, os._exit, (1,))
    watch.daemon = True
    watch.start()
    X, y = PEER_DATA[data](int(seed))
    peer = find_peer(name)
    out = sys.stdout
    before = peak_memory()
    started = perf_counter()
    spent = 0.0  # in measuring, which is not the peer's

    def report(budget: int, questions: int, labels: ArrayLike) -> None:
        nonlocal spent
        seconds = perf_counter() - started - spent
        peak = peak_memory()
        reached = {
            "budget": budget,
            "questions": questions,
            "ari": round(adjusted_rand_index(y, np.asarray(labels)), 6),
            "found": clusters_found(y, labels),
            "clusters": len(np.unique(np.asarray(labels))),
            "seconds": round(seconds, 3),
            "memory_mb": None if peak is None or before is None else round(peak - before, 1),
        }
        print(json.dumps(reached), file=out, flush=True)
        spent = perf_counter() - started - seconds

    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            peer.run(X, y, json.loads(budgets), int(seed), report)
    except Exception as error:  # whatever a peer does, the others go on
        print(
            json.dumps({"failed": f"{type(error).__name__}: {error}"[:200]}), file=out, flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
