"""Labelled rows as the sites of Voronoi cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.constants import DEFERRED_ROWS
from samekind.points import Points

__all__ = ["Sites"]


class Sites:
    """The rows that became sites of Voronoi cells, and the cluster of each.

    A *surrogate* is a site that stands for a cluster without being known, or shown, to be a member: its
    neighbours are predicted as before, draws keep away from it, but nobody is asked about it as a member.
    """

    def __init__(self, points: Points) -> None:
        self.cells = points.voronoi()
        self.defers = points.n > DEFERRED_ROWS
        """Whether a pass over the data is put off for sites that change no prediction."""
        self._site_of: dict[int, int] = {}
        self._row_of: list[int] = []
        self._clusters = np.full(64, -1, dtype=np.intp)
        self._member_clusters = self._clusters.copy()

    def __contains__(self, row: int) -> bool:
        return row in self._site_of

    @property
    def clusters(self) -> NDArray[np.intp]:
        """(sites,) the cluster that each stands for; -1 for none."""
        return self._clusters[: self.cells.n_sites]

    @property
    def member_clusters(self) -> NDArray[np.intp]:
        """(sites,) the same, but -1 for surrogates."""
        return self._member_clusters[: self.cells.n_sites]

    def add(
        self, row: int, cluster: int, *, surrogate: bool = False, deferred: bool = False
    ) -> None:
        """Make a row a site, or change the cluster of one that is; `deferred` if it is as predicted."""
        deferred = (deferred or surrogate) and self.defers
        site = self._site_of.get(row)
        if site is None:
            site = self._site_of[row] = self.cells.add(row, deferred=deferred)
            self._row_of.append(row)
            if site == self._clusters.size:
                more = np.full(site, -1, dtype=np.intp)
                self._clusters = np.concatenate([self._clusters, more])
                self._member_clusters = np.concatenate([self._member_clusters, more])
        elif not deferred:
            self.cells.activate(site)
        self._clusters[site] = cluster
        if not surrogate:
            self._member_clusters[site] = cluster

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another."""
        for clusters in (self._clusters, self._member_clusters):
            clusters[clusters == gone] = keep

    def distances(self, X: NDArray[np.float64], n_clusters: int) -> NDArray[np.float64]:
        """Return the squared distances of rows X to the nearest members of the clusters, (m, clusters)."""
        return self.cells.group_distances(self.member_clusters, n_clusters, X)

    def members(self, cluster: int) -> list[int]:
        """Return the members of a cluster that are sites."""
        return [self._row_of[site] for site in np.flatnonzero(self.member_clusters == cluster)]

    def nearest_member(self, x: NDArray[np.float64], cluster: int) -> int:
        """Return the member of a cluster that is nearest to x."""
        return self._row_of[self.cells.nearest_site(self.member_clusters, cluster, x)]

    def members_by_distance(self, x: NDArray[np.float64], cluster: int) -> list[int]:
        """Return the members of a cluster that are sites, nearest to x first."""
        sites = np.flatnonzero(self.member_clusters == cluster)
        distances = ((self.cells.sites[sites] - x) ** 2).sum(axis=1)
        return [self._row_of[site] for site in sites[np.argsort(distances, kind="stable")]]
