"""Ours, for duplicates: many small clusters of records, and what makes two records the same."""

from __future__ import annotations

from samekind.algorithms.records.certificate import PairCertificate
from samekind.algorithms.records.records import Records, check_records

__all__ = ["PairCertificate", "Records", "check_records"]
