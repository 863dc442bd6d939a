"""What a run predicts at one moment, for whoever looks at it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.algorithms.base import Certificate, Prediction
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.audit import all_asked
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.lone_clusters import fold_predictions
from samekind.algorithms.focused.mergers import likely_mergers
from samekind.flow import FloatArray, IntArray

__all__ = ["predict_clusters"]

ClustersOf = Callable[[IntArray], IntArray]


def predict_clusters(
    learner: Learner,
    policy: AnswerPolicy,
    certificate: Callable[[ClustersOf, int], Certificate],
    lone: dict[int, int],
) -> tuple[FloatArray, Prediction]:
    """Return the centres of all clusters, and what is predicted; the run goes on as if unasked.

    What the certificate promises is of labels in which the `lone` clusters are folded into others.
    """
    points, state = learner.points, learner.state
    trials, k = learner.recovery.trials, len(state)
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
    for cluster, members in enumerate(state.members):
        if not counts[cluster] and members:
            centers[cluster] = points.rows(np.array(members)).mean(axis=0)
    no_row_left = state.n_labelled == points.n
    if no_row_left:
        centers, errors = np.array(state.centers), np.zeros(k)
    unproven = learner.pairs.unproven()
    prediction = Prediction(
        labels=predicted.label_rows,
        standard_errors=np.where(
            np.isfinite(errors), np.sqrt(np.minimum(errors, 1e300) * variances), np.inf
        ),
        certificate=all_asked(len(state.given_up))
        if no_row_left
        else certificate(fold_predictions(predicted.clusters_of, lone), len(unproven)),
        unproven=unproven,
        confused=[(a, b) for a in range(k) for b in trials.confused_with(a)],
        notes=policy.notes(),
        error_rate=policy.error_rate(),
        mergers=likely_mergers(learner.pairs, counts),
    )
    return centers, prediction
