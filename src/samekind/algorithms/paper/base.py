"""What the paper's algorithms share: their parameters, and Sample (Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from samekind._validation import check_fraction, check_positive_int
from samekind.algorithms.base import Algorithm
from samekind.algorithms.paper.classify import PaperParams, classify
from samekind.algorithms.state import UNKNOWN
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["Draws", "ExactParams", "PaperAlgorithm", "PracticalParams"]


@dataclass(frozen=True, kw_only=True)
class PracticalParams(PaperParams):
    """Parameters of the practical algorithms (Section 5).

    Attributes
    ----------
    epsilon : float or None
        How small undiscovered clusters may be when the run stops by itself; None: it never does.
    heavy : int
        Uniform samples that recover a cluster: eleven, the paper's "more than 10".
    """

    epsilon: float | None = 0.01
    heavy: int = 11

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("epsilon", self.epsilon, none="stop only at the budget or the target")
        check_positive_int("heavy", self.heavy)


@dataclass(frozen=True, kw_only=True)
class ExactParams(PaperParams):
    """Parameters of the algorithms with the paper's constants.

    Attributes
    ----------
    epsilon : float
        How small undiscovered clusters may be, and how accurate centres are.
    """

    epsilon: float = 0.5
    order: str = "index"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("epsilon", self.epsilon)


class Draws(NamedTuple):
    """Rows drawn, their clusters (or GIVEN_UP), and Φ({x}, C) of each when it was drawn."""

    rows: IntArray
    clusters: IntArray
    costs: FloatArray


P = TypeVar("P", bound=PaperParams)


class PaperAlgorithm(Algorithm[P]):
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
