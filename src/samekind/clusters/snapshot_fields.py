"""What an algorithm knows at one moment, as fields of `Clusters`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from samekind.algorithms import Snapshot
from samekind.clusters.labels import NO_ROWS, Labels, label_map
from samekind.flow import FloatArray, IntArray
from samekind.points import Points

__all__ = ["means_by_label", "snapshot_fields"]


def snapshot_fields(snapshot: Snapshot, points: Points) -> dict[str, Any]:
    """Return fields by name, with the clusters numbered anew: the recovered ones first, in that order."""
    recovered = set(snapshot.recovered)
    rest = (k for k, rows in enumerate(snapshot.members) if rows and k not in recovered)
    order = [*snapshot.recovered, *rest]
    number_of = np.full(len(snapshot.members) + 1, -1, dtype=np.intp)  # last one: none
    number_of[order] = np.arange(len(order))
    members = [np.array(snapshot.members[old], dtype=np.intp) for old in order]
    given_up = np.array(snapshot.given_up, dtype=np.intp)
    centers = None if snapshot.centers is None else snapshot.centers[order]
    fields: dict[str, Any] = {
        "all_centers_": centers,
        "n_recovered_": len(snapshot.recovered),
        "members_": members,
        "given_up_": given_up,
        "n_samples_": snapshot.n_samples,
        "n_rounds_": snapshot.n_rounds,
        "sampling_time_": snapshot.sampling_seconds,
        "notes_": list(snapshot.notes),
        "n_rows_": points.n,
        "_points": points,
    }
    prediction = snapshot.prediction
    if prediction is None:
        return fields
    unproven = np.sort(number_of[np.array(prediction.unproven, dtype=np.intp).reshape(-1, 2)])
    known = label_map(number_of, members, given_up)
    clusters = np.repeat(np.arange(len(members)), [len(rows) for rows in members])
    labels = Labels(partial(prediction.labels, known))
    if centers is None:
        fields["all_centers_"] = lambda: means_by_label(points, labels, members)
    return fields | {
        "notes_": [*snapshot.notes, *prediction.notes],
        "certificate_": prediction.certificate,
        "error_rate_": prediction.error_rate,
        "unproven_": [(a, b) for a, b in unproven.tolist()],
        "prototypes_": (points.rows(np.concatenate([*members, NO_ROWS])), clusters),
        "_labels": labels,
    }


def means_by_label(points: Points, labels: Labels, members: list[IntArray]) -> FloatArray:
    """Return the mean of the rows with each label; of a cluster without any, of its known rows."""
    if not members:
        return np.empty((0, points.d))
    means, counts = points.means_by_label(labels.get(points), len(members))
    for cluster in np.flatnonzero(counts == 0).tolist():
        means[cluster] = points.rows(members[cluster]).mean(axis=0)
    return means
