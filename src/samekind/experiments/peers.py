"""Other ways to the same end, each adapted in a few lines.

An adapter clusters X with questions about pairs of rows, which it answers from y, and reports the labels of
all rows when it has asked as many questions as each budget allows. It runs in a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.algorithms import ALGORITHMS
from samekind.engine import Session
from samekind.oracles import LabelOracle

__all__ = ["PEERS", "Peer", "find_peer"]

Report = Callable[[int, int, ArrayLike], None]
"""Called with a budget, the questions asked, and the label of every row."""


@dataclass(frozen=True)
class Peer:
    """A way of clustering: its name, what it is told or lacks, the module it needs, and its adapter."""

    name: str
    remark: str
    module: str
    run: Callable[[NDArray[Any], NDArray[Any], Sequence[int], int, Report], None]

    def missing(self) -> str:
        """Return why it cannot run here, or nothing."""
        if find_spec(self.module) is not None:
            return ""
        return f"the module {self.module} is not installed; pip install 'samekind[peers]' adds it"


def ask_samekind(
    algorithm: str,
    X: NDArray[Any],
    y: NDArray[Any],
    budgets: Sequence[int],
    seed: int,
    report: Report,
) -> None:
    """Run one of our own algorithms, a row at a time."""
    oracle = LabelOracle(y)
    options: dict[str, Any] = {} if algorithm.endswith("-exact") else {"epsilon": None}
    left = sorted(budgets)
    with Session(X, algorithm, budget=left[-1], random_state=seed, **options) as session:
        while left:
            while not session.done and session.n_questions < left[0]:
                short = left[0] - session.n_questions
                pairs = session.pending()[:short]
                session.tell(pairs, oracle(pairs))
            clusters = session.clusters()
            report(left.pop(0), clusters.n_questions_, clusters.labels_)


def ask_cobras(
    X: NDArray[Any], y: NDArray[Any], budgets: Sequence[int], seed: int, report: Report
) -> None:
    """COBRAS with k-means: splits groups of points and merges them by questions."""
    np.random.seed(seed)  # noqa: NPY002 - the only source of its random numbers
    left = sorted(budgets)

    class Questions:
        """Answers; when a budget is spent, reports the clustering that COBRAS itself notes for it."""

        asked = 0

        def query_points(self, a: int, b: int) -> bool:
            if left and self.asked == left[0]:
                report(left.pop(0), self.asked, cobras.intermediate_results[-1][0])
            self.asked += 1
            return bool(y[a] == y[b])

        def update_clustering(self, clustering: Any) -> None: ...

        def continue_cluster_process(self) -> bool:
            return True

    with numpy_alias("int", int):
        questions = Questions()
        module = import_module("cobras_ts.cobras_kmeans")
        cobras = module.COBRAS_kmeans(X, questions, left[-1])
        final = cobras.cluster()[0].construct_cluster_labeling()
    for budget in left:
        report(budget, questions.asked, final)


def ask_explore_consolidate(
    X: NDArray[Any], y: NDArray[Any], budgets: Sequence[int], seed: int, report: Report
) -> None:
    """Explore and consolidate, then pairwise-constrained k-means; is told the number of clusters."""
    active = import_module("active_semi_clustering.active.pairwise_constraints")
    clusterers = import_module("active_semi_clustering.semi_supervised.pairwise_constraints")
    sys.setrecursionlimit(10 * len(y) + 1_000)  # it walks constraints by recursion
    n_clusters = len(np.unique(y))
    for budget in sorted(
        budgets
    ):  # no run serves two budgets: it learns only when it has asked all
        np.random.seed(seed)  # noqa: NPY002 - the only source of its random numbers
        oracle = active.ExampleOracle(y, max_queries_cnt=budget)
        learner = active.ExploreConsolidate(n_clusters=n_clusters)
        learner.fit(X, oracle=oracle)
        must, cannot = learner.pairwise_constraints_
        clusterer = clusterers.PCKMeans(n_clusters=n_clusters)
        clusterer.fit(X, ml=must, cl=cannot)
        report(budget, oracle.queries_cnt, clusterer.labels_)


def ask_nothing(
    X: NDArray[Any], y: NDArray[Any], budgets: Sequence[int], seed: int, report: Report
) -> None:
    """k-means; is told the number of clusters, and asks nothing."""
    from sklearn.cluster import KMeans

    labels = KMeans(len(np.unique(y)), n_init=10, random_state=seed).fit(X).labels_
    for budget in sorted(budgets):
        report(budget, 0, labels)


@contextmanager
def numpy_alias(name: str, value: object) -> Iterator[None]:
    """Give NumPy a name that it once had, for as long as old code needs it."""
    if name in vars(np):
        yield
        return
    setattr(np, name, value)
    try:
        yield
    finally:
        delattr(np, name)


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("COBRAS", "cobras_ts, the k-means version", "cobras_ts", ask_cobras),
        Peer(
            "PCKMeans",
            "active-semi-supervised-clustering, ExploreConsolidate; told the number of clusters",
            "active_semi_clustering",
            ask_explore_consolidate,
        ),
        Peer(
            "KMeans",
            "scikit-learn; told the number of clusters, asks nothing",
            "sklearn",
            ask_nothing,
        ),
    )
}


def find_peer(name: str) -> Peer:
    """Return a peer, or one of our own algorithms as one ("samekind batched")."""
    if name in PEERS:
        return PEERS[name]
    algorithm = name.removeprefix("samekind ")
    if algorithm not in ALGORITHMS:
        raise ValueError(f"there is no peer {name!r}. Choose among {', '.join(PEERS)}.")

    def run(
        X: NDArray[Any], y: NDArray[Any], budgets: Sequence[int], seed: int, report: Report
    ) -> None:
        ask_samekind(algorithm, X, y, budgets, seed, report)

    return Peer(name, "a row at a time", "samekind", run)
