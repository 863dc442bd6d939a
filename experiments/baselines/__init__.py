"""Published algorithms that ask same-cluster questions, to compare ours with.

Each module stands beside its paper, and says at its head what the algorithm needs and promises. Most are
functions that return a flow for `samekind.flow.drive`. They see all rows in memory, and know no budget and no
ledger. `crowd` has five orders in which a crowd is asked about pairs of records.
"""

from __future__ import annotations

from experiments.baselines.accurate_kmeans import accurate_kmeans
from experiments.baselines.crowd import CROWD_ORDERS, CrowdOrder
from experiments.baselines.ellipsoids import ellipsoids
from experiments.baselines.gamma_margin import gamma_margin
from experiments.baselines.kwikbucks import kwikbucks
from experiments.baselines.labeller import FoundClusters
from experiments.baselines.noisy_queries import noisy_queries
from experiments.baselines.overlapping import CountOracle, overlapping_clusters
from experiments.baselines.pivot_queries import pivot_queries
from experiments.baselines.query_kmeans import query_kmeans
from experiments.baselines.sampled_correlation import sampled_correlation
from experiments.baselines.side_information import side_information

__all__ = [
    "CROWD_ORDERS",
    "CountOracle",
    "CrowdOrder",
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
