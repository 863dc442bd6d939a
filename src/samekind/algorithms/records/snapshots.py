"""What `records` knows at one moment: all entities, and how far they can be trusted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Prediction, Snapshot
from samekind.algorithms.records.scores import chance_of
from samekind.algorithms.records.state import RecordState
from samekind.flow import FloatArray, IntArray
from samekind.points import LabelMap, RecordPoints

__all__ = ["entities_as_clusters", "row_confidence"]


def entities_as_clusters(
    state: RecordState, records: RecordPoints, error_rate: float | None
) -> Snapshot:
    """Return all entities as clusters.

    Known clusters keep their numbers; the others come after them, by their first records. The first record of
    an entity is a member of it by itself, others if answers say so.
    """
    entities = state.entities
    n_entities = int(entities.max(initial=-1)) + 1
    number = np.full(n_entities, -1)
    members: list[list[int]] = []
    for rows in state.clusters:
        entity = int(entities[rows[0]])
        if number[entity] < 0:
            number[entity] = len(members)
            members.append(list(rows))
        else:  # predicted to be one with a cluster before
            members[number[entity]] += rows
            members.append([])
    rest = np.flatnonzero(number < 0)
    number[rest] = len(members) + np.arange(rest.size)
    first = np.unique(entities, return_index=True)[1]
    members += [[row] for row in first[rest].tolist()]
    of_rows = number[entities]

    def labels(known: LabelMap) -> IntArray:
        return known.of_rows(of_rows)

    return Snapshot(
        members=members,
        recovered=state.recovered,
        centers=_means(records.X, of_rows, len(members)),
        given_up=[],
        n_samples=len(state.known),
        n_rounds=0,
        sampling_seconds=0.0,
        notes=[],
        prediction=Prediction(
            labels=labels,
            certificate=state.certificate(),
            error_rate=error_rate,
        ),
    )


def row_confidence(state: RecordState, rows: IntArray) -> FloatArray:
    """Return how certain the less certain is: that its likeliest match is one, or that no other is."""
    entities, pairs = state.entities, state.view.index.pairs
    chance = chance_of(state.view.odds_with(state.known))
    within = entities[pairs[:, 0]] == entities[pairs[:, 1]]
    joined, missed = np.zeros(len(entities)), np.zeros(len(entities))
    for column in pairs.T:
        np.maximum.at(joined, column[within], chance[within])
        np.maximum.at(missed, column[~within], chance[~within])
    joined[np.bincount(entities)[entities] == 1] = 1.0
    return np.minimum(joined, 1 - missed)[rows]


def _means(X: NDArray[np.floating], of_rows: IntArray, count: int) -> FloatArray:
    sizes = np.maximum(np.bincount(of_rows, minlength=count), 1)
    sums = [np.bincount(of_rows, weights=X[:, j], minlength=count) for j in range(X.shape[1])]
    return np.asarray(np.column_stack(sums) / sizes[:, None])
