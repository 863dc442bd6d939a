"""The clusters known so far, as every algorithm keeps them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from samekind._intmap import IntMap
from samekind.flow import BoolArray, FloatArray, IntArray
from samekind.points import Points

__all__ = ["GIVEN_UP", "UNKNOWN", "ClusterState"]

UNKNOWN = -1
GIVEN_UP = -2


class ClusterState:
    """The clusters discovered so far, their members, their centres, and which are recovered.

    The algorithm alone writes it; anyone may read it between two waves of questions. Clusters are numbered
    in the order of their discovery. Distinguish, as the paper does:

    - *members*: every row known to be in the cluster, each once, the discoverer first;
    - *uniform samples*: draws (repeats count) that are uniform over the cluster, whose mean is its centre.
    """

    def __init__(self, d: int) -> None:
        self.members: list[list[int]] = []
        self.n_uniform: list[int] = []
        self.recovered: list[int] = []  # in the order of recovery
        self.given_up: list[int] = []  # rows about which the oracle was too unsure
        self.notes: list[str] = []
        self.n_samples = 0
        self.n_rounds = 0
        self._cluster_of = IntMap()
        self._open = np.zeros(8, dtype=bool)  # discovered, not recovered
        self._centers = np.empty((8, d))
        self._first_members = np.empty(8, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def n_discovered(self) -> int:
        """How many clusters there are."""
        return len(self.members)

    @property
    def centers(self) -> FloatArray:
        """(L, d) running mean of each cluster's uniform samples; final once the cluster is recovered."""
        return self._centers[: len(self)]

    @property
    def first_members(self) -> IntArray:
        """(L,) the representative z_i of each cluster in Algorithm 1."""
        return self._first_members[: len(self)]

    @property
    def n_closed(self) -> int:
        """How many rows need no question any more: those in a cluster, and those given up."""
        return len(self._cluster_of)

    def cluster_of(self, rows: IntArray) -> IntArray:
        """Return the cluster of each row, UNKNOWN or GIVEN_UP."""
        return self._cluster_of.get(rows, UNKNOWN)

    def cluster_of_row(self, row: int) -> int:
        """Return the cluster of one row, UNKNOWN or GIVEN_UP."""
        return self._cluster_of.get_one(row, UNKNOWN)

    def is_recovered(self, cluster: int) -> bool:
        """Return whether the cluster's centre is final."""
        return not self._open[cluster]

    def is_open(self, clusters: IntArray) -> BoolArray:
        """Return for each number whether it is a cluster that is discovered but not recovered."""
        return (clusters >= 0) & self._open[clusters]

    def discover(self, row: int, x: FloatArray) -> int:
        """Make the row the first member of a new cluster."""
        cluster = len(self)
        if cluster == len(self._centers):
            self._centers = np.resize(self._centers, (2 * cluster, self._centers.shape[1]))
            self._first_members = np.resize(self._first_members, 2 * cluster)
            self._open = np.resize(self._open, 2 * cluster)
        self._centers[cluster] = x
        self._first_members[cluster] = row
        self.members.append([])
        self.n_uniform.append(0)
        self._open[cluster] = True
        self.add_member(row, cluster)
        return cluster

    def add_member(self, row: int, cluster: int) -> None:
        """Note that a row is of a cluster."""
        self._cluster_of.put_one(row, cluster)
        self.members[cluster].append(row)

    def add_members(self, rows: IntArray, clusters: IntArray) -> None:
        """Note that each row is of its cluster."""
        self._cluster_of.put(rows, clusters)
        members = self.members
        for row, cluster in zip(rows.tolist(), clusters.tolist(), strict=True):
            members[cluster].append(row)

    def give_up(self, row: int) -> None:
        """Note that the oracle could not tell of what cluster the row is, for now."""
        self.given_up.append(row)
        self._cluster_of.put_one(row, GIVEN_UP)

    def add_uniform(self, cluster: int, x: FloatArray) -> None:
        """Add one uniform sample to the running mean of a cluster that is not recovered yet."""
        self.n_uniform[cluster] += 1
        if self.n_uniform[cluster] == 1:
            self._centers[cluster] = x
        else:  # exact when all samples are equal, unlike sum / count
            center = self._centers[cluster]
            center += (x - center) / self.n_uniform[cluster]

    def set_uniform(self, cluster: int, samples: Iterable[FloatArray]) -> None:
        """Replace the uniform samples of a cluster."""
        self.n_uniform[cluster] = 0
        for x in samples:
            self.add_uniform(cluster, x)

    def unrecovered_heavy(self, enough: int) -> list[int]:
        """Return the unrecovered clusters with at least so many uniform samples, largest first."""
        sizes = self.n_uniform
        heavy = [k for k, size in enumerate(sizes) if size >= enough and not self.is_recovered(k)]
        return sorted(heavy, key=lambda cluster: -sizes[cluster])

    def note(self, text: str) -> None:
        """Keep something the user should know, once."""
        if text not in self.notes:
            self.notes.append(text)

    def recover(self, clusters: Iterable[int]) -> FloatArray:
        """Declare these clusters recovered and return their centres, (m, d)."""
        new = list(clusters)
        self._open[new] = False
        self.recovered += new
        return self._centers[new]

    def settle(self, points: Points) -> None:
        """Recover all clusters, with the exact mean of their members, when no row is left to ask about."""
        for cluster, members in enumerate(self.members):
            if not members:
                continue
            rows = points.rows(np.array(members))
            self._centers[cluster] = rows[0] + (rows - rows[0]).mean(axis=0)
        self.recover(cluster for cluster in range(len(self)) if not self.is_recovered(cluster))
