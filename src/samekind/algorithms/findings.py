"""What a flow can say beyond the kinds and their members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.points import LabelMap

__all__ = ["Certificate", "Findings"]


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
class Findings:
    """What a flow says about its kinds at one moment; kinds by their numbers in `Kinds`."""

    call: Callable[
        [LabelMap], Any
    ]  # says what every row is called, by its predicted kind, -1: by none
    centers: NDArray[np.float64]  # (kinds, d)
    standard_errors: NDArray[np.float64]  # (kinds,) of each centre, as a distance
    certificate: Certificate
    unproven: list[tuple[int, int]]
    muddled: list[tuple[int, int]]  # a kind, and one that many rows predicted to be of it are of
    error_rate: float | None = None  # of the answers, where they may be wrong
    notes: list[str] = field(default_factory=list)  # what else the user should know
