"""What a run amounts to at one moment."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.audit import ALL_KNOWN
from samekind.algorithms.focused.constants import SHRINKAGE
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.snapshot import Prediction
from samekind.flow import FloatArray, IntArray

__all__ = ["make_prediction", "rectified_centers"]


def make_prediction(
    learner: Learner, policy: AnswerPolicy, *, rectify: bool
) -> tuple[FloatArray, Prediction]:
    """Return the centres of the clusters, and what is predicted of all rows, at no effect on the run."""
    points, state, audit = learner.points, learner.state, learner.audit
    trials, k = learner.recovery.trials, len(learner.state)
    predicted = learner.model.predictor.predict()
    counts, means, variances = predicted.regions
    errors = np.array(
        [
            trials.center_error(cluster, int(counts[cluster]), len(members))
            for cluster, members in enumerate(state.members)
        ]
    )
    centers = np.array(state.centers)
    centers[counts > 0] = means[counts > 0]
    rows = np.array(audit.rows, dtype=np.intp)
    of_audited = predicted.clusters_of(rows) if rows.size else rows
    if rows.size and rectify:
        audited = np.array(audit.clusters, dtype=np.intp)
        centers = rectified_centers(
            centers, counts, points.rows(rows), audited, of_audited, points.n
        )
    for cluster, members in enumerate(state.members):
        if not counts[cluster] and members:
            centers[cluster] = points.rows(np.array(members)).mean(axis=0)
    all_asked = state.n_labelled == points.n
    if all_asked:
        centers, errors = np.array(state.centers), np.zeros(k)
    unproven = learner.pairs.unproven()
    return centers, Prediction(
        labels=predicted.label_rows,
        standard_errors=np.where(
            np.isfinite(errors), np.sqrt(np.minimum(errors, 1e300) * variances), np.inf
        ),
        certificate=ALL_KNOWN
        if all_asked and not state.given_up
        else audit.certificate(of_audited, len(unproven)),
        unproven=unproven,
        confused=[(a, b) for a in range(k) for b in trials.confused_with(a)],
        notes=policy.notes(),
        error_rate=policy.error_rate(),
    )


def rectified_centers(
    means: FloatArray,
    counts: IntArray,
    X: FloatArray,
    clusters: IntArray,
    predicted: IntArray,
    n: int,
) -> FloatArray:
    """Correct the means of predicted clusters by audited rows X, of known and predicted clusters.

    Prediction-powered inference (Angelopoulos et al., Science 2023): each wrongly predicted row of the m
    audited ones stands for n/m rows that are in the wrong sum. A correction that is no longer than twice
    its own standard error is noise, so it is shrunken in the manner of James and Stein, by max(0, 1 -
    4·variance / length²).
    """
    m = len(X)
    wrong = np.flatnonzero(clusters != predicted)
    centers = means.copy()
    for cluster in np.unique(np.concatenate([clusters[wrong], predicted[wrong]])):
        if cluster < 0 or not counts[cluster]:
            continue
        sign = (clusters == cluster).astype(float) - (predicted == cluster)
        off = sign[:, None] * (X - means[cluster]) * (n / counts[cluster])
        correction = off.mean(axis=0)
        variance = off.var(axis=0, ddof=1).sum() / m if m > 1 else np.inf
        length = float((correction**2).sum())
        if length > 0:
            centers[cluster] += max(0.0, 1.0 - SHRINKAGE * variance / length) * correction
    return centers
