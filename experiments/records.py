"""Records that may be duplicates: ours, five orderings of the literature, and two packages, side by side.

Each run answers from the true entities. The packages run in a Python of their own (`peer_python`): dedupe
chooses and learns from as many answers as ours has; Splink asks nothing. Each run of ours has the records of
a real set in an order of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from experiments.baselines import CROWD_ORDERS
from experiments.record_data import REAL, RECORD_SETS, RecordSet, load_records
from samekind import LabelOracle, NoisyOracle, Session
from samekind.flow import DIFFERENT, Oracle, Reply, drive

__all__ = ["compare_records", "main", "pair_scores", "questions_to_prove"]

OURS = "records"
PEERS = ("dedupe", "splink")
MARKS = (10, 100, 300, 1_000)
PEER_ANSWERS = (100, 300)
WRONG = 0.05
LONGEST = 600  # seconds, of a peer,
MOST_MEMORY = 8  # and gigabytes
SCRIPT = Path(__file__).with_name("record_peers.py")


@dataclass(frozen=True)
class Line:
    """What one run had reached after so many questions."""

    data: str
    algorithm: str
    seed: int
    wrong_answers: float
    questions: int
    precision: float
    recall: float
    pair_f1: float
    cluster_f1: float
    different: int
    seconds: float
    memory_mb: float
    precision_bound: float = np.nan
    recall_bound: float = np.nan
    precision_holds: float = np.nan
    """Whether the certificate's bound is true; not a number where nothing is promised yet."""
    recall_holds: float = np.nan


def pair_scores(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return precision, recall and F1 of the pairs in one entity, and F1 of whole entities.

    Examples
    --------
    >>> pair_scores(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))["recall"]
    0.5
    """
    both = np.unique(np.column_stack([y, labels]), axis=0, return_counts=True)
    right, true, found = (_pairs(sizes) for sizes in (both[1], _sizes(y), _sizes(labels)))
    size_of = dict(zip(*np.unique(y, return_counts=True), strict=True))
    found_size = dict(zip(*np.unique(labels, return_counts=True), strict=True))
    whole = sum(
        size == size_of[entity] == found_size[label]
        for (entity, label), size in zip(both[0].tolist(), both[1].tolist(), strict=True)
    )
    return {
        "precision": right / found if found else 1.0,
        "recall": right / true if true else 1.0,
        "pair_f1": 2 * right / (found + true) if found + true else 1.0,
        "cluster_f1": 2 * whole / (len(size_of) + len(found_size)),
    }


def _sizes(labels: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(labels, return_counts=True)[1])


def _pairs(sizes: np.ndarray) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def run_ours(
    data: RecordSet, seed: int, wrong: float, marks: Sequence[int] = MARKS
) -> Iterator[Line]:
    """Run `records`, one question at a time; return a line at each mark. It is not told how many err."""
    oracle = _oracle(data, wrong, seed)
    options: dict[str, Any] = {"error_rate": "estimate"} if wrong else {}
    started, spent, different = perf_counter(), 0.0, 0
    session = Session(data.points, OURS, random_state=seed, budget=max(marks), **options)
    while not session.done:
        pairs = session.pending()
        answers = oracle(pairs)
        different += int((answers == DIFFERENT).sum())
        session.tell(pairs, answers)
        if session.n_questions in marks or session.done:
            looked = perf_counter()
            found = session.clusters()
            yield Line(
                data.name,
                OURS,
                seed,
                wrong,
                session.n_questions,
                **pair_scores(data.y, found.labels_),
                different=different,
                seconds=looked - started - spent,
                memory_mb=getrusage(RUSAGE_SELF).ru_maxrss / 1024,
                **_promises(data, found),
            )
            spent += perf_counter() - looked


def run_crowd(
    data: RecordSet, algorithm: str, seed: int, wrong: float, marks: Sequence[int] = MARKS
) -> Iterator[Line]:
    """Run a published order of pairs; return a line at each mark."""
    oracle = _oracle(data, wrong, seed)
    options: dict[str, Any] = {"error_rate": wrong} if wrong and algorithm == "crowd-noisy" else {}
    started, spent, different = perf_counter(), 0.0, 0
    order = CROWD_ORDERS[algorithm](data.points, np.random.default_rng(seed), **options)
    flow = order.run()
    pairs = next(flow, None)
    n_questions = 0
    while pairs is not None and n_questions < max(marks):
        answers = oracle(pairs)
        different += int((answers == DIFFERENT).sum())
        n_questions += len(pairs)
        try:
            pairs = flow.send(Reply(answers))
        except StopIteration:
            pairs = None
        if n_questions in marks or pairs is None:
            looked = perf_counter()
            yield Line(
                data.name,
                algorithm,
                seed,
                wrong,
                n_questions,
                **pair_scores(data.y, order.entities()),
                different=different,
                seconds=looked - started - spent,
                memory_mb=getrusage(RUSAGE_SELF).ru_maxrss / 1024,
            )
            spent += perf_counter() - looked


def _oracle(data: RecordSet, wrong: float, seed: int) -> Oracle:
    return NoisyOracle(data.y, wrong, seed=seed) if wrong else LabelOracle(data.y)


def _promises(data: RecordSet, found: Any) -> dict[str, float]:
    """Return the certificate's bounds, and whether they are true; recall is that of the candidate pairs."""
    promise = found.certificate_
    if not promise.n_audited and promise.confidence < 1:
        return {}
    a, b = data.points.candidates.pairs.T
    matches = data.y[a] == data.y[b]
    together = found.labels_[a] == found.labels_[b]
    recall = (together & matches).sum() / max(1, matches.sum())
    precision = pair_scores(data.y, found.labels_)["precision"]
    return {
        "precision_bound": promise.precision,
        "recall_bound": promise.recall,
        "precision_holds": float(precision >= promise.precision - 1e-12),
        "recall_holds": float(recall >= promise.recall - 1e-12),
    }


