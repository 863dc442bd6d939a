"""What an algorithm knows, with its clusters in the order of the result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from samekind.algorithms import Certificate, Prediction, Snapshot
from samekind.clusters.labels import label_map
from samekind.flow import FloatArray, IntArray
from samekind.points import Points

__all__ = ["RenumberedSnapshot"]

NO_ROWS = np.empty(0, dtype=np.intp)


class RenumberedSnapshot:
    """A snapshot whose clusters are numbered anew: the recovered ones first, in that order."""

    def __init__(self, snapshot: Snapshot) -> None:
        recovered = set(snapshot.recovered)
        rest = (k for k, rows in enumerate(snapshot.members) if rows and k not in recovered)
        order = [*snapshot.recovered, *rest]
        self._snapshot = snapshot
        self._number_of = np.full(len(snapshot.centers) + 1, -1, dtype=np.intp)  # last one: none
        self._number_of[order] = np.arange(len(order))
        self.members = [np.array(snapshot.members[old], dtype=np.intp) for old in order]
        self.given_up = np.array(snapshot.given_up, dtype=np.intp)
        self.centers: FloatArray = snapshot.centers[order]
        self.standard_errors: FloatArray | None = None
        self.certificate: Certificate | None = None
        self.unproven: list[tuple[int, int]] = []
        self.error_rate: float | None = None
        self.labels: Callable[[], Any] | None = None
        self.notes = list(snapshot.notes)
        if snapshot.prediction is not None:
            self._add(snapshot.prediction, order)

    def _add(self, prediction: Prediction, order: list[int]) -> None:
        self.standard_errors = prediction.standard_errors[order]
        self.certificate = prediction.certificate
        self.error_rate = prediction.error_rate
        self.unproven = [self._sorted(a, b) for a, b in prediction.unproven]
        known = label_map(self._number_of, self.members, self.given_up)
        self.labels = partial(prediction.labels, known)
        confused = sorted(
            (int(self._number_of[a]), int(self._number_of[b])) for a, b in prediction.confused
        )
        self.notes += prediction.notes
        self.notes += [
            f"Cluster {a} could not be told apart from cluster {b}: "
            f"many rows predicted to be in {a} are in {b}."
            for a, b in confused
        ]

    def prototypes(self, points: Points) -> tuple[FloatArray, IntArray] | None:
        """Return the labelled rows and their clusters, where a new row is in the nearest one's."""
        if self._snapshot.prediction is None:
            return None
        clusters = np.repeat(np.arange(len(self.members)), [len(rows) for rows in self.members])
        return points.rows(np.concatenate([*self.members, NO_ROWS])), clusters

    def _sorted(self, a: int, b: int) -> tuple[int, int]:
        first, second = sorted((int(self._number_of[a]), int(self._number_of[b])))
        return first, second
