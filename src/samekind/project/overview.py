"""What was found, to look at: clusters with their members, a map, and how it came about."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.points import Points
from samekind.project.records import (
    CertificateRecord,
    ClusterMember,
    ClusterPage,
    ClusterSummary,
    History,
    ItemView,
    Overview,
    RowMap,
)
from samekind.report import choose_rows, project_rows

__all__ = ["FoundClusters"]

MOST_POINTS = 2000  # on the map
MOST_STEPS = 500  # of the history
WEIGHED = 200  # predicted rows of a cluster among which the doubtful ones are sought
SEED = 0  # of the map, which stays the same as the run goes on


class FoundClusters(NamedTuple):
    """Clusters, and what is needed to show them.

    Attributes
    ----------
    clusters : Clusters
        What was found.
    points : Points
        The features of all rows.
    item : callable
        What to show of a row.
    name_of : callable
        The name of a cluster with these members.
    confidence : callable
        How likely each of some rows is in the cluster that it is predicted for.
    """

    clusters: Clusters
    points: Points
    item: Callable[[int], ItemView]
    name_of: Callable[[list[int]], str | None]
    confidence: Callable[[NDArray[np.intp]], NDArray[np.float64]]

    def overview(self, most: int, revision: int) -> Overview:
        """Return all clusters, the largest first, each with at most so many members."""
        labels, certificate = self.clusters.labels_, self.clusters.certificate_
        sizes = np.bincount(labels[labels >= 0], minlength=self.clusters.n_discovered_)
        order = np.argsort(-sizes, kind="stable").tolist()
        return Overview(
            clusters=[self._summary(cluster, int(sizes[cluster]), most) for cluster in order],
            unplaced=int((labels < 0).sum()),
            certificate=None
            if certificate is None
            else CertificateRecord(str(certificate), certificate.undiscovered, certificate.wrong),
            notes=list(self.clusters.notes_),
            revision=revision,
        )

    def page(self, cluster: int, offset: int, limit: int) -> ClusterPage:
        """Return some rows of a cluster: the known ones first, the most typical of each first."""
        members, predicted = self._rows(cluster)
        rows = np.concatenate([self._typical(cluster, some) for some in (members, predicted)])
        shown = rows[offset : offset + limit].tolist()
        return ClusterPage(
            cluster=int(members[0]),
            name=self.name_of(members.tolist()),
            total=rows.size,
            members=[
                ClusterMember(**vars(self.item(row)), known=place < members.size)
                for place, row in enumerate(shown, start=offset)
            ],
        )

    def map(self) -> RowMap:
        """Place rows in the plane; x and y are in [0, 1]."""
        rows = choose_rows(self.clusters, SEED, MOST_POINTS)
        names = [f"x{column}" for column in range(self.points.d)]
        _, places = project_rows(self.points, rows, names, SEED)
        low, high = places.min(axis=0), places.max(axis=0)
        places = (places - low) / np.where(high > low, high - low, 1.0)
        members = self.clusters.members_
        known = np.isin(rows, np.concatenate([*members, np.empty(0, dtype=np.intp)]))
        x, y = places.round(4).T.tolist()
        return RowMap(
            rows=rows.tolist(),
            x=x,
            y=y,
            place=self.clusters.labels_[rows].tolist(),
            known=known.tolist(),
            clusters=[int(own[0]) for own in members],
        )

    def history(self) -> History:
        """Return the clusters found over the questions."""
        questions, found = (self.clusters.history_[name] for name in ("questions", "discovered"))
        steps = np.unique(np.linspace(0, len(questions) - 1, MOST_STEPS).astype(int))
        return History(questions[steps].tolist(), found[steps].tolist())

    def _summary(self, cluster: int, size: int, most: int) -> ClusterSummary:
        members, predicted = self._rows(cluster)
        some = predicted[:: max(1, predicted.size // WEIGHED)]
        doubtful = some[np.argsort(self.confidence(some), kind="stable")][: max(1, most // 2)]
        typical = self._typical(cluster, members)[:most]
        return ClusterSummary(
            cluster=int(members[0]),
            name=self.name_of(members.tolist()),
            known=len(members),
            estimated=size,
            recovered=cluster < self.clusters.n_recovered_,
            members=list(map(self.item, typical.tolist())),
            doubtful=list(map(self.item, doubtful.tolist())),
        )

    def _rows(self, cluster: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the known rows of a cluster, and the predicted ones."""
        members = self.clusters.members_[cluster]
        predicted = np.setdiff1d(np.flatnonzero(self.clusters.labels_ == cluster), members)
        return members, predicted

    def _typical(self, cluster: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return rows in the order of their distance from the centre of a cluster."""
        center = self.clusters.all_centers_[cluster]
        distances = ((self.points.rows(rows) - center) ** 2).sum(axis=1)
        return rows[np.argsort(distances, kind="stable")]