def run_peer(data: RecordSet, peer: str, seed: int, answers: int, python: str) -> Line | None:
    """Run a package in its own Python; None if it did not come to an end."""
    with TemporaryDirectory() as folder:
        files = []
        for place, frame in enumerate(data.frames):
            files.append(f"{folder}/{place}.csv")
            frame.to_csv(files[-1], index=False)
        job, out = Path(folder) / "job.json", Path(folder) / "out.json"
        entities = np.unique(data.y, return_inverse=True)[1].tolist()
        given = {"files": files, "entities": entities, "answers": answers, "seed": seed}
        job.write_text(json.dumps(given | {"memory_gb": MOST_MEMORY, "out": str(out)}))
        command = [python, str(SCRIPT), peer, str(job)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{peer} took longer than {LONGEST} s on {data.name}.", file=sys.stderr)
            return None
        if done.returncode:
            print(f"{peer} failed on {data.name}: {done.stderr[-500:]}", file=sys.stderr)
            return None
        found = json.loads(out.read_text())
    return Line(
        data.name,
        peer,
        seed,
        0.0,
        answers,
        **pair_scores(data.y, np.array(found["labels"])),
        different=0,
        seconds=found["seconds"],
        memory_mb=found["memory_mb"],
    )


def questions_to_prove(data: RecordSet, algorithm: str, seed: int = 0) -> int:
    """Return how many questions it takes until every candidate pair is known."""
    oracle = LabelOracle(data.y)
    if algorithm != OURS:
        order = CROWD_ORDERS[algorithm](data.points, np.random.default_rng(seed))
        drive(order.run(), oracle)
        return len(order.answers.given)
    session = Session(data.points, OURS, random_state=seed, batch="auto")
    while not session.done:
        session.answer_all(oracle(session.pending()))
    return session.n_questions


def compare_records(
    data: Sequence[str] | None = None,
    *,
    runs: int = 10,
    algorithms: Sequence[str] | None = None,
    errors: Sequence[float] = (0.0, WRONG),
    peer_python: str | None = None,
) -> pd.DataFrame:
    """Return a line for each set, algorithm, seed and number of questions."""
    names = list(data or RECORD_SETS)
    unknown = set(names) - set(RECORD_SETS)
    if unknown:
        raise ValueError(f"there is no set {min(unknown)!r}; these are: {', '.join(RECORD_SETS)}.")
    lines: list[Line] = []
    for name in names:
        for algorithm in algorithms or (OURS, *CROWD_ORDERS, *PEERS):
            for seed in range(runs):
                records = load_records(name, seed if name in REAL else 0)
                if algorithm not in PEERS:
                    for wrong in errors:
                        lines += (
                            run_ours(records, seed, wrong)
                            if algorithm == OURS
                            else run_crowd(records, algorithm, seed, wrong)
                        )
                elif peer_python is not None:
                    for answers in PEER_ANSWERS if algorithm == "dedupe" else (0,):
                        found = run_peer(records, algorithm, seed, answers, peer_python)
                        lines += [found] if found is not None else []
                if algorithm != OURS:
                    break  # others leave nothing to chance, or take minutes
            print(f"{name}: {algorithm}", file=sys.stderr)
    return pd.DataFrame([asdict(line) for line in lines])


def main(
    data: Sequence[str] | None,
    runs: int,
    algorithms: Sequence[str] | None = None,
    peer_python: str | None = None,
    json_file: Path | None = None,
) -> None:
    """Print the means, and the questions that it takes to prove all entities."""
    found = compare_records(data, runs=runs, algorithms=algorithms, peer_python=peer_python)
    by = ["data", "wrong_answers", "algorithm", "questions"]
    means = found.groupby(by, sort=False).mean(numeric_only=True).drop(columns="seed")
    proofs = [
        {
            "data": name,
            "algorithm": algorithm,
            "questions": questions_to_prove(load_records(name), algorithm),
        }
        for name in (data or RECORD_SETS)
        for algorithm in algorithms or (OURS, *CROWD_ORDERS)
        if algorithm not in (*PEERS, "crowd-noisy")
    ]
    with pd.option_context(
        "display.width", 160, "display.max_rows", None, "display.max_columns", None
    ):
        print(means.round(4).to_string())
        if proofs:
            print("\nQuestions until every candidate pair is known")
            table = pd.DataFrame(proofs)
            print(table.pivot(index="data", columns="algorithm", values="questions").to_string())
    if json_file is not None:
        lines = {"lines": found.to_dict("records"), "proofs": proofs}
        json_file.write_text(json.dumps(lines, indent=1, default=str))
