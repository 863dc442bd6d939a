"""What the entities would be if a match had to be likelier, or less likely, than even."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.scores import chance_of
from samekind.algorithms.records.state import RecordState
from samekind.flow import FloatArray, IntArray, Pairs

__all__ = ["AtThreshold", "PairView", "at_threshold"]


class AtThreshold(NamedTuple):
    """The entities at one threshold, and how good they are."""

    threshold: float
    labels: IntArray
    """(n,) the entity of each record."""
    precision: float
    """The share of the pairs in one entity that belong together, as the model and the answers expect."""
    recall: float
    """The share of the candidate pairs that belong together and are in one entity, likewise."""
    certificate: PairCertificate
    """Bounds on both, from the audited pairs."""


@runtime_checkable
class PairView(Protocol):
    """What an algorithm for records says of pairs, at any moment and without any effect on the run."""

    def match_probabilities(self, pairs: Pairs) -> FloatArray:
        """Return how likely each pair of rows is one entity."""
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
    chances = chance_of(view.odds_with(known))
    one, other = labels[view.index.pairs].T
    together = one == other
    expected = float(chances[together].sum())
    every = float(chances.sum())
    return AtThreshold(
        threshold,
        labels,
        expected / together.sum() if together.any() else 1.0,
        expected / every if every > 0 else 1.0,
        state.certificate(labels if learnt is known else view.entities_with(learnt, shift)),
    )
