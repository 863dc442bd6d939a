"""What the entities would be if a match had to be likelier, or less likely, than even."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.explaining import FieldEvidence
from samekind.algorithms.records.state import RecordState
from samekind.flow import FloatArray, IntArray, Pairs

__all__ = ["AtThreshold", "PairView", "at_threshold"]


class AtThreshold(NamedTuple):
    """The entities at one threshold, and how good they are."""

    threshold: float
    labels: IntArray
    """(n,) the entity of each record."""
    certificate: PairCertificate
    """Bounds on precision and recall, from the audited pairs."""


@runtime_checkable
class PairView(Protocol):
    """What an algorithm for records says of pairs, at any moment and without any effect on the run."""

    def match_probabilities(self, pairs: Pairs) -> FloatArray:
        """Return how likely each pair of rows is one entity."""
        ...

    def explain(self, a: int, b: int) -> list[FieldEvidence]:
        """Return what each field says of two rows."""
        ...

    def at_threshold(self, threshold: float) -> AtThreshold:
        """Return the entities if records are put together from this probability on; 0.5 is the default."""
        ...


def at_threshold(state: RecordState, threshold: float) -> AtThreshold:
    """Return the entities at a threshold. What was answered decides at any."""
    if not 0 < threshold < 1:
        raise ValueError(f"threshold must be a probability between 0 and 1, got {threshold!r}.")
    view, known, learnt = state.view, state.known, state.learnt
    shift = float(np.log(threshold / (1 - threshold)))
    labels = view.entities_with(known, shift)
    audited = labels if learnt is known else view.entities_with(learnt, shift)
    return AtThreshold(threshold, labels, state.certificate(audited))
