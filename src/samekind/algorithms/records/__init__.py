"""Ours, for duplicates: many small clusters of records, and what makes two records the same."""

from __future__ import annotations

from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.clustering import entities_of
from samekind.algorithms.records.explaining import FieldEvidence
from samekind.algorithms.records.records import Records
from samekind.algorithms.records.thresholds import AtThreshold, PairView

__all__ = ["AtThreshold", "FieldEvidence", "PairCertificate", "PairView", "Records", "entities_of"]
