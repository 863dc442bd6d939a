"""Run our algorithms and their peers side by side, each in a process with a time limit.

The structure of ``peers.json``::

    format, made_by, machine   as in results.json
    budgets    the columns
    limit      seconds after which a peer is ended
    skipped    {peer: why it was left out}
    datasets   {name: {title, rows: {peer: {remark, cells, unfinished, failed}}}}

    cell       budget; runs, reached (how many got there in time); ari, found, clusters, seconds, memory_mb
               and questions, each with mean, low, high and median over those that did; clusters counts those
               that a peer made, found the true ones that are the majority of some of them; memory is above
               what the data and Python take
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from samekind import __version__
from samekind._validation import check_choice, check_positive_int
from samekind.algorithms import ALGORITHMS
from samekind.experiments.files import write_json, write_text
from samekind.experiments.peer_page import peer_page
from samekind.experiments.peer_pool import PeerRun, key_of, run_all
from samekind.experiments.peers import PEERS, find_peer
from samekind.experiments.statistics import summarize
from samekind.experiments.store import RunStore
from samekind.experiments.summary import environment
from samekind.points.threads import available_threads

__all__ = ["BUDGETS", "TITLES", "run_peers"]

BUDGETS = (100, 300, 1_000, 3_000)
TITLES = {
    "digits": "Digits (1,797 x 64, 10 kinds)",
    "mixture": "Mixture (20,000 x 10, 30 kinds, sizes by rank)",
}
COUNTED = ("ari", "found", "clusters", "seconds", "memory_mb", "questions")


def run_peers(
    *,
    runs: int = 3,
    jobs: int | None = None,
    algorithms: Sequence[str] | None = None,
    points: Iterable[int] | None = None,
    limit: int = 300,
    data: Sequence[str] = tuple(TITLES),
    peers: Sequence[str] = tuple(PEERS),
    out: str | Path = "samekind-bench",
    json_file: str | Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Compare our algorithms with their peers, and return the tables.

    A peer that is not installed is left out, with the reason. Finished runs are kept in ``peers.jsonl``
    of the folder `out`, and are not repeated.

    Parameters
    ----------
    runs : int
        Runs of each; run i has seed i.
    jobs : int or None
        Processes at the same time; None takes one for each core.
    algorithms : sequence of str or None
        Ours; by default "focused", where there is one, and "batched".
    points : iterable of int or None
        Numbers of questions to compare at; by default 100, 300, 1,000 and 3,000.
    limit : int
        Seconds after which a run is ended; what it had reached by then counts.
    data : sequence of str
        "digits", "mixture" or both.
    peers : sequence of str
        "COBRAS", "PCKMeans" and "KMeans", or some of them.
    out, json_file, console
        As for `run_bench`; the files are ``peers.json`` and ``peers.html``.

    Returns
    -------
    dict
        What is in ``peers.json``; :mod:`samekind.experiments.peer_bench` describes it.
    """
    check_positive_int("runs", runs)
    check_positive_int("limit", limit)
    workers = available_threads() if jobs is None else check_positive_int("jobs", jobs)
    ours = (
        [a for a in ("focused", "batched") if a in ALGORITHMS] if algorithms is None else algorithms
    )
    for name in ours:
        check_choice("algorithms", name, tuple(ALGORITHMS))
    for name in peers:
        check_choice("peers", name, tuple(PEERS))
    for name in data:
        check_choice("data", name, tuple(TITLES))
    budgets = sorted({check_positive_int("points", p) for p in (points or BUDGETS)})
    chat = Console(quiet=True) if console is None else console

    names = [*(f"samekind {name}" for name in ours), *peers]
    skipped = {name: why for name in names if (why := find_peer(name).missing())}
    for name, why in skipped.items():
        chat.print(f"{name} is left out: {why}.", markup=False, soft_wrap=True)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    store = RunStore(folder / "peers.jsonl")
    store.mend()
    setup = {"samekind": __version__, "budgets": budgets, "limit": limit}
    wanted = [
        PeerRun(name, one, seed, setup)
        for one in data
        for name in names
        if name not in skipped
        for seed in range(runs)
    ]
    known = {key_of(record) for record in store.read()}
    run_all([run for run in wanted if run.key not in known], workers, store, chat)

    records = {key_of(record): record for record in store.read()}
    results = {
        "format": 1,
        **environment(),
        "budgets": budgets,
        "limit": limit,
        "skipped": skipped,
        "datasets": {
            one: {
                "title": TITLES[one],
                "rows": {
                    name: _row(
                        name, [records[r.key] for r in wanted if (r.peer, r.data) == (name, one)]
                    )
                    for name in names
                    if name not in skipped
                },
            }
            for one in data
        },
    }
    write_json(folder / "peers.json", results)
    if json_file is not None:
        write_json(Path(json_file), results)
    write_text(folder / "peers.html", peer_page(results))
    return results


def _row(name: str, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    cells = []
    for budget in records[0]["setup"]["budgets"] if records else []:
        there = [r for record in records for r in record["reached"] if r["budget"] == budget]
        cell: dict[str, Any] = {"budget": budget, "runs": len(records), "reached": len(there)}
        for what in COUNTED:
            values = [float(r[what]) for r in there if r[what] is not None]
            cell[what] = {k: v for k, v in summarize(values).items() if k != "runs"}
        cells.append(cell)
    return {
        "remark": find_peer(name).remark,
        "cells": cells,
        "unfinished": sorted({record["unfinished"] for record in records} - {""}),
        "failed": sorted({record["failed"] for record in records} - {""}),
    }
