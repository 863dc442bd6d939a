"""Relatives of the paper's algorithms: other ways to cluster by same-cluster questions, each a flow
beside its paper.

They are functions that return a flow, to be driven by `samekind.flow.drive` with an oracle: they see all
rows in memory and know no budget, no ledger and no person. docs/algorithms.md has what each needs and
promises.
"""

from __future__ import annotations

from samekind.algorithms.relatives.accurate_kmeans import accurate_kmeans
from samekind.algorithms.relatives.ellipsoids import ellipsoids
from samekind.algorithms.relatives.gamma_margin import gamma_margin
from samekind.algorithms.relatives.kwikbucks import kwikbucks
from samekind.algorithms.relatives.labeller import FoundClusters
from samekind.algorithms.relatives.noisy_queries import noisy_queries
from samekind.algorithms.relatives.overlapping import CountOracle, overlapping_clusters
from samekind.algorithms.relatives.pivot_queries import pivot_queries
from samekind.algorithms.relatives.query_kmeans import query_kmeans
from samekind.algorithms.relatives.sampled_correlation import sampled_correlation
from samekind.algorithms.relatives.side_information import side_information

__all__ = [
    "CountOracle",
    "FoundClusters",
    "accurate_kmeans",
    "ellipsoids",
    "gamma_margin",
    "kwikbucks",
    "noisy_queries",
    "overlapping_clusters",
    "pivot_queries",
    "query_kmeans",
    "sampled_correlation",
    "side_information",
]
