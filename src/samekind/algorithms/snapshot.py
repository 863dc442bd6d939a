"""What an algorithm knows at one moment, and what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from samekind.flow import FloatArray
from samekind.points import LabelMap

__all__ = ["Certificate", "Prediction", "Snapshot"]


@dataclass(frozen=True)
class Certificate:
    """What a result promises, from an audit of rows drawn uniformly.

    Attributes
    ----------
    confidence : float
        The probability, over the draws of the audit, that both bounds hold.
    undiscovered : float
        At most this share of the rows is in clusters that were not found.
    wrong : float
        At most this share of ``labels_`` is wrong.
    n_audited, n_wrong : int
        Rows audited, and how many of them were predicted wrongly.
    n_unproven : int
        Pairs of clusters that nobody was asked about: the bounds hold if they are different indeed.
    """

    confidence: float
    undiscovered: float
    wrong: float
    n_audited: int
    n_wrong: int
    n_unproven: int

    def __str__(self) -> str:
        if self.confidence == 1.0:
            return "Every row was asked about: no cluster is missing, and no label is predicted."
        if not self.n_audited:
            return "No promise yet: no row was audited."
        text = (
            f"With {self.confidence:.0%} confidence, clusters not found hold at most "
            f"{_percent(self.undiscovered)} of the rows, and at most {_percent(self.wrong)} of the labels "
            f"are wrong ({self.n_wrong:,} of {self.n_audited:,} audited rows were)."
        )
        if self.n_unproven:
            text += (
                f" This takes for granted that the {self.n_unproven:,} pairs of clusters about which "
                "nobody was asked are different."
            )
        return text


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


@dataclass(frozen=True)
class Prediction:
    """What an algorithm predicts of all rows, and how far it can be trusted; clusters by their numbers."""

    labels: Callable[[LabelMap], object]
    """Return the label of every row, given the label of each cluster (of the last one also for -1: none)."""
    standard_errors: FloatArray
    """(clusters,) of each centre, as a distance."""
    certificate: Certificate
    unproven: list[tuple[int, int]]
    """Pairs of clusters about which nobody was asked, likeliest to be one first."""
    confused: list[tuple[int, int]]
    """A cluster, and one that many rows predicted to be in the first are in."""
    notes: list[str] = field(default_factory=list)
    error_rate: float | None = None
    """The share of answers that seem to be wrong, where they may be."""


@dataclass(frozen=True)
class Snapshot:
    """What an algorithm knows at one moment. Clusters have the numbers in which they were discovered."""

    members: list[list[int]]
    """The rows known to be in each cluster, its first one before the others; none if it was merged away."""
    recovered: list[int]
    """The clusters whose centres are final, in the order of recovery."""
    centers: FloatArray
    """(clusters, d)."""
    given_up: list[int]
    """Rows about which the oracle was too unsure."""
    n_samples: int
    n_rounds: int
    sampling_seconds: float
    notes: list[str]
    """What the user should know."""
    prediction: Prediction | None = None
    """None where rows are just in the cluster of the nearest centre."""
