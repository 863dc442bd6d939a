"""Runs with a model that are killed at random moments, each in a process that is forked when all is warm."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

import numpy as np

import samekind


def blobs(n=400, k=8):
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    return rng.normal(size=(n, 2)) + 12 * np.column_stack([y % 3, y // 3]), y


def run(url, path):
    X, y = blobs()
    texts = [f"{label}: item {row}" for row, label in enumerate(y.tolist())]
    oracle = samekind.ChatOracle(
        texts, model="m", url=url, criterion="c", in_flight=4, per_call=3, timeout=10.0
    )
    found = samekind.solve(X, oracle, ledger=path, random_state=0, budget=500, batch=8)
    print(json.dumps(found.labels_.tolist()))


def known(path):
    if not os.path.exists(path):
        return []
    with samekind.Ledger(path, read_only=True) as ledger:
        return [
            sorted(pair) for pair in zip(*(ledger.active()[c].tolist() for c in "ab"), strict=True)
        ]


def main(url, path, kills):
    X, y = blobs()
    samekind.solve(X, samekind.LabelOracle(y), random_state=0, budget=60, error_rate="estimate")
    rng = random.Random(1)
    for _ in range(int(kills)):
        pid = os.fork()
        if pid == 0:
            run(url, path)
            os._exit(0)
        time.sleep(rng.uniform(0.05, 0.5))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        print(json.dumps({"at": time.time(), "known": known(path)}))
    run(url, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
