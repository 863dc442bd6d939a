"""Other ways to the same end, each adapted in a few lines.

An adapter clusters X with questions about pairs of rows, which it answers from y, and reports the labels of
all rows when it has asked as many questions as each budget allows. It runs in a process of its own.
"""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from experiments.evaluation import majority_clusters
from experiments.peer import Job, Peer
from experiments.peer_checkouts import (
    A3S,
    COBRAS,
    CORRELATION,
    ask_a3s,
    ask_cobras,
    ask_correlation,
)
from experiments.store import Record
from experiments.trace import Emit, Setup, never_stops
from experiments.truth import Instance
from samekind import LabelOracle, Session

OURS = "samekind "  # before the name of an algorithm of ours, where it stands beside its peers


@dataclass(frozen=True)
class PeerSetup(Setup):
    """A run of a peer, evaluated after as many questions as each of the budgets.

    It is ended after `limit` seconds. Its draws have the number of the run as their seed.
    """

    budgets: tuple[int, ...]
    limit: int

    def as_record(self) -> Record:
        """Return it as it stands in ``runs.jsonl``; a run that was ended says so itself."""
        return {name: value for name, value in super().as_record().items() if name != "limit"}

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return what was reached at each budget; ``problem`` says why it is not all."""
        X = data.X.astype(np.float64)
        peer = find_peer(algorithm)
        if why := peer.too_large(len(X)):
            return {"reached": [], "problem": why}
        reached: list[Record] = []
        spent = 0.0  # in evaluating, which is not the peer's
        memory, started = peak_memory(), perf_counter()

        def report(budget: int, questions: int, labels: ArrayLike) -> None:
            nonlocal spent
            seconds, peak = perf_counter() - started - spent, peak_memory()
            given = np.asarray(labels)
            groups = [np.flatnonzero(given == label) for label in np.unique(given[given >= 0])]
            reached.append(
                {
                    "budget": budget,
                    "questions": questions,
                    "ari": data.agreement(given),
                    "found": majority_clusters(data.codes, groups),
                    "clusters": len(np.unique(given)),
                    "seconds": round(seconds, 3),
                    "memory_mb": None
                    if peak is None or memory is None
                    else round(peak - memory, 1),
                }
            )
            emit(reached[-1])
            spent = perf_counter() - started - seconds

        problem = ""
        with (
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            try:
                peer.run(Job(X, data.y, sorted(self.budgets), run, report))
            except Exception as error:  # whatever a peer does, the others go on
                problem = f"{type(error).__name__}: {error}"[:200]
        return {"reached": reached, "problem": problem}


def peak_memory() -> float | None:
    """Return the most memory that this process had so far, in MB; None where it cannot be known."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def ask_samekind(algorithm: str, job: Job) -> None:
    """Run one of our own algorithms, a row at a time."""
    oracle = LabelOracle(job.y)
    with Session(
        job.X, algorithm, budget=job.budgets[-1], random_state=job.seed, **never_stops(algorithm)
    ) as session:
        for budget in job.budgets:
            while not session.done and (short := budget - session.progress.questions) > 0:
                pairs = session.pending()[:short]
                session.tell(pairs, oracle(pairs))
            clusters = session.clusters()
            job.report(budget, clusters.n_questions_, clusters.labels_)


def ask_explore_consolidate(job: Job) -> None:
    """Explore and consolidate, then pairwise-constrained k-means; is told the number of clusters."""
    active = import_module("active_semi_clustering.active.pairwise_constraints")
    clusterers = import_module("active_semi_clustering.semi_supervised.pairwise_constraints")
    sys.setrecursionlimit(10 * len(job.y) + 1_000)  # it walks constraints by recursion
    n_clusters = len(np.unique(job.y))
    for budget in job.budgets:  # no run serves two budgets: it learns only when it has asked all
        np.random.seed(job.seed)  # noqa: NPY002 - the only source of its random numbers
        oracle = active.ExampleOracle(job.y, max_queries_cnt=budget)
        learner = active.ExploreConsolidate(n_clusters=n_clusters)
        learner.fit(job.X, oracle=oracle)
        must, cannot = learner.pairwise_constraints_
        clusterer = clusterers.PCKMeans(n_clusters=n_clusters)
        clusterer.fit(job.X, ml=must, cl=cannot)
        job.report(budget, oracle.queries_cnt, clusterer.labels_)


def ask_nothing(job: Job) -> None:
    """k-means; is told the number of clusters, and asks nothing."""
    from sklearn.cluster import KMeans

    labels = KMeans(len(np.unique(job.y)), n_init=10, random_state=job.seed).fit(job.X).labels_
    for budget in job.budgets:
        job.report(budget, 0, labels)


PEERS = {
    "COBRAS": Peer(
        "with k-means, of its repository's head", "sklearn", ask_cobras, checkout=COBRAS
    ),
    "A3S": Peer(
        "with its options for handwritten digits; told the number of clusters, ends by itself",
        "tqdm",
        ask_a3s,
        checkout=A3S,
        most_rows=2_000,
        reason="it walks most pairs of rows in Python before its first question",
    ),
    "Active correlation clustering": Peer(
        "maxexp, in batches; starts from k-means, told the number of clusters",
        "sklearn",
        ask_correlation,
        checkout=CORRELATION,
        most_rows=1_000,
        reason="it walks all pairs of rows in Python after every batch",
    ),
    "PCKMeans": Peer(
        "active-semi-supervised-clustering, ExploreConsolidate; told the number of clusters",
        "active_semi_clustering",
        ask_explore_consolidate,
        most_rows=2_000,
        reason="a single fit takes minutes there",
    ),
    "KMeans": Peer(
        "scikit-learn; told the number of clusters, asks nothing", "sklearn", ask_nothing
    ),
}


def find_peer(name: str) -> Peer:
    """Return a peer, or one of our own algorithms as one ("samekind batched")."""
    if name.startswith(OURS):
        return Peer("a row at a time", "samekind", partial(ask_samekind, name.removeprefix(OURS)))
    return PEERS[name]
