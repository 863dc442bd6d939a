"""Studies of what "focused" promises: how tight its bounds are, and what rows do that nobody can tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from experiments.benchmark_data import DATA, choose_data
from experiments.design import check_positive, check_rows, rows_of, skipped
from experiments.metrics import Reading, observations
from experiments.results import Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import summarize
from experiments.trace import Emit, FocusedSetup, Setup, draws_seed
from experiments.truth import Instance
from samekind import UNSURE, Clusters, solve

PROMISED = dict.fromkeys(("digits", "overlapping", "banking77-minilm"), (300, 1000))
"""Questions after which the certificate is held against the truth."""
CERTIFIED = ("wine", "breast-cancer", "overlapping")
TOLERANCE = 0.05
HARD = {"overlapping": 1_000, "breast-cancer": 300, "rare": 600}
"""Questions where a tenth of the rows is too hard to tell."""
HARD_SHARE, NEIGHBOURS = 0.1, 10
READ = ("undiscovered_bound", "wrong_bound", "wrong_share", "holds")


@dataclass(frozen=True)
class CertifiedSetup(Setup):
    """A run of "focused" that stops when its certificate is within a tolerance."""

    tolerance: float

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return how many questions it took, and how much was wrong."""
        started = perf_counter()
        found = solve(
            data.points,
            data.oracle,
            stop="certified",
            tolerance=self.tolerance,
            batch=1,
            random_state=draws_seed(run),
        )
        return {
            "questions": found.n_questions_,
            "stop": found.stop_reason_,
            "wrong": float(_wrong(found, data).mean()),
            "seconds": round(perf_counter() - started, 3),
        }


class Certificates:
    """How tight the certificate is, how often it holds, and what stop="certified" takes."""

    file = "certificate"

    def __init__(
        self, data: Sequence[str] | None = None, *, runs: int = 50, n: int | None = None
    ) -> None:
        self.data = choose_data(data, dict.fromkeys((*PROMISED, *CERTIFIED)))
        self.runs, self.n = check_positive("runs", runs), check_rows(n)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        cases = []
        for name in self.data:
            n, seconds = rows_of(DATA[name], self.n), DATA[name].seconds[1]
            if name in PROMISED:
                setup: Setup = FocusedSetup(PROMISED[name], {"goal": "labels"}, n=n)
                cases.append(Case(name, "focused, goal=labels", setup, self.runs, seconds))
            if name in CERTIFIED:
                setup = CertifiedSetup(TOLERANCE, n=n)
                cases.append(Case(name, "focused, stop=certified", setup, self.runs, seconds))
        return cases

    def results(self, runs: Runs) -> Results:
        """Return a line for each metric."""
        summary = summarize(observations(runs.records, read_promises))
        return Results(self.file, summary, {"runs": self.runs}, skipped(runs))


def read_promises(record: Record) -> Iterator[Reading]:
    """Read bounds and truth after so many questions, or when the certificate was good enough."""
    for look in record.get("looks", ()):
        for metric in READ:
            value = look["wrong" if metric == "wrong_share" else metric]
            yield metric, look["at"], 100.0 * float(value)
    if "looks" not in record:
        tolerance = record["setup"]["tolerance"]
        yield "questions_to_certify", tolerance, record["questions"]
        yield "wrong_share", tolerance, 100.0 * record["wrong"]
        yield "holds", tolerance, 100.0 * (record["wrong"] <= tolerance)


@dataclass(frozen=True)
class HardRowsSetup(Setup):
    """A run of "focused" where nobody can tell the rows whose neighbours are most mixed, and one without."""

    budget: int

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return the true clusters found by both, the rows given up, and whether the certificate holds."""
        started = perf_counter()
        hard = hard_rows(data)

        def oracle(pairs: NDArray[np.intp]) -> NDArray[np.int8]:
            answers = data.oracle(pairs)
            answers[hard[pairs].any(axis=1)] = UNSURE
            return answers

        found, without = (
            solve(
                data.points,
                who,
                budget=self.budget,
                batch=1,
                random_state=draws_seed(run),
            )
            for who in (oracle, data.oracle)
        )
        promise, codes = found.certificate_, np.unique(data.true_clusters(found))
        assert promise is not None
        decided = np.ones(len(data.codes), dtype=bool)
        decided[found.given_up_] = False
        wrong = float((_wrong(found, data) & decided).mean())
        missing = float(1 - data.sizes[codes].sum() / len(data.codes))
        return {
            "questions": found.n_questions_,
            "found": len(codes),
            "found_without": len(np.unique(data.true_clusters(without))),
            "given_up": len(found.given_up_),
            "hard": int(hard.sum()),
            "stated": promise.n_undecided == len(found.given_up_),
            "wrong": wrong,
            "wrong_bound": promise.wrong,
            "holds": wrong <= promise.wrong and missing <= promise.undiscovered,
            "seconds": round(perf_counter() - started, 3),
        }


class HardRows:
    """What becomes of a run if nobody can tell a tenth of the rows."""

    file = "unsure"

    def __init__(
        self, data: Sequence[str] | None = None, *, runs: int = 20, n: int | None = None
    ) -> None:
        self.data = choose_data(data, HARD)
        self.runs, self.n = check_positive("runs", runs), check_rows(n)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        cases = []
        for name in self.data:
            n, seconds = rows_of(DATA[name], self.n), DATA[name].seconds[1]
            cases.append(
                Case(name, "focused", HardRowsSetup(HARD[name], n=n), self.runs, 2 * seconds)
            )
        return cases

    def results(self, runs: Runs) -> Results:
        """Return a line for each metric."""
        summary = summarize(observations(runs.records, read_hard_rows))
        return Results(self.file, summary, {"runs": self.runs}, skipped(runs))


def read_hard_rows(record: Record) -> Iterator[Reading]:
    """Read what was found, given up and promised."""
    at = HARD_SHARE
    yield "found", at, record["found"]
    yield "found_without", at, record["found_without"]
    yield "as_many_found", at, 100.0 * (record["found"] >= 0.95 * record["found_without"])
    yield "given_up", at, 100.0 * record["given_up"] / record["hard"]
    yield "wrong_bound", at, 100.0 * record["wrong_bound"]
    yield "wrong_share", at, 100.0 * record["wrong"]
    yield "holds", at, 100.0 * (record["holds"] and record["stated"])


def hard_rows(data: Instance) -> NDArray[np.bool_]:
    """Return the tenth of the rows whose ten nearest ones are of most different clusters, by entropy."""
    nearest = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(data.X)
    codes = data.codes[nearest.kneighbors(data.X, return_distance=False)[:, 1:]]
    counts = np.array([np.bincount(row, minlength=data.n_clusters) for row in codes])
    shares = np.where(counts > 0, counts, 1) / NEIGHBOURS
    entropy = -(np.where(counts > 0, shares, 1.0) * np.log(np.where(counts > 0, shares, 1.0))).sum(
        1
    )
    hard = np.zeros(len(codes), dtype=bool)
    hard[np.argsort(-entropy, kind="stable")[: int(HARD_SHARE * len(codes))]] = True
    return hard


def _wrong(clusters: Clusters, data: Instance) -> NDArray[np.bool_]:
    """Return for each row whether its label is wrong, or it has none."""
    codes = np.append(data.true_clusters(clusters), -1)
    wrong: NDArray[np.bool_] = codes[clusters.labels_] != data.codes
    return wrong
