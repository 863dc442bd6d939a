"""What was found, to look at: clusters with their members, and a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.project.map import MapMaker
from samekind.project.records import (
    CertificateRecord,
    ClusterMember,
    ClusterPage,
    ClusterRef,
    ClusterSummary,
    Overview,
    RowMap,
)

if TYPE_CHECKING:
    from samekind.clusters import Clusters
    from samekind.project.project import Project

__all__ = ["Overviews"]

MOST_ENTITIES = 100  # of records, that are shown
WEIGHED = 200  # predicted rows of a cluster among which the doubtful ones are sought

Rows = NDArray[np.intp]


class Overviews:
    """All clusters, one of them, and a map.

    Attributes
    ----------
    maps : MapMaker
        What lays rows out in the plane.
    """

    def __init__(self, project: Project, maps: MapMaker | None = None) -> None:
        self._project = project
        self.maps = maps or MapMaker(project.session.points)

    def all(self, members: int = 8) -> Overview:
        """Return all clusters found so far, the largest first, each with some members."""
        project, advice = self._project.moment(), self._project.standing.advice()
        with project.state():
            found = project.kinds.clusters()
            labels, certificate = found.labels_, found.certificate_
            sizes = np.bincount(labels[labels >= 0], minlength=found.n_discovered_)
            copies = project.kinds.copies()
            order = [] if project.is_blank else np.argsort(-sizes, kind="stable").tolist()
            if project.is_records:  # most are of one record, and nothing to look at
                order = [k for k in order[: 10 * MOST_ENTITIES] if sizes[k] > 1][:MOST_ENTITIES]
            refs = project.kinds.refs()
            return Overview(
                clusters=[
                    _summary(project, found, k, refs[k], int(sizes[k]), int(copies[k]), members)
                    for k in order
                ],
                unplaced=labels.size if project.is_blank else int((labels < 0).sum()),
                certificate=None
                if certificate is None
                else CertificateRecord(
                    certificate.in_words("kind"),
                    certificate.undiscovered,
                    certificate.wrong,
                    certificate.wrong_at_any_time,
                    certificate.n_undecided,
                ),
                notes=[*project.notices, *found.notes_],
                stopping=advice,
                revision=project.revision,
            )

    def one(self, cluster: int, *, offset: int = 0, limit: int = 24) -> ClusterPage:
        """Return some items of a cluster: the known ones first, the most typical of each first."""
        project = self._project.moment()
        with project.state():
            found, label = project.kinds.clusters(), project.kinds.label_of(cluster)
            members, predicted = _rows(found, label)
            rows = np.concatenate(
                [_typical(project, found, label, some) for some in (members, predicted)]
            )
            return ClusterPage(
                **vars(project.kinds.refs()[label]),
                total=rows.size,
                members=[
                    ClusterMember(**vars(project.item(row)), known=place < members.size)
                    for place, row in enumerate(
                        rows[offset : offset + limit].tolist(), start=offset
                    )
                ],
            )

    def map(self) -> RowMap:
        """Place rows in the plane; x and y are in [0, 1].

        At first by principal components; a map made for looking comes in the background, and is `pending`.
        """
        project = self._project.moment()
        if project.is_records and project.session.points.d == 1:  # they have no places
            return RowMap([], [], [], [], [], [], [], "none", False)
        with project.state():
            found = project.kinds.clusters()
            refs = [] if project.is_blank else project.kinds.refs()
        known = np.concatenate([*found.members_, np.empty(0, dtype=np.intp)])
        placed = self.maps.placed(known)
        x, y = placed.places.round(4).T.tolist()
        labels = found.labels_of(placed.rows) if refs else np.full(len(placed.rows), -1)
        return RowMap(
            rows=placed.rows.tolist(),
            x=x,
            y=y,
            place=labels.tolist(),
            known=np.isin(placed.rows, known).tolist(),
            clusters=[ref.cluster for ref in refs],
            numbers=[ref.number for ref in refs],
            method=placed.method,
            pending=placed.pending,
        )


def _summary(
    project: Project,
    found: Clusters,
    label: int,
    ref: ClusterRef,
    size: int,
    copies: int,
    most: int,
) -> ClusterSummary:
    members, predicted = _rows(found, label)
    some = predicted[:: max(1, predicted.size // WEIGHED)]
    doubtful = some[np.argsort(project.session.confidence(some), kind="stable")]
    typical = _typical(project, found, label, members)[:most]
    return ClusterSummary(
        **vars(ref),
        known=len(members),
        estimated=size,
        copies=copies,
        is_split=ref.number in project.parts.numbers,
        recovered=label < found.n_recovered_,
        members=list(map(project.item, typical.tolist())),
        doubtful=list(map(project.item, doubtful[: max(1, most // 2)].tolist())),
    )


def _typical(project: Project, found: Clusters, label: int, rows: Rows) -> Rows:
    """Return rows in the order of their distance from the centre of a cluster."""
    center = found.all_centers_[label]
    distances = ((project.session.points.rows(rows) - center) ** 2).sum(axis=1)
    return rows[np.argsort(distances, kind="stable")]


def _rows(found: Clusters, label: int) -> tuple[Rows, Rows]:
    """Return the known rows of a cluster, and the predicted ones."""
    members = found.members_[label]
    return members, np.setdiff1d(np.flatnonzero(found.labels_ == label), members)
