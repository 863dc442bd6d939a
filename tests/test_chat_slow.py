"""Models that answer, at length: killed at random moments, and many calls at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from samekind import ChatOracle, Ledger

HERE = Path(__file__).parent
KILLS = 50
pytestmark = pytest.mark.slow


@contextmanager
def server(**settings):
    """Run the server in a process of its own; yield its address."""
    command = [sys.executable, HERE / "chat_server.py", json.dumps(settings)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def killed(url, path, kills):
    quiet = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, HERE / "chat_killed.py", url, path, str(kills)],
        env=os.environ | quiet,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def asked(call):
    """Return the pairs of a call, by the numbers in the texts of its items."""
    rows = [int(re.search(r"item (\d+)", text)[1]) for text in call["texts"]]
    return [tuple(sorted((rows[0], row))) for row in rows[1:]]


def test_killed_at_random_moments_pays_for_nothing_twice(tmp_path):
    log = tmp_path / "calls.jsonl"
    faults = {"500": 0.03, "cut": 0.03, "malformed": 0.03}
    with server(delay=0.005, log=str(log), faults=faults) as url:
        *moments, labels = killed(url, str(tmp_path / "killed.db"), KILLS)
        calls = [json.loads(line) for line in log.read_text().splitlines()]
        [undisturbed] = killed(url, str(tmp_path / "calm.db"), 0)
    assert len(moments) == KILLS
    assert labels == undisturbed  # nothing was lost
    paid = [
        (call["at"], pair)
        for call in calls
        if call["outcome"] == "answered"
        for pair in asked(call)
    ]
    for moment in moments:  # what is in the ledger is never asked about again
        kept = {tuple(pair) for pair in moment["known"]}
        assert not [pair for at, pair in paid if at > moment["at"] and pair in kept]
    again = len(paid) - len({pair for _, pair in paid})
    assert again <= 4 * 3 * KILLS  # at most what was in flight when the process died
    with Ledger(tmp_path / "killed.db", read_only=True) as ledger:
        truth = [(int(a % 8 == b % 8)) for a, b in ledger.active()[["a", "b"]].tolist()]
        said = ledger.active()["answer"].tolist()
        skipped = len(ledger.log.skipped())
    assert sum(one != other for one, other in zip(truth, said, strict=True)) == skipped


def test_calls_cost_little_time_of_ours(tmp_path):
    n = 2_000
    texts = [f"{row % 7}: item {row}" for row in range(n + 1)]
    pairs = np.array([[row, row + 1] for row in range(n)])
    with server(delay=0.01) as url, Ledger(tmp_path / "p.db") as ledger:
        oracle = ChatOracle(
            texts, model="m", url=url, criterion="c", in_flight=16, per_call=1, price=(1.0, 1.0)
        )
        began, wall = time.process_time(), time.perf_counter()
        for heard in oracle.stream(pairs):
            with ledger.transaction():
                ledger.record(heard.pairs, heard.answers, who=oracle.name)
                ledger.set("spent", oracle.spending_text())
        oracle.close()
        used = time.process_time() - began
    assert len(ledger) == n
    assert oracle.spent.calls == n
    print(f"{used:.2f} s of CPU, {time.perf_counter() - wall:.1f} s in all")
    assert used <= n / 200
