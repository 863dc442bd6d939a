"""What was found, to look at: kinds with their members, a map, and how it came about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.desk.shapes import Kind, KindPage, Outline, Promise
from samekind.points import Points
from samekind.report import choose_rows, project

__all__ = ["draw_map", "history", "outline", "page_of"]

NameOf = Callable[[list[int]], str | None]
Confidence = Callable[[NDArray[np.intp]], NDArray[np.float64]]

MOST_POINTS = 2000  # on the map
MOST_STEPS = 500  # of the history
WEIGHED = 200  # predicted rows of a kind among which the doubtful ones are sought
SEED = 0  # of the map, which stays the same as the run goes on


def outline(
    clusters: Clusters,
    points: Points,
    name_of: NameOf,
    confidence: Confidence,
    most: int,
    revision: int,
) -> Outline:
    """Return all kinds, the largest first, each with some members."""
    labels = clusters.labels_
    estimated = np.bincount(labels[labels >= 0], minlength=clusters.n_discovered_)
    kinds = []
    for cluster in np.argsort(-estimated, kind="stable").tolist():
        members = clusters.members_[cluster]
        predicted = np.setdiff1d(np.flatnonzero(labels == cluster), members)
        some = predicted[:: max(1, predicted.size // WEIGHED)]
        doubtful = some[np.argsort(confidence(some), kind="stable")][: max(1, most // 2)]
        kinds.append(
            Kind(
                kind=int(members[0]),
                name=name_of(members.tolist()),
                known=len(members),
                estimated=int(estimated[cluster]),
                recovered=cluster < clusters.n_recovered_,
                members=_typical(clusters, points, cluster, members)[:most].tolist(),
                doubtful=doubtful.tolist(),
            )
        )
    found = clusters.certificate_
    return Outline(
        kinds=kinds,
        unplaced=int((labels < 0).sum()),
        promise=None if found is None else Promise(str(found), found.undiscovered, found.wrong),
        notes=list(clusters.notes_),
        revision=revision,
    )


def page_of(
    clusters: Clusters, points: Points, name_of: NameOf, cluster: int, offset: int, limit: int
) -> KindPage:
    """Return some rows of a kind: the known ones first, the most typical of each first."""
    members = clusters.members_[cluster]
    predicted = np.setdiff1d(np.flatnonzero(clusters.labels_ == cluster), members)
    rows = np.concatenate(
        [_typical(clusters, points, cluster, some) for some in (members, predicted)]
    )
    chosen = slice(offset, offset + limit)
    return KindPage(
        kind=int(members[0]),
        name=name_of(members.tolist()),
        total=rows.size,
        rows=rows[chosen].tolist(),
        known=(np.arange(rows.size) < members.size)[chosen].tolist(),
    )


def draw_map(
    clusters: Clusters, points: Points
) -> tuple[list[tuple[float, float, int, int, int]], list[int]]:
    """Place rows on a map: (x, y, place of the kind or -1, known, row); x and y are in [0, 1]."""
    rows = choose_rows(clusters, SEED, MOST_POINTS)
    names = [f"x{column}" for column in range(points.d)]
    _, places = project(points, rows, names, SEED)
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - low) / np.where(high > low, high - low, 1.0)
    labels = clusters.labels_[rows]
    known = np.isin(rows, np.concatenate([*clusters.members_, np.empty(0, dtype=np.intp)]))
    columns = (*places.round(4).T.tolist(), labels.tolist(), known.astype(int).tolist())
    drawn = [
        (x, y, k, sure, row) for x, y, k, sure, row in zip(*columns, rows.tolist(), strict=True)
    ]
    return drawn, [int(members[0]) for members in clusters.members_]


def history(clusters: Clusters) -> tuple[list[int], list[int]]:
    """Return the kinds found over the questions."""
    questions, kinds = clusters.history_["questions"], clusters.history_["discovered"]
    steps = np.unique(np.linspace(0, len(questions) - 1, MOST_STEPS).astype(int))
    return questions[steps].tolist(), kinds[steps].tolist()


def _typical(
    clusters: Clusters, points: Points, cluster: int, rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return rows in the order of their distance from a centre."""
    distances = ((points.rows(rows) - clusters.all_centers_[cluster]) ** 2).sum(axis=1)
    return rows[np.argsort(distances, kind="stable")]
