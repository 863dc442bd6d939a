"""Centres of clusters, in the columns that were given."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.flow import FloatArray, IntArray
from samekind.points import Points, WorkingSpace

__all__ = ["lifted_centers", "means_by_label"]


def means_by_label(points: Points, members: list[IntArray], labels: Any) -> FloatArray:
    """Return the mean of the rows with each label; of a cluster without any, of its known rows."""
    if not members:
        return np.empty((0, points.d))
    means, counts = points.means_by_label(labels, len(members))
    for cluster in np.flatnonzero(counts == 0).tolist():
        means[cluster] = points.rows(members[cluster]).mean(axis=0)
    return means


def lifted_centers(
    points: Points,
    reduced: Points,
    space: WorkingSpace,
    members: list[IntArray],
    centers: FloatArray,
    labels: Any,
) -> FloatArray:
    """Return centres that were found in a space, given with coordinates there.

    A centre is the mean of the rows that are known or predicted to be in its cluster, and moved as the
    algorithm moved it from their mean in its own space.
    """
    given = means_by_label(points, members, labels)
    if not members:
        return given
    own, counts = reduced.means_by_label(labels, len(members))
    steps = space.lift(centers - own)
    if space.unit:  # there, rows have length 1
        along = space.lift(own) + (0.0 if space.origin is None else space.origin)
        lengths = np.linalg.norm(along, axis=1)
        steps *= (np.linalg.norm(given, axis=1) / np.where(lengths > 0, lengths, 1.0))[:, None]
    steps[counts == 0] = 0.0  # their centres are means of known rows
    found: FloatArray = given + steps
    return found
