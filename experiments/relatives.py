"""Other algorithms that ask same-cluster questions, beside ours, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import (
    FoundClusters,
    accurate_kmeans,
    ellipsoids,
    gamma_margin,
    kwikbucks,
    noisy_queries,
    pivot_queries,
    query_kmeans,
    sampled_correlation,
    side_information,
)
from experiments.benchmark_data import choose_data
from experiments.design import check_positive, skipped
from experiments.metrics import observations, read_relative
from experiments.peers import OURS
from experiments.results import Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import summarize
from experiments.trace import Emit, Setup, draws_seed
from experiments.truth import Instance
from samekind import Session
from samekind.flow import Flow, drive

RELATIVE_DATA = ("synthetic-small", "shuttle-small", "digits", "mixture-small")
MOST_QUESTIONS = {"focused": 1_000}  # of ours; the others stop by themselves, or here:
CAP = 20_000
PAIRS_LOOKED_AT = 20_000  # to tell near pairs from far ones


class Rows(NamedTuple):
    """What a relative is given."""

    X: NDArray[np.float64]
    k: int
    rng: np.random.Generator


RELATIVES: dict[str, tuple[str, Callable[[Rows], Flow[FoundClusters]]]] = {
    "AKB16": (
        "γ-margin; told K; γ = 2",
        lambda r: gamma_margin(r.X, r.k, r.rng),
    ),
    "ABJK18": (
        "told K; 20 K draws and 11 uniform samples a centre, not its theorem's 2¹²K³/ε²",
        lambda r: query_kmeans(r.X, r.k, r.rng, n_draws=20 * r.k, n_uniform=11),
    ),
    "GHS18": (
        "told K; 5 rows a ring, not its theorem's",
        lambda r: accurate_kmeans(r.X, r.k, r.rng, per_ring=5),
    ),
    "BCLP20": ("ellipsoids; γ = 1", lambda r: ellipsoids(r.X, r.rng)),
    "MS17a": (
        "made for wrong answers; sees no coordinates",
        lambda r: noisy_queries(len(r.X), r.rng, error=0.0),
    ),
    "MS17b": (
        "side information: how near rows are",
        lambda r: side_information(nearness(r), r.rng),
    ),
    "ABJ18": (
        "told K; signs: near or not; 20 K samples, not its theorem's",
        lambda r: sampled_correlation(nearness(r) > 0.5, r.k, r.rng, n_samples=20 * r.k),
    ),
    "SS19": (
        "signs: near or not",
        lambda r: pivot_queries(nearness(r) > 0.5, r.rng),
    ),
    "KwikBucks": ("the ten nearest pivots", lambda r: kwikbucks(r.X, r.rng)),
}


def nearness(rows: Rows) -> NDArray[np.float64]:
    """Return a similarity in [0, 1] of all pairs, 1/2 where near pairs end, by distances alone.

    Near and far pairs are told apart by two means of the logarithms of some distances (Otsu's threshold).
    """
    from sklearn.cluster import KMeans

    X, rng = rows.X, rows.rng
    pairs = rng.integers(0, len(X), (PAIRS_LOOKED_AT, 2))
    squares = ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(axis=1)
    logs = np.log(squares[squares > 0])[:, None]
    middle = float(np.exp(KMeans(2, n_init=3, random_state=0).fit(logs).cluster_centers_.mean()))
    norms = (X**2).sum(axis=1)
    near = norms[:, None] + norms - 2 * X @ X.T
    np.maximum(near, 0, out=near)
    near /= middle
    near += 1
    result: NDArray[np.float64] = np.divide(1, near, out=near)
    return np.minimum(result, result.T)  # to the last bit


class _Witness:
    """Answers from labels, and notes of how many clusters rows were asked about, and when."""

    def __init__(self, data: Instance) -> None:
        self._data = data
        self._seen = np.zeros(data.n_clusters, dtype=bool)
        self.asked = 0
        self.seen_at: list[int] = []

    def __call__(self, pairs: NDArray[np.intp], /) -> NDArray[np.int8]:
        for place, codes in enumerate(self._data.codes[pairs].tolist(), self.asked + 1):
            for code in codes:
                if not self._seen[code]:
                    self._seen[code] = True
                    self.seen_at.append(place)
        self.asked += len(pairs)
        return self._data.oracle(pairs)


@dataclass(frozen=True)
class RelativeSetup(Setup):
    """A run to its own end, of ours with a budget."""

    cap: int = CAP

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return the questions asked, when clusters were first asked about, the index, and seconds."""
        witness, started = _Witness(data), perf_counter()
        labels: NDArray[Any]
        if algorithm.startswith(OURS):
            name = algorithm.removeprefix(OURS)
            budget = MOST_QUESTIONS.get(name, self.cap)
            with Session(
                data.points, name, budget=budget, batch=1, random_state=draws_seed(run)
            ) as session:
                while not session.done:
                    pairs = session.pending()
                    session.answer_all(witness(pairs))
                labels = np.asarray(session.clusters().labels_)
        else:
            rows = Rows(
                data.X.astype(np.float64), data.n_clusters, np.random.default_rng(draws_seed(run))
            )
            labels = drive(RELATIVES[algorithm][1](rows), witness).labels
        return {
            "questions": witness.asked,
            "seen_at": witness.seen_at,
            "of": data.n_clusters,
            "ari": data.agreement(labels),
            "seconds": round(perf_counter() - started, 3),
        }


class Relatives:
    """Our algorithms and the relatives of the paper's side by side.

    Parameters
    ----------
    data : sequence of str
        Among `RELATIVE_DATA`: small enough for algorithms that look at all pairs of rows.
    algorithms : sequence of str
        Ours.
    runs : int
        Runs of each.
    """

    file = "relatives"

    def __init__(
        self,
        data: Sequence[str] | None = None,
        *,
        algorithms: Sequence[str] = ("focused", "uniform", "basic", "batched"),
        runs: int = 5,
    ) -> None:
        self.data = choose_data(data, RELATIVE_DATA)
        self.names = [*(OURS + name for name in algorithms), *RELATIVES]
        self.runs = check_positive("runs", runs)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        setup = RelativeSetup()
        return [Case(data, name, setup, self.runs) for data in self.data for name in self.names]

    def results(self, runs: Runs) -> Results:
        """Return how many questions each asked, and what for."""
        details: Record = {"remarks": {name: text for name, (text, _) in RELATIVES.items()}}
        summary = summarize(observations(runs.records, read_relative))
        return Results("relatives", summary, details, skipped(runs))
