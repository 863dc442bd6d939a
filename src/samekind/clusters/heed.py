"""What people said unasked counts for the rows that a run has not come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from samekind.clusters.result import Clusters
from samekind.flow import DIFFERENT, SAME, Answers, Pairs

__all__ = ["heed"]


def heed(
    clusters: Clusters, lookup: Callable[[Pairs], Answers], rows: NDArray[np.intp]
) -> Clusters:
    """Put some rows where people said they belong, and out of where they said they do not.

    Rows known to the run stay where it put them. One that is out of its predicted cluster goes to the
    nearest centre of those that nobody ruled out.
    """
    known = np.concatenate([*clusters.members_, clusters.given_up_, np.empty(0, dtype=np.intp)])
    rows = np.setdiff1d(rows, known)
    if not rows.size or not clusters.members_ or clusters._points is None:
        return clusters
    labels, found = clusters.labels_.copy(), clusters.labels_of(rows)
    first = np.array([members[0] for members in clusters.members_], dtype=np.intp)
    for place, row in enumerate(rows.tolist()):
        said = lookup(np.column_stack([np.full(first.size, row, dtype=np.intp), first]))
        if (said == SAME).any():
            found[place] = int((said == SAME).argmax())
        elif found[place] >= 0 and said[found[place]] == DIFFERENT:
            x = clusters._points.rows(np.array([row]))[0]
            distances = ((clusters.all_centers_ - x) ** 2).sum(axis=1)
            distances[said == DIFFERENT] = np.inf
            found[place] = int(distances.argmin()) if np.isfinite(distances).any() else -1
    labels[rows] = found
    return replace(clusters, _labels={"all": labels})
