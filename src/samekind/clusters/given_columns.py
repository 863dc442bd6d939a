"""What was found in a working space, in the columns that were given."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.clusters.labels import NO_ROWS, Labels, label_map
from samekind.flow import FloatArray, IntArray
from samekind.points import Points, WorkingSpace

__all__ = ["in_given_columns"]


def in_given_columns(
    fields: dict[str, Any], points: Points, space: WorkingSpace, reduced: Points
) -> dict[str, Any]:
    """Return the fields of `Clusters` found in a space, given with coordinates there, in the
    columns of the rows.

    Centres are computed when they are first asked for, as they take a pass over all rows.
    """
    members, centers = fields["members_"], fields["all_centers_"]
    if callable(centers):  # means of the rows, which are the same in any columns
        return fields | {"space_": space}
    labels: Labels = fields.get("_labels") or Labels(
        lambda: _nearest(reduced, centers, members, fields["given_up_"])
    )

    def moved() -> FloatArray:
        return _moved(labels.get(points), points, reduced, space, members, centers)

    return fields | {"all_centers_": moved, "_labels": labels, "space_": space}


def _nearest(
    reduced: Points, centers: FloatArray, members: list[IntArray], given_up: IntArray
) -> Any:
    """Return the label of every row, where an algorithm predicts nothing but the nearest centre."""
    if not members:
        nowhere = np.zeros((1, reduced.d))
        return reduced.label_by_nearest(nowhere, label_map(np.array([-1]), [], NO_ROWS))
    return reduced.label_by_nearest(centers, label_map(np.arange(len(members)), members, given_up))


def _moved(
    labels: Any,
    points: Points,
    reduced: Points,
    space: WorkingSpace,
    members: list[IntArray],
    centers: FloatArray,
) -> FloatArray:
    """Return centres by the rows of each cluster.

    A centre is the mean of the rows that are known or predicted to be in its cluster, and moved as
    the algorithm moved it from their mean in its own space.
    """
    k = len(members)
    if not k:
        return np.empty((0, points.d))
    given, counts = points.means_by_label(labels, k)
    own, _ = reduced.means_by_label(labels, k)
    steps = space.lift(centers - own)
    if space.unit:  # there, rows have length 1
        along = space.lift(own) + (0.0 if space.origin is None else space.origin)
        lengths = np.linalg.norm(along, axis=1)
        steps *= (np.linalg.norm(given, axis=1) / np.where(lengths > 0, lengths, 1.0))[:, None]
    found: FloatArray = given + steps
    for cluster in np.flatnonzero(counts == 0):
        found[cluster] = points.rows(members[cluster]).mean(axis=0)
    return found
