"""What was found, to look at: clusters with their members, and a map."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from samekind.project.entities import Entities
from samekind.project.mapping import MapMaker
from samekind.project.records import (
    CertificateRecord,
    ClusterMember,
    ClusterPage,
    ClusterRef,
    ClusterSummary,
    Overview,
    RowMap,
)
from samekind.project.shared import exclusive

__all__ = ["Overviews"]

MOST_ENTITIES = 100  # of records, that are shown
WEIGHED = 200  # predicted rows of a cluster among which the doubtful ones are sought


class Overviews(Entities):
    """Clusters, to look at."""

    @cached_property
    def map_maker(self) -> MapMaker:
        """What lays rows out on the map."""
        return MapMaker(self.session.points, self.map_file)

    @property
    def revision(self) -> int:
        """A number that changes whenever anything was answered, named or taken back."""
        return hash(self.session.ledger.revision) & 0xFFFFFFFFFFFF

    @exclusive
    def overview(self, members: int = 8) -> Overview:
        """Return all clusters found so far, the largest first, each with some members."""
        self.catch_up()
        found = self.clusters()
        labels, certificate = found.labels_, found.certificate_
        sizes = np.bincount(labels[labels >= 0], minlength=found.n_discovered_)
        order = [] if self.is_blank else np.argsort(-sizes, kind="stable").tolist()
        if self.is_records:  # most are of one record, and nothing to look at
            order = [k for k in order[: 10 * MOST_ENTITIES] if sizes[k] > 1][:MOST_ENTITIES]
        refs = self.refs()
        return Overview(
            clusters=[self._summary(k, refs[k], int(sizes[k]), members) for k in order],
            unplaced=labels.size if self.is_blank else int((labels < 0).sum()),
            certificate=None
            if certificate is None
            else CertificateRecord(
                certificate.in_words("kind"),
                certificate.undiscovered,
                certificate.wrong,
                certificate.wrong_at_any_time,
                certificate.n_undecided,
            ),
            notes=[*self.notices, *found.notes_],
            stopping=self.stopping(),
            revision=self.revision,
        )

    @exclusive
    def cluster(self, cluster: int, *, offset: int = 0, limit: int = 24) -> ClusterPage:
        """Return some items of a cluster: the known ones first, the most typical of each first."""
        label = self._label_of(cluster)
        members, predicted = self._rows(label)
        rows = np.concatenate([self._typical(label, some) for some in (members, predicted)])
        shown = rows[offset : offset + limit].tolist()
        return ClusterPage(
            **vars(self.refs()[label]),
            total=rows.size,
            members=[
                ClusterMember(**vars(self.item(row)), known=place < members.size)
                for place, row in enumerate(shown, start=offset)
            ],
        )

    @exclusive
    def map(self) -> RowMap:
        """Place rows in the plane; x and y are in [0, 1].

        At first by principal components; a map made for looking comes in the background, and is `pending`.
        """
        if self.is_records and self.session.points.d == 1:  # they have no places
            return RowMap([], [], [], [], [], [], [], "none", False)
        found = self.clusters()
        known = np.concatenate([*found.members_, np.empty(0, dtype=np.intp)])
        placed = self.map_maker.placed(known)
        x, y = placed.places.round(4).T.tolist()
        refs = [] if self.is_blank else self.refs()
        return RowMap(
            rows=placed.rows.tolist(),
            x=x,
            y=y,
            place=(
                found.labels_of(placed.rows) if refs else np.full(len(placed.rows), -1)
            ).tolist(),
            known=np.isin(placed.rows, known).tolist(),
            clusters=[ref.cluster for ref in refs],
            numbers=[ref.number for ref in refs],
            method=placed.method,
            pending=placed.pending,
        )

    def _summary(self, cluster: int, ref: ClusterRef, size: int, most: int) -> ClusterSummary:
        members, predicted = self._rows(cluster)
        some = predicted[:: max(1, predicted.size // WEIGHED)]
        doubtful = some[np.argsort(self.session.confidence(some), kind="stable")]
        typical = self._typical(cluster, members)[:most]
        return ClusterSummary(
            **vars(ref),
            known=len(members),
            estimated=size,
            recovered=cluster < self.clusters().n_recovered_,
            members=list(map(self.item, typical.tolist())),
            doubtful=list(map(self.item, doubtful[: max(1, most // 2)].tolist())),
        )

    def _rows(self, cluster: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the known rows of a cluster, and the predicted ones."""
        members = self.clusters().members_[cluster]
        return members, np.setdiff1d(np.flatnonzero(self.clusters().labels_ == cluster), members)

    def _typical(self, cluster: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return rows in the order of their distance from the centre of a cluster."""
        center = self.clusters().all_centers_[cluster]
        distances = ((self.session.points.rows(rows) - center) ** 2).sum(axis=1)
        return rows[np.argsort(distances, kind="stable")]
