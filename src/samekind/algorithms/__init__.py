"""The flows: algorithms that only ask. One idea a file."""

from __future__ import annotations

from typing import Any

from samekind._validation import check_choice
from samekind.algorithms.base import (
    Algorithm,
    Certificate,
    Params,
    Prediction,
    Snapshot,
    percent_at_most,
)
from samekind.algorithms.crowd import (
    CrowdGroups,
    CrowdNodes,
    CrowdNoisy,
    CrowdOnline,
    CrowdTransitive,
)
from samekind.algorithms.exchange import Amendment, ExtraQuestion, Known
from samekind.algorithms.focused import Focused
from samekind.algorithms.paper.basic import Basic
from samekind.algorithms.paper.basic_exact import BasicExact
from samekind.algorithms.paper.batched import Batched
from samekind.algorithms.paper.classify import ORDERS, Classified, PaperParams, classify
from samekind.algorithms.paper.improved_exact import ImprovedExact
from samekind.algorithms.paper.noisy_exact import NoisyExact
from samekind.algorithms.paper.uniform import Uniform
from samekind.algorithms.records import AtThreshold, PairCertificate, PairView, Records
from samekind.algorithms.state import GIVEN_UP, UNKNOWN, ClusterState

__all__ = [
    "ALGORITHMS",
    "DEFAULT",
    "GIVEN_UP",
    "ORDERS",
    "UNKNOWN",
    "Algorithm",
    "Amendment",
    "AnyAlgorithm",
    "AtThreshold",
    "Certificate",
    "Classified",
    "ClusterState",
    "ExtraQuestion",
    "Known",
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
        CrowdTransitive,
        CrowdNodes,
        CrowdOnline,
        CrowdNoisy,
        CrowdGroups,
    )
}
DEFAULT = Focused.name


def find_algorithm(algorithm: str | AnyAlgorithm) -> AnyAlgorithm:
    """Return the algorithm of this name; a class of an algorithm is one already."""
    if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
        return algorithm
    return ALGORITHMS[check_choice("algorithm", algorithm, tuple(ALGORITHMS))]
