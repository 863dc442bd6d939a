"""COBRAS, the nearest other package: the same questions' number, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.ratios import MANY, Ratio, Setting, SkippedError
from benchmarks.ratios.process import Outcome, run_watched

__all__ = ["against_cobras"]

LIMIT = 300.0  # seconds
QUESTIONS = 300


def against_cobras(setting: Setting) -> Iterator[Ratio]:
    """Seconds and memory of both, from the array in memory to the labels of all rows.

    Memory is the most that the process had above what it had with the data in it. Loading of compiled code
    is in our time.
    """
    python = _python_with_cobras(setting)
    n = setting.rows(10**6, MANY)
    _run(sys.executable, "samekind focused", MANY)  # compiles
    ours = _reached(_run(sys.executable, "samekind focused", n))
    outcome = _run(python, "COBRAS", n)
    theirs = _reached(outcome) if not outcome.unfinished else {"seconds": LIMIT}
    at_least = "more than " if outcome.unfinished else ""
    what = f"focused, {QUESTIONS} questions, {n:,} x 10, 30 clusters / COBRAS"
    yield Ratio(
        f"{what}: time",
        f"{ours['seconds']:.2f} s / {at_least}{theirs['seconds']:.1f} s"
        f"; ARI {ours['ari']:.2f} / {theirs.get('ari', float('nan')):.2f}",
        ours["seconds"] / theirs["seconds"],
        1 / 20,
    )
    if outcome.unfinished:
        return
    mine, peers = ours["memory_mb"], theirs["memory_mb"]
    yield Ratio(f"{what}: peak memory", f"{mine:.0f} MB / {peers:.0f} MB", mine / peers, 1.0)


def _python_with_cobras(setting: Setting) -> str:
    python = setting.peer_python or sys.executable
    known = subprocess.run([python, "-c", "import cobras_ts"], capture_output=True, check=False)
    if known.returncode:
        raise SkippedError(
            f"{python} has no cobras_ts. Name a Python that has it with --peer-python or "
            "SAMEKIND_PEER_PYTHON; pip install 'samekind[peers]' adds it."
        )
    return python


def _run(python: str, peer: str, n: int) -> Outcome:
    return run_watched([python, "-m", "benchmarks.ratios.cobras", peer, str(n)], LIMIT)


def _reached(outcome: Outcome) -> dict[str, Any]:
    if outcome.complaint or not outcome.lines:
        raise SkippedError(outcome.complaint or "the process said nothing")
    if "failed" in outcome.lines[-1]:
        raise SkippedError(outcome.lines[-1]["failed"])
    return outcome.lines[-1]


def main(peer: str, n: str) -> None:
    """Run one of the two, as `python -m experiments peers` does, but on more rows."""
    from experiments.benchmark_data import DATA
    from experiments.peers import PeerSetup
    from experiments.truth import Instance

    data = Instance(*DATA["mixture-1"].load(0, int(n)))
    said = PeerSetup((QUESTIONS,), int(LIMIT)).trace(peer, data, 0, lambda _: None)
    for line in said["reached"]:
        print(json.dumps(line), flush=True)
    if said["problem"]:
        print(json.dumps({"failed": said["problem"]}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
