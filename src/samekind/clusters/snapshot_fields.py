"""What an algorithm knows at one moment, as fields of `Clusters`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from samekind.algorithms import Snapshot
from samekind.clusters.labels import NO_ROWS, Labels, label_map
from samekind.clusters.suggestions import Hints, confusion_notes
from samekind.points import Points

__all__ = ["snapshot_fields"]


def snapshot_fields(snapshot: Snapshot, points: Points) -> dict[str, Any]:
    """Return fields by name, with the clusters numbered anew: the recovered ones first, in that order."""
    recovered = set(snapshot.recovered)
    rest = (k for k, rows in enumerate(snapshot.members) if rows and k not in recovered)
    order = [*snapshot.recovered, *rest]
    number_of = np.full(len(snapshot.centers) + 1, -1, dtype=np.intp)  # last one: none
    number_of[order] = np.arange(len(order))
    members = [np.array(snapshot.members[old], dtype=np.intp) for old in order]
    given_up = np.array(snapshot.given_up, dtype=np.intp)
    fields = {
        "all_centers_": snapshot.centers[order],
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

    def renumbered(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(int(number_of[a]), int(number_of[b])) for a, b in pairs]

    confused = sorted(renumbered(prediction.confused))
    called = [f"cluster {k}" for k in range(len(order))]
    known = label_map(number_of, members, given_up)
    clusters = np.repeat(np.arange(len(members)), [len(rows) for rows in members])
    return fields | {
        "notes_": [*snapshot.notes, *prediction.notes, *confusion_notes(confused, called)],
        "standard_errors_": prediction.standard_errors[order],
        "certificate_": prediction.certificate,
        "error_rate_": prediction.error_rate,
        "unproven_": [(min(pair), max(pair)) for pair in renumbered(prediction.unproven)],
        "prototypes_": (points.rows(np.concatenate([*members, NO_ROWS])), clusters),
        "_labels": Labels(partial(prediction.labels, known)),
        "hints_": Hints(
            [(*renumbered([(a, b)])[0], chance) for a, b, chance in prediction.mergers], confused
        ),
    }
