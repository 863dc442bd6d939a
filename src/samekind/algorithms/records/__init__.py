"""Ours, for duplicates: many small clusters of records, and what makes two records the same."""

from __future__ import annotations

from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.clustering import entities_of
from samekind.algorithms.records.records import Records, check_records
from samekind.algorithms.records.regrouping import regroup, settle_entities
from samekind.algorithms.records.scores import prior_odds
from samekind.algorithms.records.snapshots import entities_as_clusters
from samekind.algorithms.records.thresholds import AtThreshold, PairView

__all__ = [
    "AtThreshold",
    "PairCertificate",
    "PairView",
    "Records",
    "check_records",
    "entities_as_clusters",
    "entities_of",
    "prior_odds",
    "regroup",
    "settle_entities",
]
