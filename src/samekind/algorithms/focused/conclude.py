"""What a run amounts to at one moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.audit import CERTAIN, Audit
from samekind.algorithms.focused.centers import rectified
from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.focused.relations import Relations
from samekind.algorithms.focused.trials import Trials
from samekind.algorithms.snapshot import Prediction
from samekind.algorithms.state import ClusterState
from samekind.points import Points

__all__ = ["conclude"]


def conclude(
    points: Points,
    kinds: ClusterState,
    evidence: Evidence,
    trials: Trials,
    audit: Audit,
    relations: Relations,
    *,
    rectify: bool,
) -> tuple[NDArray[np.float64], Prediction]:
    """Say what is known now; whoever looks changes nothing."""
    k = len(kinds)
    call, of, (counts, means, spreads) = evidence.look()
    errors = np.array(
        [
            trials.error(kind, int(counts[kind]), len(members))
            for kind, members in enumerate(kinds.members)
        ]
    )
    centers = np.array(kinds.centers)
    held = counts > 0
    centers[held] = means[held]
    rows = np.array(audit.rows, dtype=np.intp)
    predicted = of(rows) if rows.size else rows
    if rows.size and rectify:
        audited = np.array(audit.kinds, dtype=np.intp)
        centers = rectified(centers, counts, points.rows(rows), audited, predicted, points.n)
    for kind, members in enumerate(kinds.members):
        if not counts[kind] and members:
            centers[kind] = points.rows(np.array(members)).mean(axis=0)
    if kinds.n_labelled == points.n:
        centers, errors = np.array(kinds.centers), np.zeros(k)
    all_known = kinds.n_labelled == points.n and not kinds.given_up
    unproven = relations.unproven()
    return centers, Prediction(
        labels=call,
        standard_errors=np.where(
            np.isfinite(errors), np.sqrt(np.minimum(errors, 1e300) * spreads), np.inf
        ),
        certificate=CERTAIN if all_known else audit.certificate(predicted, len(unproven)),
        unproven=unproven,
        confused=[(a, b) for a in range(k) for b in trials.muddled(a)],
    )
