"""The algorithms: what to ask, and what the answers mean. One idea a file."""

from __future__ import annotations

from typing import Any

from samekind._validation import check_choice
from samekind.algorithms.base import (
    Algorithm,
    Certificate,
    FlowAlgorithm,
    Params,
    Prediction,
    Snapshot,
    percent_at_most,
)
from samekind.algorithms.focused import Focused
from samekind.algorithms.folding import Answered, Folding
from samekind.algorithms.paper.classify import ORDERS, Classified, PaperParams, classify
from samekind.algorithms.paper.exact import BasicExact, ImprovedExact
from samekind.algorithms.paper.noisy_exact import NoisyExact
from samekind.algorithms.paper.practical import Basic, Batched, Uniform
from samekind.algorithms.records import (
    AtThreshold,
    FieldEvidence,
    PairCertificate,
    PairView,
    Records,
)
from samekind.algorithms.state import GIVEN_UP, UNKNOWN, ClusterState

__all__ = [
    "ALGORITHMS",
    "DEFAULT",
    "GIVEN_UP",
    "ORDERS",
    "UNKNOWN",
    "Algorithm",
    "Answered",
    "AnyAlgorithm",
    "AtThreshold",
    "Certificate",
    "Classified",
    "ClusterState",
    "FieldEvidence",
    "FlowAlgorithm",
    "Folding",
    "PairCertificate",
    "PairView",
    "PaperParams",
    "Params",
    "Prediction",
    "Snapshot",
    "classify",
    "find_algorithm",
    "percent_at_most",
]

AnyAlgorithm = type[Algorithm[Any]]

ALGORITHMS: dict[str, AnyAlgorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Uniform,
        Basic,
        Batched,
        BasicExact,
        ImprovedExact,
        NoisyExact,
        Focused,
        Records,
    )
}
DEFAULT = Focused.name


def find_algorithm(algorithm: str | AnyAlgorithm) -> AnyAlgorithm:
    """Return the algorithm of this name; a class of an algorithm is one already."""
    if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
        return algorithm
    return ALGORITHMS[check_choice("algorithm", algorithm, tuple(ALGORITHMS))]
