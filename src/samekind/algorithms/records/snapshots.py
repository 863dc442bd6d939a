"""What `records` knows at one moment: all entities, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Algorithm, Certificate, Prediction, Snapshot
from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.scores import chance_of
from samekind.flow import FloatArray, IntArray
from samekind.points import LabelMap, RecordPoints

if TYPE_CHECKING:
    from samekind.algorithms.records.records import Records

__all__ = ["entities_as_clusters", "likely_mergers", "row_confidence"]

NO_PROMISE = PairCertificate(0.95, 1.0, 1.0, 0, 0, 0)

MOST_MERGERS = 50  # pairs of entities that may be one
WORTH_A_LOOK = 0.2  # probability


def entities_as_clusters(
    run: Algorithm[Any],
    records: RecordPoints,
    entities: IntArray,
    certificate: Certificate = NO_PROMISE,
    mergers: Callable[[IntArray], list[tuple[int, int, float]]] = lambda of_rows: [],
    error_rate: float | None = None,
) -> Snapshot:
    """Return all entities as clusters.

    Those that answers speak of keep their numbers; the others come after them, by their first records. The
    first record of an entity is a member of it by itself, others if answers say so.
    """
    state = run.state
    n_entities = int(entities.max(initial=-1)) + 1
    number = np.full(n_entities, -1, dtype=np.intp)
    members: list[list[int]] = []
    for rows in state.members:
        place = int(entities[rows[0]]) if rows else -1
        if rows and number[place] < 0:
            number[place] = len(members)
            members.append(list(rows))
        else:  # merged away, or predicted to be one with a cluster before
            if rows:
                members[number[place]] += rows
            members.append([])
    rest = np.flatnonzero(number < 0)
    number[rest] = len(members) + np.arange(rest.size)
    first = np.full(n_entities, len(entities), dtype=np.intp)
    np.minimum.at(first, entities, np.arange(len(entities)))
    members += [[row] for row in first[rest].tolist()]
    of_rows = number[entities]

    def labels(known: LabelMap) -> IntArray:
        return known.of_rows(of_rows)

    return Snapshot(
        members=members,
        recovered=[k for k in state.recovered if members[k]],
        centers=_means(records.X, of_rows, len(members)),
        given_up=list(state.given_up),
        n_samples=state.n_samples,
        n_rounds=state.n_rounds,
        sampling_seconds=run.sampler.seconds,
        notes=list(state.notes),
        prediction=Prediction(
            labels=labels,
            standard_errors=np.zeros(len(members)),
            certificate=certificate,
            unproven=[],
            confused=[],
            error_rate=error_rate,
            mergers=mergers(of_rows),
        ),
    )


def row_confidence(run: Records, rows: IntArray) -> FloatArray:
    """Return how certain the less certain is: that its likeliest match is one, or that no other is."""
    entities, odds = run.scores.entities, run.scores.odds
    found = np.ones(rows.size)
    for place, row in enumerate(rows.tolist()):
        numbers, others = run.answers.incidence.others(row)
        open_pairs = ~run.answers.decided[numbers]
        within = entities[others] == entities[row]
        chance = chance_of(odds[numbers])
        if within.any() and (open_pairs | ~within).all():
            found[place] = chance[within].max()
        out = open_pairs & ~within
        if out.any():
            found[place] = min(found[place], 1 - chance[out].max())
    return found


def _means(X: NDArray[Any], of_rows: IntArray, count: int) -> FloatArray:
    sizes = np.maximum(np.bincount(of_rows, minlength=count), 1)
    sums = [np.bincount(of_rows, weights=X[:, j], minlength=count) for j in range(X.shape[1])]
    return np.asarray(np.column_stack(sums) / sizes[:, None])


def likely_mergers(run: Records, of_rows: IntArray) -> list[tuple[int, int, float]]:
    """Return entities that may be one, those first that are likeliest."""
    scores = run.scores
    might = np.flatnonzero(
        (scores.odds > np.log(WORTH_A_LOOK / (1 - WORTH_A_LOOK))) & ~run.answers.decided
    )
    one, other = of_rows[scores.pairs[might]].T
    might = might[one != other]
    order = might[np.argsort(-scores.odds[might], kind="stable")]
    found: dict[tuple[int, int], float] = {}
    for i in order[: 4 * MOST_MERGERS].tolist():
        a, b = sorted(of_rows[scores.pairs[i]].tolist())
        found.setdefault((a, b), float(chance_of(scores.odds[[i]])[0]))
    return [(a, b, chance) for (a, b), chance in found.items()][:MOST_MERGERS]
