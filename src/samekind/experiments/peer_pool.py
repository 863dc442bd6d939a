"""Peers in processes of their own, which are ended when their time is over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from samekind.experiments.progress import meter
from samekind.experiments.store import RunStore

__all__ = ["PeerRun", "key_of", "run_all"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class PeerRun:
    """A run of one peer on one data set."""

    peer: str
    data: str
    seed: int
    setup: dict[str, Any] = field(hash=False)

    @property
    def key(self) -> str:
        """What tells it from all other runs."""
        return key_of(vars(self))


def key_of(record: dict[str, Any]) -> str:
    """Return what tells a saved run from all others."""
    return json.dumps([record.get(name) for name in ("peer", "data", "seed", "setup")])


def run_all(runs: Sequence[PeerRun], jobs: int, store: RunStore, chat: Console) -> None:
    """Do the runs, `jobs` at a time, and save each when it is finished."""
    if not runs:
        return
    processes: set[subprocess.Popen[bytes]] = set()
    stopped = threading.Event()
    with (
        meter(chat, len(runs), float(len(runs))) as shown,
        ThreadPoolExecutor(min(jobs, len(runs))) as pool,
    ):
        try:
            futures = {pool.submit(_in_process, run, processes, stopped): run for run in runs}
            for future in as_completed(futures):
                store.append(future.result())
                shown.add(1, 1.0, futures[future].peer)
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(processes):
                process.kill()
            raise


def _in_process(
    run: PeerRun, processes: set[subprocess.Popen[bytes]], stopped: threading.Event
) -> dict[str, Any]:
    """Run a peer in a process of its own, and end it when its time is over."""
    limit = run.setup["limit"]
    command = [sys.executable, "-m", "samekind.experiments.peer_process"]
    command += [run.peer, run.data, str(run.seed), json.dumps(run.setup["budgets"]), str(limit)]
    one_thread = dict.fromkeys(THREADS, "1")
    failed = unfinished = ""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        if stopped.is_set():
            return {}
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, env=os.environ | one_thread
        )
        processes.add(process)
        if stopped.is_set():  # meanwhile
            process.kill()
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            unfinished = f"unfinished after {limit} s"
        finally:
            process.kill()
            process.wait()
            processes.discard(process)
        output.seek(0)
        lines = []
        for line in output.read().splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:  # cut off in the middle
                continue
        if process.returncode and not unfinished:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            failed = said[-1][:200] if said else f"ended with code {process.returncode}"
    for line in lines:
        failed = line.get("failed", failed)
    return {
        **vars(run),
        "reached": [line for line in lines if "budget" in line],
        "unfinished": unfinished,
        "failed": failed,
    }
