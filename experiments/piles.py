"""A study of "focused" on texts and embeddings, beside what one would do without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from experiments.benchmark_data import DATA, choose_data
from experiments.design import check_positive, skipped
from experiments.metrics import Reading, observations
from experiments.results import Results
from experiments.runner import Case, Runs
from experiments.store import Record
from experiments.summary import add_required, summarize
from experiments.targets import required_numbers, variant_name
from experiments.trace import Emit, Setup, draws_seed
from experiments.truth import Instance
from samekind import Session

QUESTIONS: dict[str, tuple[int, ...]] = {
    "banking77-texts": (300, 1_000, 3_000),
    "banking77-embedded": (300, 1_000, 3_000),
    "banking77-last": (300, 450),
    "stackoverflow-texts": (300, 1_000),
    "digits": (200, 300),
}
OURS = variant_name({"goal": "labels"})
KMEANS, CLASSIFIER = "k-means, told K", "logistic regression"
COMPONENTS = 64  # of the rows that the others work on, as ours does


@dataclass(frozen=True)
class PileSetup(Setup):
    """A run for the sake of labels, and what k-means and a classifier make of the same rows.

    K-means is told the true number of clusters and asks nothing. The classifier learns the labels of as many
    rows, drawn uniformly, as "focused" knows after so many questions, and their number is told, too.
    """

    marks: tuple[int, ...]

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return the adjusted Rand index of each after so many questions."""
        started = perf_counter()
        X = _reduced(data.X)
        kmeans = KMeans(data.n_clusters, n_init=1, random_state=run).fit_predict(X)
        told = data.agreement(kmeans)
        order = np.random.default_rng(run).permutation(len(X))
        looks: list[Record] = []
        with Session(
            data.points,
            goal="labels",
            epsilon=None,
            batch=1,
            budget=self.marks[-1],
            random_state=draws_seed(run),
        ) as session:
            marks = list(self.marks)
            while marks:
                if not session.done:
                    pairs = session.pending()
                    session.tell(pairs, data.oracle(pairs))
                if session.done or session.n_questions >= marks[0]:
                    some = order[: session.n_known]
                    clusters = session.clusters()
                    looks.append(
                        {
                            "at": marks.pop(0),
                            OURS: data.agreement(clusters.labels_),
                            KMEANS: told,
                            CLASSIFIER: data.agreement(_classify(X, data.codes, some)),
                            "accuracy": data.matched_accuracy(clusters.labels_),
                            "clusters": clusters.n_discovered_,
                            "known": session.n_known,
                        }
                    )
        return {"looks": looks, "seconds": round(perf_counter() - started, 3)}


def _reduced(X: NDArray[Any]) -> NDArray[Any]:
    return X if X.shape[1] <= COMPONENTS else PCA(COMPONENTS, random_state=0).fit_transform(X)


def _classify(X: NDArray[Any], codes: NDArray[np.intp], some: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the labels that a classifier gives to all rows, which is told those of some."""
    if len(np.unique(codes[some])) < 2:
        return np.zeros(len(X), dtype=np.intp)
    classifier = LogisticRegression(C=10.0, max_iter=300).fit(X[some] / X.std(), codes[some])
    found: NDArray[np.intp] = classifier.predict(X / X.std())
    return found


class Piles:
    """What "focused" makes of texts, embeddings and pictures with the questions that a person answers."""

    file = "piles"

    def __init__(self, data: Sequence[str] | None = None, *, runs: int = 10) -> None:
        self.data = choose_data(data, QUESTIONS)
        self.runs = check_positive("runs", runs)

    def cases(self) -> list[Case]:
        """Return what is to run."""
        return [
            Case(name, OURS, PileSetup(QUESTIONS[name]), self.runs, DATA[name].seconds[1])
            for name in self.data
        ]

    def results(self, runs: Runs) -> Results:
        """Return a line for each method and metric, and what is required of ours."""
        required = required_numbers("piles")
        records = [
            record | {"algorithm": method}
            for record in runs.records
            for method in (OURS, KMEANS, CLASSIFIER)
        ]
        summary = summarize(observations(records, read_pile))
        found = add_required(summary, required[required["data"].isin(self.data)])
        return Results(self.file, found, {"runs": self.runs}, skipped(runs))


def read_pile(record: Record) -> Iterator[Reading]:
    """Read the agreement of one method after so many questions, and the clusters that ours has."""
    for look in record["looks"]:
        yield "ari", look["at"], look[record["algorithm"]]
        if record["algorithm"] == OURS:
            yield "accuracy", look["at"], look["accuracy"]
            yield "clusters", look["at"], look["clusters"]
