"""What was found in a working space, in the columns that were given."""

from __future__ import annotations

from functools import cache
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

    Centres and standard errors are computed when they are first asked for, as they take a pass over all rows.
    """
    members, centers = fields["members_"], fields["all_centers_"]
    errors = fields.get("standard_errors_")
    labels: Labels = fields.get("_labels") or Labels(
        lambda: _nearest(reduced, centers, members, fields["given_up_"])
    )

    @cache
    def measured() -> tuple[FloatArray, FloatArray | None]:
        found = labels.get(points)
        return _measured(found, points, reduced, space, members, centers, errors)

    own = {"all_centers_": lambda: measured()[0], "_points": points, "_labels": labels}
    if errors is not None:
        own["standard_errors_"] = lambda: measured()[1]
    return fields | own | {"space_": space}


def _nearest(
    reduced: Points, centers: FloatArray, members: list[IntArray], given_up: IntArray
) -> Any:
    """Return the label of every row, where an algorithm predicts nothing but the nearest centre."""
    if not members:
        nowhere = np.zeros((1, reduced.d))
        return reduced.label_by_nearest(nowhere, label_map(np.array([-1]), [], NO_ROWS))
    return reduced.label_by_nearest(centers, label_map(np.arange(len(members)), members, given_up))


def _measured(
    labels: Any,
    points: Points,
    reduced: Points,
    space: WorkingSpace,
    members: list[IntArray],
    centers: FloatArray,
    errors: FloatArray | None,
) -> tuple[FloatArray, FloatArray | None]:
    """Return centres and standard errors by the rows of each cluster.

    A centre is the mean of the rows that are known or predicted to be in its cluster, and moved as
    the algorithm moved it from their mean in its own space. Standard errors are to the spread of
    the rows what they are there.
    """
    k = len(members)
    if not k:
        return np.empty((0, points.d)), errors
    given, own = points.moments_by_label(labels, k), reduced.moments_by_label(labels, k)
    steps = space.lift(centers - own.means)
    if space.unit:  # there, rows have length 1
        along = space.lift(own.means) + (0.0 if space.origin is None else space.origin)
        lengths = np.linalg.norm(along, axis=1)
        steps *= (np.linalg.norm(given.means, axis=1) / np.where(lengths > 0, lengths, 1.0))[
            :, None
        ]
    found = given.means + steps
    for cluster in np.flatnonzero(given.counts == 0):
        found[cluster] = points.rows(members[cluster]).mean(axis=0)
    if errors is not None:
        wider = np.divide(given.spreads, own.spreads, where=own.spreads > 0, out=np.ones(k))
        errors = errors * np.sqrt(wider)
    return found, errors
