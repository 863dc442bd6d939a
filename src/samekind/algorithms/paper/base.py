"""What the paper's algorithms share: Sample (Algorithm 3)."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from samekind.algorithms.base import FlowAlgorithm
from samekind.algorithms.paper.classify import PaperParams, classify
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["Draws", "PaperAlgorithm"]


class Draws(NamedTuple):
    """Rows drawn, their clusters (or GIVEN_UP), and Φ({x}, C) of each when it was drawn."""

    rows: IntArray
    clusters: IntArray
    costs: FloatArray


# Lemma 2: if a draw is outside I with a chance below ε/4, the clusters outside cost less than ε/(4-ε) times
# those inside, and by true centres (1+ε)² times that: at most ε while (1+ε)² ≤ 4 - ε. The paper puts ε/2 for
# ε/(4-ε) on the way, which would leave only ε ≤ 0.41.
LARGEST_PROVEN = (sqrt(21) - 3) / 2

P = TypeVar("P", bound=PaperParams)


class PaperAlgorithm(FlowAlgorithm[P]):
    """An algorithm that draws rows by D² and asks in which cluster each of them is."""

    n_ahead: ClassVar[int] = 256
    """Rows that the practical algorithms draw together, or `batch` if that is more, to take in one by one."""

    def batch_size(self) -> int:
        """Return how many rows to ask about at once now."""
        return self.params.batch_size(self.state.n_samples)

    def draw(self, size: int) -> Flow[Draws]:
        """Sample (Algorithm 3), `size` times at once: D²-sample rows and ask in which clusters they are."""
        rows = self.sampler.draw(self.rng.random(size))
        clusters = yield from self.clusters_of(rows)
        self.state.n_samples += size
        return Draws(rows, clusters, self.sampler.cost(rows))

    def reducible(self, epsilon: float) -> str:
        """Return why a run stops that draws nothing new."""
        if epsilon > LARGEST_PROVEN:
            self.state.note(
                f"epsilon is {epsilon:g}: the paper's proof that what is left is reducible holds up to "
                f"{LARGEST_PROVEN:.2f}."
            )
        return "reducible"

    def unplaced(self, n_given_up: int, n_draws: int) -> str:
        """Return why a run stops that draws nothing new, but too often rows that nobody can tell."""
        self.state.note(
            f"{n_given_up:,} of the last {n_draws:,} draws were of rows that nobody could tell. Clusters of "
            "such rows may be left."
        )
        return "unplaced"

    def n_at_once(self, rows: IntArray) -> int:
        """Return how many of these draws to take in at once: those of known rows, or else `batch` new rows.

        A known row takes no question, and may tell that there is nothing left to ask here.
        """
        unknown = np.flatnonzero(self.state.cluster_of(rows) == UNKNOWN)
        if not unknown.size or unknown[0]:
            return int(unknown[0]) if unknown.size else rows.size
        size = self.batch_size()
        if size == 1:
            return 1
        _, first = np.unique(rows[unknown], return_index=True)
        if first.size < size:
            return rows.size
        return int(unknown[np.sort(first)[size - 1]]) + 1

    def clusters_of(self, rows: IntArray) -> Flow[IntArray]:
        """Return the cluster of each row (rows may repeat), asking for `batch` rows at a time."""
        known = self.state.cluster_of(rows)
        unknown = np.flatnonzero(known == UNKNOWN)
        if not unknown.size:
            return known
        new = np.array(list(dict.fromkeys(rows[unknown].tolist())), dtype=np.intp)
        size = self.batch_size()
        for start in range(0, new.size, size):
            some = new[start : start + size]
            found = yield from classify(some, self.points.rows(some), self.state, self.params)
            if some.size == unknown.size:  # the usual case: one batch without repeats
                known[unknown] = found.labels
                return known
        return self.state.cluster_of(rows)
