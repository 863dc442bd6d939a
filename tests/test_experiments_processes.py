"""Experiments in several processes: kills, interruptions, time limits, and peers."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import types
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import psutil
import pytest
from rich.console import Console

from experiments import peer, peers, pool
from experiments.comparison import Comparison
from experiments.design import run_experiment
from experiments.evaluation import majority_clusters
from experiments.page import print_results
from experiments.paper import PaperTables
from experiments.pool import ExperimentError, Task, run_tasks
from experiments.runner import Case, do_runs
from experiments.store import RunStore
from experiments.tables import tables_of
from experiments.truth import Instance

ROOT = Path(__file__).parent.parent
TIMES = ("seconds", "sampling_at")
OPTIONS = {"runs": 6, "n": 20_000, "points": [4_000], "algorithms": ["batched"]}


def saved(folder):
    return RunStore(folder / "runs.jsonl").read()


def start(folder):
    """Start the command, and wait for its first runs."""
    command = "paper synthetic-p0 --runs 6 --n 20000 --points 4000 --algorithms batched --jobs 2"
    # A background shell may have it ignored.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from experiments.cli import main\n"
        "if __name__ == '__main__': raise SystemExit(main())\n"
    )
    (folder / "start.py").write_text(script, encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "start.py", *command.split(), "--out", "."],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not saved(folder):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@pytest.mark.slow
def test_resume_after_kill(tmp_path):
    process = start(tmp_path)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive  # workers do not outlive it
    before, kept = (tmp_path / "runs.jsonl").read_bytes(), saved(tmp_path)
    assert 1 <= len(kept) < 6
    run_experiment(PaperTables(["synthetic-p0"], **OPTIONS), jobs=1, out=tmp_path)
    assert (tmp_path / "runs.jsonl").read_bytes().startswith(before)
    keys = [(r["algorithm"], r["run"]) for r in saved(tmp_path)]
    assert len(keys) == len(set(keys)) == 6  # none was done again
    # Numbers do not depend on the processes; a worker began with run 0, the other one with run 1.
    design = PaperTables(["synthetic-p0"], **OPTIONS | {"runs": 2})
    run_experiment(design, jobs=1, out=tmp_path / "here")
    again = saved(tmp_path / "here")[kept[0]["run"]]
    assert without_times(again) == without_times(kept[0])


def without_times(record):
    return {name: value for name, value in record.items() if name not in TIMES}


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path):
    process = start(tmp_path)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "To go on, run the same command" in said
    assert saved(tmp_path)
    assert not psutil.wait_procs(workers, timeout=10)[1]


@dataclass(frozen=True)
class Stuck:
    """A setup whose runs tell something and never end."""

    n = None
    flag: str

    def as_record(self):
        return {}

    def trace(self, algorithm, data, run, emit):
        Path(self.flag).touch()
        emit({"budget": 100})
        time.sleep(600)


class Broken(Stuck):
    def trace(self, algorithm, data, run, emit):
        raise ZeroDivisionError("in a trace")


def test_a_run_is_ended_when_its_time_is_over(tmp_path, monkeypatch):
    flag, clock = tmp_path / "flag", time.monotonic
    monkeypatch.setattr(pool, "monotonic", lambda: clock() + 10_000 * flag.exists())
    case = Case("digits", "stuck", Stuck(str(flag)), runs=1, limit=1_000)
    [record] = do_runs([case], tmp_path, 1, Console(quiet=True)).records
    assert record["problem"] == "unfinished after 1000 s"
    assert record["reached"] == [{"budget": 100}]
    assert not active_children()


def test_death_of_a_worker_is_explained(tmp_path):
    flag = tmp_path / "flag"

    def kill_one():
        while not flag.exists():
            time.sleep(0.02)
        active_children()[0].kill()

    threading.Thread(target=kill_one).start()
    cases = [Case("digits", "stuck", Stuck(str(flag)), runs=2)]
    with pytest.raises(ExperimentError, match=r"ended from outside \(ended with code -9\)"):
        do_runs(cases, tmp_path, 2, Console(quiet=True))
    assert not active_children()


def test_errors_of_workers_are_raised_here(tmp_path):
    tasks = [Task("digits", 0, {"broken": Broken("")})]
    with pytest.raises(ZeroDivisionError) as caught:
        list(run_tasks(tasks, 2))
    assert "in trace" in caught.value.__notes__[0]  # where it was


# Peers


def test_peers_are_compared_and_kept(tmp_path, monkeypatch):
    found = {"sklearn": True, "samekind": True}
    monkeypatch.setattr(peer, "find_spec", found.get)
    monkeypatch.delenv("SAMEKIND_PEERS", raising=False)
    design = Comparison(["digits"], algorithms=["batched"], runs=1, points=[300, 100])
    assert set(design.skipped) == set(peers.PEERS) - {"KMeans"}
    assert (
        "clone it at b6d700e into the folder that SAMEKIND_PEERS names" in design.skipped["COBRAS"]
    )
    results = run_experiment(design, jobs=2, out=tmp_path)
    before = (tmp_path / "runs.jsonl").read_bytes()
    means = results.summary.set_index(["algorithm", "metric", "at"])["mean"].sort_index()
    assert means["samekind batched", "questions"].tolist() == [100, 300]
    assert means["samekind batched", "ari", 100] < means["samekind batched", "ari", 300]
    assert means["samekind batched", "found", 300] == 10
    assert means["KMeans", "questions", 100] == 0
    assert 0.5 < means["KMeans", "ari", 100] < 0.8
    assert results.details["problems"] == {}
    assert run_experiment(design, jobs=2, out=tmp_path).to_json() == results.to_json()
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    console = Console(width=140, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    print_results(results, console)
    console.file.close()
    assert "pip install 'samekind[peers]' adds it" in console.export_text()  # not taken for markup
    assert "samekind[peers]" in (tmp_path / "peers.html").read_text("utf-8")


def test_what_peers_did_not_reach_is_said():
    design = Comparison(["digits"], algorithms=["batched"], peers=[], runs=2, points=[100, 300])
    reached = {"budget": 100, "questions": 100, "ari": 0.5, "found": 3, "clusters": 4}
    reached |= {"seconds": 1.0, "memory_mb": None}
    record = {"data": "digits", "algorithm": "samekind batched", "setup": {"budgets": [100, 300]}}
    runs = types.SimpleNamespace(
        records=[
            record | {"run": 0, "reached": [reached], "problem": "unfinished after 3 s"},
            record | {"run": 1, "reached": [], "problem": "SystemError: no such thing"},
        ],
        missing={},
    )
    [table] = tables_of(design.results(runs))["digits"]
    assert table.texts.loc["samekind batched"].tolist() == [
        "0.500, 3.0 found (1 of 2)",
        "–",
        "1.0",
        "–",
        "SystemError: no such thing; unfinished after 3 s",
    ]


def test_a_peer_that_fails_says_why(monkeypatch):
    def fail(*_):
        print("noise")
        raise SystemError("no such thing")

    monkeypatch.setitem(peers.PEERS, "KMeans", peer.Peer("", "sklearn", fail))
    data = Instance(np.zeros((4, 2)), np.array([0, 0, 1, 1]))
    said = peers.PeerSetup((100,), 9).trace("KMeans", data, 0, lambda _: None)
    assert said == {"reached": [], "problem": "SystemError: no such thing"}


def test_a_peer_is_not_run_where_it_cannot_end(monkeypatch):
    small = peer.Peer("", "sklearn", pytest.fail, most_rows=3, reason="all pairs")
    monkeypatch.setitem(peers.PEERS, "KMeans", small)
    data = Instance(np.zeros((4, 2)), np.array([0, 0, 1, 1]))
    said = peers.PeerSetup((100,), 9).trace("KMeans", data, 0, lambda _: None)
    assert said == {"reached": [], "problem": "not run on more than 3 rows: all pairs"}


def test_clusters_found_are_majorities():
    codes = np.repeat([0, 1, 2], [5, 3, 1])

    def found(labels):
        return majority_clusters(codes, [np.flatnonzero(np.equal(labels, x)) for x in set(labels)])

    assert found(codes.tolist()) == 3
    assert found([0] * 9) == 1
    assert found([0, 0, 0, 1, 1, 1, 1, 1, 2]) == 3
    assert majority_clusters(codes, []) == 0


def test_a_missing_peer_is_named():
    with pytest.raises(ValueError, match="peers must be among COBRAS, A3S, "):
        Comparison(peers=["DBSCAN"])
    record = peers.PeerSetup((1,), limit=2).as_record()
    assert json.dumps(record)
    assert record == peers.PeerSetup((1,), limit=9).as_record()  # a longer one does nothing again
